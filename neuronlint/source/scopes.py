"""What a name is bound to, and where: Python's scopes, read off a walked tree."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, NamedTuple

from neuronlint.source.tree import DEFINITIONS, Function

if TYPE_CHECKING:
    from neuronlint.source.tree import SourceTree

_EXPRESSIONS = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


class Binding(NamedTuple):
    """One way a name gets a value.

    `how` is assign, augment, for, with, parameter, import, function, class or except. `value` is the expression
    behind it (the iterated one for a loop), `path` the positions to take out of it when it is unpacked, `name` the
    dotted name of an import.
    """

    how: str
    site: ast.AST
    value: ast.expr | None = None
    path: tuple[int, ...] = ()
    name: str = ""


class Scope:
    """The names that a module, function, class, lambda or comprehension binds."""

    __slots__ = ("names", "node", "parent")

    def __init__(self, node: ast.AST, parent: Scope | None) -> None:
        self.node = node
        self.parent = parent
        self.names: dict[str, list[Binding]] = {}


class Scopes:
    """The scopes of a file, and the attributes that methods set on `self`."""

    __slots__ = ("_methods", "_scopes", "_tree", "attributes", "functions")

    def __init__(self, tree: SourceTree) -> None:
        self._tree = tree
        self._scopes: dict[ast.AST, Scope] = {tree.module: Scope(tree.module, None)}
        self._methods: dict[tuple[ast.ClassDef | None, str], Function] | None = None
        self.attributes: dict[ast.ClassDef, dict[str, list[Binding]]] = {}
        """For each class, what `self.name = …` and its own body bind."""
        self.functions: dict[str, list[ast.FunctionDef | ast.AsyncFunctionDef]] = {}
        """Every function of the file by its plain name."""
        self._bind_all()

    @property
    def module(self) -> Scope:
        return self._scopes[self._tree.module]

    def of(self, node: ast.AST) -> Scope:
        """The scope that a node's names are looked up in."""
        child = node
        while not isinstance(child, ast.stmt):
            up = self._tree.parent(child)
            if up is None:
                return self.module
            if isinstance(up, DEFINITIONS):
                if isinstance(child, ast.arguments) and isinstance(node, ast.arg):
                    return self._scope(up)
            elif isinstance(up, _EXPRESSIONS) and not isinstance(child, ast.arguments):
                return self._scope(up)
            child = up
        return self._scope(self._tree.definition(child) or self._tree.module)

    def _scope(self, node: ast.AST) -> Scope:
        found = self._scopes.get(node)
        if found is None:
            found = self._scopes[node] = Scope(node, self.of(node))
        return found

    def lookup(self, name: str, node: ast.AST) -> tuple[Scope | None, list[Binding]]:
        """The scope that binds a name as seen from a node, and its bindings there."""
        start = scope = self.of(node)
        while True:
            if scope is start or not isinstance(scope.node, ast.ClassDef):
                found = scope.names.get(name)
                if found:
                    return scope, found
            if scope.parent is None:
                return None, []
            scope = scope.parent

    def method(self, owner: ast.ClassDef | None, name: str) -> Function | None:
        """The first function of that name whose innermost class is this one."""
        if self._methods is None:
            self._methods = {}
            for functions in self.functions.values():
                for function in functions:
                    self._methods.setdefault((self._tree.class_of(function), function.name), function)
        return self._methods.get((owner, name))

    def _bind_all(self) -> None:
        tree = self._tree
        for definition in tree.functions:
            self._bind(definition, definition.name, Binding("function", definition))
            self.functions.setdefault(definition.name, []).append(definition)
            self._parameters(definition.args, self._scope(definition))
        for function in tree.of(ast.Lambda):
            self._parameters(function.args, self._scope(function))
        for owner in tree.of(ast.ClassDef):
            self._bind(owner, owner.name, Binding("class", owner))
        self._bind_imports()
        self._bind_assignments()
        self._bind_blocks()

    def _bind_assignments(self) -> None:
        tree = self._tree
        for assign in tree.of(ast.Assign):
            for target in assign.targets:
                self._target(target, assign, Binding("assign", assign, assign.value))
        for note in tree.of(ast.AnnAssign):
            self._target(note.target, note, Binding("assign", note, note.value))
        for plus in tree.of(ast.AugAssign):
            self._target(plus.target, plus, Binding("augment", plus, plus.value))
        for walrus in tree.of(ast.NamedExpr):
            self._target(walrus.target, walrus, Binding("assign", walrus, walrus.value))

    def _bind_blocks(self) -> None:
        tree = self._tree
        for loop in tree.for_loops:
            self._target(loop.target, loop, Binding("for", loop, loop.iter))
        for part in tree.of(ast.comprehension):
            owner = self._scope(tree.parent(part) or tree.module)
            self._target(part.target, part, Binding("for", part, part.iter), owner)
        for item in tree.of(ast.withitem):
            if item.optional_vars is not None:
                self._target(item.optional_vars, item, Binding("with", item, item.context_expr))
        for handler in tree.of(ast.ExceptHandler):
            if handler.name:
                self._bind(handler, handler.name, Binding("except", handler))

    def _bind_imports(self) -> None:
        for plain in self._tree.of(ast.Import):
            for alias in plain.names:
                name = alias.asname or alias.name.split(".")[0]
                self._bind(plain, name, Binding("import", plain, name=alias.name if alias.asname else name))
        for source in self._tree.of(ast.ImportFrom):
            module = "." * source.level + (source.module or "")
            for alias in source.names:
                dotted = f"{module}{'' if module.endswith('.') else '.'}{alias.name}"
                self._bind(source, alias.asname or alias.name, Binding("import", source, name=dotted))

    def _parameters(self, args: ast.arguments, scope: Scope) -> None:
        every = [*args.posonlyargs, *args.args, *args.kwonlyargs, *filter(None, (args.vararg, args.kwarg))]
        for arg in every:
            scope.names.setdefault(arg.arg, []).append(Binding("parameter", arg))

    def _target(self, target: ast.expr, site: ast.AST, binding: Binding, scope: Scope | None = None) -> None:
        if isinstance(target, ast.Name):
            self._bind(site, target.id, binding, scope)
        elif isinstance(target, (ast.Tuple, ast.List)):
            for number, item in enumerate(target.elts):
                self._target(item, site, binding._replace(path=(*binding.path, number)), scope)
        elif isinstance(target, ast.Starred):
            self._target(target.value, site, binding._replace(value=None), scope)
        elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
            owner = self._tree.class_of(site)
            if owner is not None:
                self.attributes.setdefault(owner, {}).setdefault(target.attr, []).append(binding)

    def _bind(self, site: ast.AST, name: str, binding: Binding, scope: Scope | None = None) -> None:
        scope = scope or self.of(site)
        scope.names.setdefault(name, []).append(binding)
        if isinstance(scope.node, ast.ClassDef):
            self.attributes.setdefault(scope.node, {}).setdefault(name, []).append(binding)
