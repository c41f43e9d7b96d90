"""Python frames to source positions: the user's own line, and the library's line behind it."""

from __future__ import annotations

import linecache
import os
import sys
import sysconfig
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import CodeType, FrameType

from neuronlint.finding import Span

_SEPARATOR = os.sep


@dataclass(frozen=True, slots=True)
class Place:
    """Where a call was made: the user's line, and the innermost line of an installed package but torch's own."""

    span: Span | None = None
    through: Span | None = None
    through_text: str = ""


def _roots(*names: str) -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    return tuple({os.path.realpath(paths[name]) + _SEPARATOR for name in names if name in paths})


_PACKAGES = _roots("purelib", "platlib")
_STDLIB = _roots("stdlib", "platstdlib")
_OURSELVES = str(Path(__file__).resolve().parents[1]) + _SEPARATOR
_TORCH = ("torch" + _SEPARATOR, "functorch" + _SEPARATOR, "torchgen" + _SEPARATOR)


@cache
def kind_of(filename: str) -> str:
    """`user`, `library`, `torch` or `internal` (the standard library, generated code, neuronlint itself)."""
    if filename.startswith("<"):
        return "internal"
    path = os.path.realpath(filename)
    if path.startswith(_OURSELVES):
        return "internal"
    for root in _PACKAGES:
        if path.startswith(root):
            return "torch" if path.removeprefix(root).startswith(_TORCH) else "library"
    if f"{_SEPARATOR}site-packages{_SEPARATOR}" in path or f"{_SEPARATOR}dist-packages{_SEPARATOR}" in path:
        return "library"
    if any(path.startswith(root) for root in _STDLIB):
        return "internal"
    return "user"


@cache
def shown_path(filename: str) -> str:
    """A user's file relative to the working directory, a library's relative to the folder it is installed in."""
    path = os.path.realpath(filename)
    for root in _PACKAGES:
        if path.startswith(root):
            return path.removeprefix(root).replace(_SEPARATOR, "/")
    for marker in ("site-packages", "dist-packages"):
        if f"{_SEPARATOR}{marker}{_SEPARATOR}" in path:
            return path.rsplit(f"{marker}{_SEPARATOR}", 1)[1].replace(_SEPARATOR, "/")
    return os.path.relpath(path).replace(_SEPARATOR, "/")


@cache
def positions(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    """Where each instruction of a code object was compiled from: line, end line, columns in bytes."""
    return tuple(code.co_positions())


@cache
def _span_at(code: CodeType, instruction: int) -> Span:
    """The stretch of source that an instruction was compiled from; columns turned from bytes to code points."""
    spans = positions(code)
    index = instruction // 2
    line, end_line, column, end_column = spans[index] if 0 <= index < len(spans) else (None,) * 4
    line = line or code.co_firstlineno
    path = shown_path(code.co_filename)
    if column is None or end_column is None or end_line is None:
        return Span(path, line)
    first, last = linecache.getline(code.co_filename, line), linecache.getline(code.co_filename, end_line)
    return Span(path, line, _code_points(first, column) + 1, end_line, _code_points(last, end_column) + 1)


def _code_points(line: str, byte_offset: int) -> int:
    return len(line.encode()[:byte_offset].decode(errors="ignore"))


def span_of(frame: FrameType) -> Span:
    return _span_at(frame.f_code, frame.f_lasti)


def place(frame: FrameType | None = None) -> Place:
    """The place of the current call, from the innermost frame outwards."""
    current = frame or sys._getframe(1)
    through: FrameType | None = None
    while current is not None:
        kind = kind_of(current.f_code.co_filename)
        if kind == "user":
            return _place(span_of(current), through)
        if kind == "library" and through is None:
            through = current
        current = current.f_back  # type: ignore[assignment]
    return _place(None, through)


def _place(span: Span | None, through: FrameType | None) -> Place:
    if through is None:
        return Place(span)
    behind = span_of(through)
    text = linecache.getline(through.f_code.co_filename, behind.line).strip()
    return Place(span, behind, text)


def innermost_kind(frame: FrameType | None) -> str:
    """The kind of the innermost frame that is neither neuronlint's nor torch's symbolic-shape machinery."""
    while frame is not None:
        filename = frame.f_code.co_filename
        kind = kind_of(filename)
        if kind == "torch" and ("experimental" in filename or filename.endswith(f"torch{_SEPARATOR}__init__.py")):
            kind = "internal"
        if kind != "internal":
            return kind
        frame = frame.f_back
    return "internal"


def definition_of(target: object) -> Span | None:
    """Where a class or function is written, if that is the user's own code or an installed package's."""
    import inspect

    try:
        filename = inspect.getsourcefile(target)  # type: ignore[arg-type]
        _, line = inspect.getsourcelines(target)  # type: ignore[arg-type]
    except (OSError, TypeError):
        return None
    return Span(shown_path(filename), line) if filename else None
