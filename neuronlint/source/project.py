"""The other files of a project that a file imports from: found by the name of the import, parsed when asked for."""

from __future__ import annotations

import ast
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.errors import NeuronlintError
from neuronlint.source.scopes import Scopes
from neuronlint.source.tree import SourceTree

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile, Walked

_LARGEST = 1_000_000
"""A module of more bytes than this is a table, not code that a training script rests on."""
_KEPT = 24
_DEPTH = 2
"""How many imports deep a name is followed."""

Read = Callable[[str], str | None]
"""The text of a file, None where there is none to be had."""


class Project:
    """The modules around one file, as its imports name them.

    `used` holds the path of every file that was looked into: what is known of the first one rests on them too.
    """

    def __init__(self, read: Read, depth: int = _DEPTH, used: set[str] | None = None) -> None:
        self._read = read
        self._depth = depth
        self.used: set[str] = set() if used is None else used
        self._files: dict[str, SourceFile | None] = {}

    def find(self, importer: str, dotted: str) -> tuple[SourceFile, str] | None:
        """The file that an imported name comes from, and the name in it; None where it is not of this project.

        `dotted` begins with the dots of a relative import, or with the first package of an absolute one.
        """
        if self._depth <= 0 or not dotted.strip("."):
            return None
        module, _, symbol = dotted.rpartition(".")
        level = len(dotted) - len(dotted.lstrip("."))
        if level and not module.strip("."):
            module = "." * level
        for path in _candidates(importer, module, level):
            if path not in self._files:
                self._files[path] = self._load(path)
            file = self._files[path]
            if file is not None:
                return file, symbol
        return None

    def _load(self, path: str) -> SourceFile | None:
        text = self._read(path)
        if text is None or len(text) > _LARGEST:
            return None
        self.used.add(path)
        walked = _walked(path, text)
        if walked is None:
            return None
        from neuronlint.source.file import SourceFile

        inner = Project(self._read, self._depth - 1, self.used)
        return SourceFile(path, text, walked[0].module, inner, walked)


def _candidates(importer: str, module: str, level: int) -> list[str]:
    """The paths that a module may have. An absolute one is looked for beside the file and in the folders above that
    the file's own package, by its name, may lie in."""
    folder = Path(importer).parent
    parts = [part for part in module.split(".") if part]
    if level:
        for _ in range(level - 1):
            folder = folder.parent
        bases = [folder]
    else:
        above = next((up.parent for up in (folder, *folder.parents) if parts and up.name == parts[0]), None)
        bases = [folder] if above is None else [folder, above]
    stems = [base.joinpath(*parts) for base in bases]
    return [str(path) for stem in stems for path in (stem.with_suffix(".py") if parts else stem, stem / "__init__.py")]


_trees: OrderedDict[tuple[str, int], Walked | None] = OrderedDict()


def _walked(path: str, text: str) -> Walked | None:
    """The walked tree of a file's text, the last ones kept: the files of a project import from the same few."""
    key = (path, hash(text))
    if key in _trees:
        _trees.move_to_end(key)
        return _trees[key]
    try:
        tree = SourceTree(path, text, ast.parse(text, path))
        walked: Walked | None = (tree, Scopes(tree))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        walked = None
    _trees[key] = walked
    if len(_trees) > _KEPT:
        _trees.popitem(last=False)
    return walked


def from_disk(path: str) -> str | None:
    """The text of a Python file on the disk; None where it is not there or cannot be read."""
    from neuronlint.text import decode

    try:
        file = Path(path)
        return decode(file.read_bytes()) if file.is_file() and file.stat().st_size <= _LARGEST else None
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError, ValueError, NeuronlintError):
        return None
