"""The JSON of a notebook: its cells, and a new source put in the place of the old one, every other byte kept."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_DECODER = json.JSONDecoder()
_LINE_END = re.compile(r"\r\n|\r|\n")
_SPACE = re.compile(r"[ \t\n\r]*")
_ESCAPED_LETTER = re.compile(r"\\u(?!00[01])")
_SURROGATE = re.compile("[\ud800-\udfff]")


class NotebookError(ValueError):
    """A notebook that cannot be read, or an edit that does not fit it; the text is one line."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell and its number from 1 among all cells; only a Python one has a source."""

    number: int
    source: str | None


@dataclass(frozen=True, slots=True)
class Document:
    """A notebook as read: its text without a byte order mark, its language and its cells."""

    text: str
    marked: bool
    language: str
    cells: tuple[Cell, ...]

    def with_sources(self, sources: Mapping[int, str]) -> bytes:
        """The bytes of the notebook with the sources of some cells, by number, replaced."""
        spans = dict(self._spans())
        ascii_only = self.text.isascii() and _ESCAPED_LETTER.search(self.text) is not None
        text = self.text
        for number in sorted(sources, reverse=True):
            start, end = spans[number]
            text = text[:start] + _written(self.text, start, end, sources[number], ascii_only) + text[end:]
        return ("\ufeff" * self.marked + text).encode()

    def lines_of(self) -> dict[int, list[int]]:
        """For each cell by number, the lines of the file that its lines stand on: all on one for a source in a text."""
        return {number: _file_lines(self.text, start, end) for number, (start, end) in self._spans() if end}

    def _spans(self) -> Iterator[tuple[int, tuple[int, int]]]:
        return enumerate(_source_spans(self.text), 1)


def load(data: bytes) -> Document:
    """Raises `NotebookError` where the data is no notebook of format 3 or 4."""
    try:
        text = data.decode()
        marked = text.startswith("\ufeff")
        text = text.removeprefix("\ufeff")
        notebook = _DECODER.decode(text)
    except UnicodeDecodeError as error:
        raise NotebookError(f"not a notebook: byte {error.start + 1} is not UTF-8") from error
    except json.JSONDecodeError as error:
        raise NotebookError(f"not JSON: {error.msg} (line {error.lineno}, column {error.colno})") from error
    except (ValueError, RecursionError) as error:  # a number of many digits, lists without end
        raise NotebookError(f"not JSON that can be read: {' '.join(str(error).split())}") from error
    language = _language(_checked(notebook, dict, "the top of it"))
    return Document(text, marked, language, tuple(_cells(notebook, language)))


def _checked(value: Any, kind: type, what: str) -> Any:
    if not isinstance(value, kind):
        names = {dict: "an object", list: "a list", int: "a whole number"}
        raise NotebookError(f"not a notebook: {what} is not {names[kind]}")
    return value


def _language(notebook: dict[str, Any]) -> str:
    metadata = notebook.get("metadata")
    for key, name in (("language_info", "name"), ("kernelspec", "language")):
        entry = metadata.get(key) if isinstance(metadata, dict) else None
        if isinstance(entry, dict) and isinstance(entry.get(name), str):
            return "python" if _is_python(entry[name]) else entry[name]
    return "python"


def _is_python(language: object) -> bool:
    return isinstance(language, str) and ("python" in language.lower() or language.lower() == "pyspark")


def _cells(notebook: dict[str, Any], language: str) -> Iterator[Cell]:
    version = _checked(notebook.get("nbformat"), int, '"nbformat"')
    if version < 3:
        raise NotebookError(f"notebook format {version} is too old: open it in Jupyter and save it again")
    flat = version > 3 or "cells" in notebook
    sheets = [notebook] if flat else _checked(notebook.get("worksheets"), list, '"worksheets"')
    number = 0
    for sheet in sheets:
        for cell in _checked(_checked(sheet, dict, "a worksheet").get("cells"), list, '"cells"'):
            number += 1
            _checked(cell, dict, f"cell {number}")
            yield Cell(number, _source(cell, number, language))


def _source(cell: dict[str, Any], number: int, language: str) -> str | None:
    metadata = cell.get("metadata")
    vscode = metadata.get("vscode") if isinstance(metadata, dict) else None
    own = vscode.get("languageId") if isinstance(vscode, dict) else cell.get("language")
    if cell.get("cell_type") != "code" or not _is_python(own if isinstance(own, str) else language):
        return None
    source = cell.get("source", cell.get("input"))
    if isinstance(source, list) and all(isinstance(line, str) for line in source):
        return "".join(source)
    if not isinstance(source, str):
        raise NotebookError(f"not a notebook: the source of cell {number} is neither a text nor a list of lines")
    return source


def _source_spans(text: str) -> Iterator[tuple[int, int]]:
    """Where the source of each cell stands in the text; `(0, 0)` for a cell without one."""
    top = _members(text, _skip(text, 0))
    sheets = [top] if "cells" in top else [_members(text, at) for _, at, _ in _parts(text, top["worksheets"][0])]
    for sheet in sheets:
        for _, at, _ in _parts(text, sheet["cells"][0]):
            cell = _members(text, at)
            yield cell.get("source") or cell.get("input") or (0, 0)


def _file_lines(text: str, start: int, end: int) -> list[int]:
    first = text.count("\n", 0, start) + 1
    if text[start] != "[":
        return [first] * (text.count("\\n", start, end) + 1)
    lines: list[int] = []
    for _, at, stop in _parts(text, start):
        value = _DECODER.decode(text[at:stop])
        here = first + text.count("\n", start, at)
        lines += [here] * (len(_LINE_END.findall(value)) or 1)
    return lines


def _members(text: str, at: int) -> dict[str, tuple[int, int]]:
    return {key: (start, end) for key, start, end in _parts(text, at)}


def _parts(text: str, at: int) -> Iterator[tuple[str, int, int]]:
    """The values of the object or list that begins here, each with its key (none in a list) and its place."""
    keyed = text[at] == "{"
    at = _skip(text, at + 1)
    while text[at] not in "]}":
        key = ""
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        end = _DECODER.raw_decode(text, at)[1]
        yield key, at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _written(text: str, start: int, end: int, source: str, ascii_only: bool) -> str:
    """A source as JSON in the form of the old one: one text, or lines spaced as they were; old lines as spelt."""
    if text[start] == '"':
        return _literal(source, ascii_only)
    places = [(at, stop) for _, at, stop in _parts(text, start)]
    spelt = {_DECODER.decode(text[at:stop]): text[at:stop] for at, stop in places}
    opening = text[start + 1 : places[0][0]] if places else ""
    closing = text[places[-1][1] : end - 1] if places else ""
    between = text[places[0][1] : places[1][0]] if len(places) > 1 else "," + (opening or " ")
    lines = [spelt.get(line) or _literal(line, ascii_only) for line in re.findall(r"[^\n]*\n|[^\n]+", source)]
    return f"[{opening}{between.join(lines)}{closing}]" if lines else "[]"


def _literal(text: str, ascii_only: bool) -> str:
    return json.dumps(text, ensure_ascii=ascii_only or _SURROGATE.search(text) is not None)
