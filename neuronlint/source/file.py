"""One file as the rules of the source lane see it: tree, scopes, names, kinds and roles, each made when first used."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import cached_property, wraps
from typing import TYPE_CHECKING, TypeVar, cast

from neuronlint.source.guards import Guards
from neuronlint.source.kinds import Kinds
from neuronlint.source.names import Names
from neuronlint.source.roles import Roles
from neuronlint.source.scopes import Scopes
from neuronlint.source.tree import SourceTree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuronlint.source.passes import Passes
    from neuronlint.source.project import Project
    from neuronlint.source.reads import Read


class Imports:
    """Finds the file of the project that an imported name comes from, and the name in it.

    An object of its own, so that what is made of a file does not hold the file: it is freed without a search.
    """

    __slots__ = ("_found", "_path", "_project")

    def __init__(self, path: str, project: Project | None) -> None:
        self._path = path
        self._project = project
        self._found: dict[str, tuple[SourceFile, str] | None] = {}

    def __call__(self, dotted: str) -> tuple[SourceFile, str] | None:
        if self._project is None:
            return None
        if dotted not in self._found:
            self._found[dotted] = self._project.find(self._path, dotted)
        return self._found[dotted]


Made = TypeVar("Made")


def once(make: Callable[[SourceFile], Made]) -> Callable[[SourceFile], Made]:
    """Works out once what a function makes of a file, and keeps it with the file: it goes when the file goes."""

    @wraps(make)
    def kept(file: SourceFile) -> Made:
        if make not in file.made:
            file.made[make] = make(file)
        return cast("Made", file.made[make])

    return kept


Walked = tuple[SourceTree, Scopes]
"""A tree that was walked, and its scopes: what depends on the text of a file alone."""


class SourceFile:
    """What a rule is given. `text` is the file's own text, for the cheap test whether it holds a word at all.

    `project` finds the files that it imports from; without one, names of other files say nothing.
    """

    def __init__(
        self, path: str, text: str, module: ast.Module, project: Project | None = None, walked: Walked | None = None
    ) -> None:
        """`walked` is what was made of the same text before; it takes no part in what is known of the file."""
        self.path = path
        self.text = text
        self.module = module
        if walked is not None:
            self.tree, self.scopes = walked
        self.imported = Imports(path, project)
        self._held: dict[str, bool] = {}
        self.made: dict[Callable[[SourceFile], object], object] = {}
        """What functions marked `once` have made of the file."""

    @classmethod
    def parse(cls, path: str, text: str) -> SourceFile:
        """Raises what `ast.parse` raises."""
        return cls(path, text, ast.parse(text, path))

    @cached_property
    def tree(self) -> SourceTree:
        return SourceTree(self.path, self.text, self.module)

    @cached_property
    def scopes(self) -> Scopes:
        return Scopes(self.tree)

    @cached_property
    def names(self) -> Names:
        return Names(self.tree, self.scopes)

    @cached_property
    def kinds(self) -> Kinds:
        return Kinds(self.tree, self.scopes, self.names, self.imported)

    @cached_property
    def guards(self) -> Guards:
        return Guards(self.tree, self.scopes, self.names)

    @cached_property
    def roles(self) -> Roles:
        return Roles(self.tree, self.scopes, self.names, self.kinds, self.imported)

    @cached_property
    def passes(self) -> Passes:
        from neuronlint.source.passes import Passes

        return Passes(self.tree, self.scopes, self.names, self.kinds, self.roles)

    @cached_property
    def reads(self) -> list[Read]:
        """Where the file reads a value of the device on the host, in source order."""
        from neuronlint.source.reads import reads

        return reads(self)

    @cached_property
    def imports(self) -> frozenset[str]:
        """The top-level packages that the file imports."""
        plain = {alias.name.split(".")[0] for node in self.tree.of(ast.Import) for alias in node.names}
        froms = {(node.module or "").split(".")[0] for node in self.tree.of(ast.ImportFrom) if not node.level}
        return frozenset(plain | froms)

    def holds(self, words: Iterable[str]) -> bool:
        """Whether the text holds any of these words; no words at all means that it does. Each is looked for once."""
        found = False
        for word in words:
            held = self._held.get(word)
            if held is None:
                held = self._held[word] = word in self.text
            if held:
                return True
            found = True
        return not found
