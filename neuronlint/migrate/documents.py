"""Python files and notebooks as text that parses, and the text put back into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from neuronlint.edits import Document
from neuronlint.finding import Edit as TextEdit
from neuronlint.migrate.lines import opcodes
from neuronlint.migrate.plan import Edit, Note
from neuronlint.text import decode

Placed = TypeVar("Placed", Edit, Note)


class UnreadableError(Exception):
    """A file that is left as it is: one line that names it and says why."""


class Written(Protocol):
    """A file that was read: its text with plain line ends, and its way back."""

    data: bytes
    text: str

    def written(self, text: str, origins: Sequence[int]) -> bytes:
        """The file with another text; `origins` are the lines that the new ones come from."""
        ...

    def placed(self, items: Iterable[Placed]) -> Iterator[Placed]:
        """Edits and notes at the lines that a person counts."""
        ...


def read_document(path: str, data: bytes) -> Written:
    """Raises `UnreadableError`."""
    try:
        return _Notebook(path, data) if path.endswith(".ipynb") else _Source(data)
    except (SyntaxError, UnicodeDecodeError, LookupError, ValueError) as error:
        raise UnreadableError(f"{path}: cannot be read: {error}; left as it is") from None


class _Source:
    """A Python file: each line keeps its own end, new ones get the file's."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.text = decode(data)
        self._document = Document.read(data)

    def written(self, text: str, origins: Sequence[int]) -> bytes:
        document = self._document
        before, ends = self.text.split("\n"), _ends(document)
        lines = text.split("\n")
        parts = []
        for number, line in enumerate(lines[:-1]):
            origin = origins[number] - 1
            same = origin < len(ends) and before[origin] == line
            parts += [line, (ends[origin] if same else "") or document.newline]
        return "".join([*parts, lines[-1]]).encode(document.encoding)

    def placed(self, items: Iterable[Placed]) -> Iterator[Placed]:
        yield from items


def _ends(document: Document) -> list[str]:
    """The end of each line as it is written; the last line has none."""
    return [document.text[end:start] for end, start in zip(document.ends, document.starts[1:], strict=False)]


class _Notebook:
    """A notebook: changes are made in the cells that they lie in."""

    def __init__(self, path: str, data: bytes) -> None:
        from neuronlint.notebook import NotebookError, read_notebook

        self.data = data
        try:
            self._book = read_notebook(data)
        except NotebookError as error:
            raise UnreadableError(f"{path}: {error}; left as it is") from None
        self.text = self._book.text

    def written(self, text: str, origins: Sequence[int]) -> bytes:
        from neuronlint.notebook import apply_edits

        before, after = self.text.split("\n"), text.split("\n")
        edits: dict[int, list[TextEdit]] = {}
        for tag, start, end, new_start, new_end in opcodes(before, after):
            if tag != "equal":
                for cell, edit in self._edits(before, after[new_start:new_end], start, end):
                    edits.setdefault(cell, []).append(edit)
        return apply_edits(self.data, edits)

    def _edits(self, before: Sequence[str], new: Sequence[str], start: int, end: int) -> Iterator[tuple[int, TextEdit]]:
        if start == end:  # put in below the line before it, at the very top above the first one
            cell, line = self._book.place(max(start, 1))
            column = len(before[start - 1]) + 1 if start else 1
            text = "\n".join(["", *new]) if start else "\n".join([*new, ""])
            yield cell, TextEdit(line, column, line, column, text)
            return
        while start < end:
            cell, line = self._book.place(start + 1)
            last = start
            while last + 1 < end and self._book.place(last + 2)[0] == cell:
                last += 1
            here = new if last + 1 == end else new[: last + 1 - start]
            new = new[len(here) :]
            end_line = line + last - start
            if here:
                yield cell, TextEdit(line, 1, end_line, len(before[last]) + 1, "\n".join(here))
            elif end_line < len(self._book.source(cell)):
                yield cell, TextEdit(line, 1, end_line + 1, 1, "")
            else:
                yield cell, TextEdit(line, 1, end_line, len(before[last]) + 1, "")
            start = last + 1

    def placed(self, items: Iterable[Placed]) -> Iterator[Placed]:
        for item in items:
            cell, line = self._book.place(item.line)
            yield replace(item, cell=cell, line=line)
