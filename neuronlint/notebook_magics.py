"""IPython's extra syntax in a notebook cell, blanked out in place: what stays Python keeps its line and column.

A magic, a shell command or a help line becomes `pass`; a captured one becomes an opaque call. The code behind `%time`
and in cells such as `%%time` stays.
"""

from __future__ import annotations

import ast
import re
import tokenize
import warnings
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PYTHON_CELLS = frozenset({"capture", "debug", "ipytest", "memit", "prun", "python", "python3", "time", "timeit"})
"""Cell magics whose body is code of the notebook, or runs as Python all the same."""

_AUTOMAGIC = frozenset(
    {"cat", "cd", "conda", "cp", "less", "ll", "ls", "man", "mamba", "micromamba", "mkdir", "more", "mv", "pip", "rm"}
    | {"rmdir", "run", "uv"}
)
_CELL = re.compile(r"%%(\w*)(.*)")
_ESCAPED = re.compile(r"(\s*)[%!?]")
_HELP = re.compile(r"\s*%{0,2}[\w.*]+(?:\[-?\d+\])*\?{1,2}\s*;?\s*")
_CAPTURED = re.compile(r"(?P<target>\s*[^\W\d](?:[\w.,\s*():]|\[[^\]=]*\])*=\s*)(?P<magic>[%!].*)")
_TIMED = re.compile(r"(?P<magic>%(?:time|timeit|memit|prun)\b(?:\s+-[a-zA-Z]\s*\d*(?=\s))*\s+)(?P<code>.*)")
_OPAQUE = "get_ipython()"


def without_magics(lines: Sequence[str]) -> list[str]:
    """The same number of lines, as Python where that can be; what is neither is left for the parser to refuse."""
    first = next((n for n, line in enumerate(lines) if line.strip() and not line.lstrip().startswith("#")), 0)
    cell = _CELL.match(lines[first])
    if cell is None:
        return _statements(list(lines), first)
    kept = list(lines)
    kept[first] = ""
    if cell[1] in PYTHON_CELLS:
        return _statements(kept, first + 1)
    if cell[1] in ("file", "writefile") and cell[2].rstrip().endswith(".py") and syntax_error(kept) is None:
        return kept  # a script of its own, that the notebook starts later
    return [""] * len(lines)


def syntax_error(lines: Sequence[str]) -> tuple[int, str] | None:
    """The line (from 1) and the reason where these lines are no Python module; `await` at the top is fine."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return min(max(error.lineno or 1, 1), max(len(lines), 1)), f"syntax error: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        return 1, " ".join(str(error).split()) or type(error).__name__
    return None


def _statements(lines: list[str], start: int) -> list[str]:
    """Goes statement by statement, so that a `%` inside brackets or a string stays an operator or text."""
    at = start
    while at < len(lines):
        line = lines[at]
        if not line.strip() or line.lstrip().startswith("#"):
            at += 1
            continue
        replaced = _replaced(line)
        end = _command_end(lines, at) if replaced is not None else _statement_end(lines, at)
        if replaced is not None:
            lines[at:end] = [replaced] + [""] * (end - at - 1)
        at = end
    return lines


def _replaced(line: str) -> str | None:
    """What stands for a line of IPython's own syntax at the start of a statement; None for any other line."""
    indent = line[: len(line) - len(line.lstrip())]
    if escaped := _ESCAPED.match(line):
        return indent + (_timed(line[escaped.end(1) :]) or "pass")
    if line.startswith(">>> ") and syntax_error([line[4:]]) is None:
        return "0;  " + line[4:]
    if _HELP.fullmatch(line):
        return indent + "pass"
    if captured := _CAPTURED.fullmatch(line):
        return captured["target"] + _OPAQUE
    words = line.split(None, 1)
    if words[0] in _AUTOMAGIC and len(words) == 2 and syntax_error([line.strip()]):
        return indent + "pass"
    return None


def _timed(text: str) -> str | None:
    """`%time x = f()` as `pass; x = f()`, in its column."""
    timed = _TIMED.fullmatch(text)
    if timed is None:
        return None
    kept = "pass;".ljust(len(timed["magic"])) + timed["code"]
    return None if syntax_error([kept]) else kept


def _command_end(lines: Sequence[str], at: int) -> int:
    """The line after a command, which a backslash carries on."""
    while lines[at].endswith("\\") and at + 1 < len(lines):
        at += 1
    return at + 1


def _statement_end(lines: Sequence[str], at: int) -> int:
    """The line after a statement (or the head of a block)."""
    source = (line + "\n" for line in lines[at:])
    try:
        for token in tokenize.generate_tokens(lambda: next(source, "")):
            if token.type == tokenize.NEWLINE:
                return at + max(token.start[0], 1)
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass  # a string or bracket that never ends: the parser says so
    return at + 1
