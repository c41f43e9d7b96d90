"""Process groups on a backend that needs CUDA or the other stack, and tests that know no other."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard, xla_guard
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import FUNCTIONS, defaulted, dotted
from neuronlint.stack import Stack

_BACKEND = re.compile(r"backend$", re.I)
_CHIP = {"native": "neuron", "xla": "xla"}
_CHOICES = (ast.IfExp, ast.BoolOp, ast.NamedExpr)


class ProcessGroupBackend(SourceRule):
    """One finding where the name of the backend stands, whatever way it takes to the group."""

    code = "NRN710"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        chip = _CHIP[stack.frontend]
        seen = set[ast.AST]()
        for node in file.tree.of(ast.Constant):
            if not isinstance(node.value, str) or not 2 < len(node.value) < 40:
                continue
            backends = set(re.split(r"[,:]", node.value))
            if "nccl" in backends:
                place, confidence = _place(file, node)
            elif backends & {"xla", "neuron"} - {chip}:
                place, confidence = _top(file, node), Confidence.HIGH
                place = place if _is_given_to_maker(file, place) and xla_guard(file, place) is None else None
            else:
                continue
            if place is not None and place not in seen and not _knows(file, place, chip):
                seen.add(place)
                yield self._told(file, place, stack, confidence)
        yield from self._tests(file, stack)

    def _told(self, file: SourceFile, place: ast.AST, stack: Stack, confidence: Confidence) -> Finding:
        text = file.tree.brief(place, 45)
        if isinstance(place, ast.Compare):
            stops = _stops(file, place)
            texts = table("distributed")["groups"]
            return self.at(
                file,
                place,
                stack,
                severity=Severity.ERROR if stops else Severity.WARNING,
                confidence=Confidence.MEDIUM,
                then=texts["stopped"] if stops else texts["compared"],
                text=text,
            )
        foreign = None if "nccl" in text else table("distributed")["groups"]["foreign"]
        finding = self.at(file, place, stack, confidence=confidence, head=False, then=foreign, text=text)
        return self.switched_off(file, place, finding) if device_guard(file, place) is not None else finding

    def _tests(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """`assert dist.is_nccl_available()`: as a choice between backends it is told at the names."""
        for call in file.names.calls(*words("distributed", "groups", "tests")):
            if _stops(file, call):
                then = table("distributed")["groups"]["stopped"]
                yield self.at(file, call, stack, then=then, text=file.tree.brief(call, 45))


def _top(file: SourceFile, node: ast.AST) -> ast.AST:
    """The whole choice that a literal is an arm of, the literal itself where it is none."""
    child, parent = node, file.tree.parent(node)
    while parent is not None and (_is_arm(child, parent) or _is_default(child, parent)):
        child, parent = parent, file.tree.parent(parent)
    return child


def _is_arm(child: ast.AST, parent: ast.AST) -> bool:
    return isinstance(parent, _CHOICES) and child is not getattr(parent, "test", None)


def _is_default(child: ast.AST, parent: ast.AST) -> bool:
    return isinstance(parent, ast.Call) and child in parent.args[1:] and _reads_setting(parent)


def _reads_setting(call: ast.Call) -> bool:
    """Whether a call reads a setting with a default: `os.environ.get`, `os.getenv`, `getattr`."""
    return dotted(call.func).rsplit(".", 1)[-1] in ("get", "getenv", "getattr")


def _place(file: SourceFile, node: ast.Constant) -> tuple[ast.AST | None, Confidence]:
    """Where to tell of the literal `nccl`, if it names a backend there."""
    top = _top(file, node)
    parent = file.tree.parent(top)
    if isinstance(parent, ast.Compare) or isinstance(file.tree.parent(parent or node), ast.Compare):
        compare = parent if isinstance(parent, ast.Compare) else file.tree.parent(parent or node)
        return (compare if isinstance(compare, ast.Compare) and _compares(file, compare) else None), Confidence.MEDIUM
    if _is_given_to_maker(file, top) or _is_default_of_option(file, top):
        return top, Confidence.HIGH
    return (top if _is_named_backend(file, top, parent) else None), Confidence.MEDIUM


def _is_given_to_maker(file: SourceFile, node: ast.AST) -> bool:
    parent = file.tree.parent(node)
    call = file.tree.parent(parent) if isinstance(parent, ast.keyword) else parent
    if not isinstance(call, ast.Call) or not file.names.is_any(call.func, words("distributed", "groups", "makers")):
        return False
    return parent.arg == "backend" if isinstance(parent, ast.keyword) else node in call.args


def _is_default_of_option(file: SourceFile, node: ast.AST) -> bool:
    parent = file.tree.parent(node)
    call = file.tree.parent(parent) if parent is not None else None
    return (
        isinstance(parent, ast.keyword)
        and parent.arg == "default"
        and isinstance(call, ast.Call)
        and dotted(call.func).rsplit(".", 1)[-1] in ("add_argument", "option", "Option", "Field", "field")
    )


def _is_named_backend(file: SourceFile, node: ast.AST, parent: ast.AST | None) -> bool:
    """Whether a value goes by the name of a backend: a variable, field, keyword, parameter, key or function."""
    if isinstance(parent, ast.keyword):
        return parent.arg is not None and _BACKEND.search(parent.arg) is not None
    if isinstance(parent, ast.Assign):
        return any(_is_backend(target) for target in parent.targets)
    if isinstance(parent, ast.AnnAssign):
        return _is_backend(parent.target)
    if isinstance(parent, ast.Return):
        function = file.tree.function(parent)
        return function is not None and _BACKEND.search(function.name) is not None
    if isinstance(parent, ast.arguments):
        return _BACKEND.search(defaulted(parent, node)) is not None
    if isinstance(parent, ast.Dict) and any(value is node for value in parent.values):
        key = parent.keys[next(n for n, value in enumerate(parent.values) if value is node)]
        return isinstance(key, ast.Constant) and _BACKEND.search(str(key.value)) is not None
    return False


def _is_backend(target: ast.AST) -> bool:
    name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
    return _BACKEND.search(name) is not None


def _compares(file: SourceFile, compare: ast.Compare) -> bool:
    """Whether a comparison asks for the backend of a group, and the chip loses the arm that it opens."""
    if _BACKEND.search(re.sub(r"\W+$", "", file.tree.segment(compare.left, 200))) is None:
        return False
    statement = file.tree.statement(compare)
    arm: list[ast.AST] = [*statement.body] if isinstance(statement, ast.If) else [statement]
    return _stops(file, compare) or any("cuda" in file.tree.segment(part, 1000) for part in arm)


def _stops(file: SourceFile, test: ast.AST) -> bool:
    """Whether the program stops where a test fails."""
    statement = file.tree.statement(test)
    if isinstance(statement, ast.Assert):
        return True
    negated = isinstance(file.tree.parent(test), ast.UnaryOp) or (
        isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.NotEq, ast.NotIn))
    )
    return isinstance(statement, ast.If) and negated and isinstance(statement.body[-1], ast.Raise)


def _knows(file: SourceFile, node: ast.AST, chip: str) -> bool:
    """Whether the choice around a node has an arm for the chip, or for accelerators that a library lists."""
    whole: ast.AST = file.tree.statement(node)
    for up in file.tree.ancestors(whole):
        if isinstance(up, (*FUNCTIONS, ast.ClassDef, ast.Module)):
            break
        whole = up if isinstance(up, ast.If) else whole
    span = file.tree.span(whole)
    text = "\n".join(file.tree.lines[span.line - 1 : span.end_line])
    return re.search(rf"""["']({chip}|hccl|xccl|ccl|cncl|{chip}:)\b""", text) is not None
