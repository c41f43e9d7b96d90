"""Notebooks as Python source and back, for formats 3 and 4. Nothing of a notebook is ever run.

Cells count from 1 among all cells, text cells included: as one counts them on the screen. Lines count in their cell.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from neuronlint.finding import Edit
from neuronlint.notebook_json import NotebookError, load
from neuronlint.notebook_magics import syntax_error, without_magics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuronlint.finding import Finding, Span

__all__ = ["CellProblem", "Notebook", "NotebookError", "apply_edits", "read_notebook"]

_LINE_END = re.compile(r"\r\n|\r|\n")


class CellProblem(NamedTuple):
    """A cell that is no Python and is left out, and the line and reason of it."""

    cell: int
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Notebook:
    """The Python of a notebook as one text that parses, each line of it a line of a cell, in the same columns.

    `cells` are the numbers of the Python cells and `starts` their first lines in the text; `sources` are the lines of
    each as written, magics and all.
    """

    text: str
    language: str
    cells: tuple[int, ...]
    starts: tuple[int, ...]
    sources: tuple[tuple[str, ...], ...]
    problems: tuple[CellProblem, ...] = ()

    def place(self, line: int) -> tuple[int, int]:
        """The cell and the line in it of a line of the text."""
        index = bisect_right(self.starts, line) - 1
        if index < 0 or line - self.starts[index] >= len(self.sources[index]):
            raise IndexError(f"the text has no line {line}")
        return self.cells[index], line - self.starts[index] + 1

    def line(self, cell: int, line: int) -> int:
        """The line of the text that a line of a cell became."""
        return self.starts[self.cells.index(cell)] + line - 1

    def source(self, cell: int) -> tuple[str, ...]:
        """The lines of a Python cell as written."""
        return self.sources[self.cells.index(cell)]

    def place_span(self, span: Span) -> Span:
        """A span of the text in its cell; what reaches into the next one ends where the cell does."""
        (cell, line), (end_line, end_column) = self.place(span.line), self._end(span)
        return replace(span, cell=cell, line=line, end_line=end_line, end_column=end_column)

    def place_finding(self, finding: Finding) -> Finding:
        """A finding of the text at its cell; without its fix where that reaches into other cells."""
        if finding.span is None:
            return finding
        span, fix = self.place_span(finding.span), finding.fix
        if fix and {self.place(edit.line)[0] for edit in fix.edits} <= {span.cell}:
            return replace(finding, span=span, fix=replace(fix, edits=tuple(map(self._place_edit, fix.edits))))
        return replace(finding, span=span, fix=None)

    def _place_edit(self, edit: Edit) -> Edit:
        end_line, end_column = self._end(edit)
        return replace(edit, line=self.place(edit.line)[1], end_line=end_line, end_column=end_column)

    def _end(self, part: Span | Edit) -> tuple[int, int]:
        """The end of a part in the cell where it begins: the line below the last one is the start of the next cell."""
        index = bisect_right(self.starts, part.line) - 1
        line, last = part.end_line - self.starts[index] + 1, len(self.sources[index])
        return (line, part.end_column) if line <= last else (last + 1, 1)


def read_notebook(data: bytes) -> Notebook:
    """The Python cells of a notebook; none where its kernel is one of another language.

    Raises `NotebookError` where the data is no notebook.
    """
    document = load(data)
    lines: list[str] = []
    cells, starts, sources, problems = [], [], [], []
    for cell in document.cells:
        if cell.source is None:
            continue
        source = tuple(_LINE_END.split(cell.source))
        cells.append(cell.number)
        starts.append(len(lines) + 1)
        sources.append(source)
        kept, problem = _python(source)
        lines += kept
        if problem:
            problems.append(CellProblem(cell.number, *problem))
    text = "\n".join(lines)
    return Notebook(text, document.language, tuple(cells), tuple(starts), tuple(sources), tuple(problems))


def lines_in_file(data: bytes) -> dict[int, list[int]]:
    """For each cell by number, the lines of the notebook's own file that its lines stand on.

    Raises `NotebookError` where the data is no notebook.
    """
    return load(data).lines_of()


def _python(source: Sequence[str]) -> tuple[Sequence[str], tuple[int, str] | None]:
    """A cell as lines that parse, and what is wrong where that leaves none of it."""
    if syntax_error(source) is None:
        return source, None
    kept = without_magics(source)
    problem = syntax_error(kept)
    return ([""] * len(source), problem) if problem else (kept, None)


def apply_edits(data: bytes, edits: Mapping[int, Sequence[Edit]]) -> bytes:
    """The notebook with the edits made in the sources of their cells; nothing else of the file changes.

    Raises `NotebookError` where the data is no notebook, or an edit names a place that is not there, or overlaps.
    """
    document = load(data)
    sources = {cell.number: cell.source for cell in document.cells}
    changed = {}
    for cell, wanted in edits.items():
        old = sources.get(cell)
        if old is None:
            raise NotebookError(f"cell {cell} is no Python cell of this notebook")
        new = _edited(old, wanted, cell)
        if new != old:
            changed[cell] = new
    return document.with_sources(changed) if changed else data


def _edited(source: str, edits: Sequence[Edit], cell: int) -> str:
    ends = [match.span() for match in _LINE_END.finditer(source)]
    lines = list(zip([0, *(end for _, end in ends)], [*(start for start, _ in ends), len(source)], strict=True))

    def offset(line: int, column: int) -> int:
        if (line, column) == (len(lines) + 1, 1):
            return len(source)
        if not 1 <= line <= len(lines) or not 1 <= column <= lines[line - 1][1] - lines[line - 1][0] + 1:
            raise NotebookError(f"cell {cell} has no line {line}, column {column}")
        return lines[line - 1][0] + column - 1

    places = [(offset(e.line, e.column), offset(e.end_line, e.end_column), e.text) for e in edits]
    places.sort(key=lambda place: place[:2])
    if any(end < start for start, end, _ in places) or any(a[1] > b[0] for a, b in pairwise(places)):
        raise NotebookError(f"edits of cell {cell} overlap")
    for start, end, text in reversed(places):
        source = source[:start] + text + source[end:]
    return source
