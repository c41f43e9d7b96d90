"""The lines of the files that findings point into, read when they are asked for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.analysis import cells_of, lines_of
from neuronlint.discovery import is_text_artefact
from neuronlint.notebook import NotebookError, lines_in_file
from neuronlint.text import decode

if TYPE_CHECKING:
    from neuronlint.finding import Span


LONGEST_LINE = 2000
"""Characters that are kept of a line of a compiled program: a constant may be megabytes."""


class Sources(Mapping[str, tuple[str, ...]]):
    """Lines by path, for a set of paths known beforehand; those of a notebook are of its JSON."""

    def __init__(self, paths: Iterable[str] = (), given: Mapping[str, bytes] | None = None) -> None:
        """`given` holds what stands for files that are not read from the disk, as standard input."""
        self._paths = dict.fromkeys(paths)
        self._known: dict[str, tuple[str, ...]] = {}
        self._cells: dict[str, dict[int, tuple[str, ...]]] = {}
        self._places: dict[str, dict[int, list[int]]] = {}
        for path, data in (given or {}).items():
            self._paths[path] = None
            self._known[path] = _decoded(data)

    def __getitem__(self, path: str) -> tuple[str, ...]:
        if path not in self._paths:
            raise KeyError(path)
        if path not in self._known:
            lines = lines_of(path)
            self._known[path] = tuple(row[:LONGEST_LINE] for row in lines) if is_text_artefact(path) else lines
        return self._known[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def cell(self, path: str, cell: int) -> tuple[str, ...]:
        """The lines of a cell of a notebook; none where there is no such cell."""
        return self.cells(path).get(cell, ())

    def cells(self, path: str) -> Mapping[int, tuple[str, ...]]:
        """The lines of every Python cell of a notebook."""
        if path not in self._cells:
            self._cells[path] = cells_of(path)
        return self._cells[path]

    def line_in_file(self, span: Span) -> int:
        """The line of the file that a span begins on: that of the notebook's JSON for one in a cell."""
        if not span.cell:
            return span.line
        if span.path not in self._places:
            self._places[span.path] = _places(span.path)
        lines = self._places[span.path].get(span.cell, [])
        return lines[min(span.line, len(lines)) - 1] if lines else 1

    def around(self, span: Span) -> tuple[str, ...]:
        """The lines of the file or cell that a span lies in."""
        return self.cell(span.path, span.cell) if span.cell else self.get(span.path, ())


class Cells(Mapping[tuple[str, int], tuple[str, ...]]):
    """The cells of the notebooks among sources, by path and number."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources

    def __getitem__(self, place: tuple[str, int]) -> tuple[str, ...]:
        return self._sources.cells(place[0])[place[1]]

    def __iter__(self) -> Iterator[tuple[str, int]]:
        notebooks = [path for path in self._sources if path.endswith(".ipynb")]
        return iter([(path, number) for path in notebooks for number in self._sources.cells(path)])

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _places(path: str) -> dict[int, list[int]]:
    try:
        return lines_in_file(Path(path).read_bytes())
    except (OSError, NotebookError):
        return {}


def _decoded(data: bytes) -> tuple[str, ...]:
    try:
        return tuple(decode(data).split("\n"))
    except (SyntaxError, UnicodeDecodeError, LookupError, ValueError):
        return ()
