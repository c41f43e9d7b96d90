"""Fixes: the edits of findings made in files, round by round, until a check finds nothing more to mend."""

from __future__ import annotations

import ast
import difflib
import sys
import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.edits import Document, EditError, is_new_line, together, write_atomically

if TYPE_CHECKING:
    from neuronlint.finding import Edit, Finding

ROUNDS = 10

Recheck = Callable[[Mapping[str, bytes]], Iterable["Finding"]]
"""The findings of files as they would be: by path, their new content."""


@dataclass(frozen=True, slots=True)
class Change:
    """One file before and after, and the findings that are mended in it, in the order they were."""

    path: str
    before: bytes
    after: bytes
    mended: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Fixed:
    """The changes by path, and one line for each fix that was left out though it was asked for."""

    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def count(self) -> int:
        return sum(len(change.mended) for change in self.changes)


@dataclass(slots=True)
class _File:
    before: bytes
    now: bytes
    mended: list[Finding] = field(default_factory=list)
    seen: set[bytes] = field(default_factory=set)
    stuck: bool = False


def plan(
    findings: Iterable[Finding],
    recheck: Recheck,
    *,
    unsafe: bool = False,
    may_fix: Callable[[str], bool] = lambda path: True,
    contents: Mapping[str, bytes] | None = None,
) -> Fixed:
    """What the files become when every fix is made that can be; nothing is written.

    Fixes that overlap wait for the next round, whose findings `recheck` gives. `contents` stand for files that are
    not on disk.
    """
    files: dict[str, _File] = {}
    notes: dict[str, None] = {}
    for _ in range(ROUNDS):
        changed: dict[str, bytes] = {}
        for path, found in _by_path(findings, unsafe).items():
            if not may_fix(path):
                continue
            file = files.get(path) or _opened(path, contents or {}, notes)
            if file is None or file.stuck:
                continue
            files[path] = file
            if _one_round(path, file, found, notes):
                changed[path] = file.now
        if not changed:
            break
        findings = recheck(changed)
    else:
        notes |= dict.fromkeys(f"{path}: still changing after {ROUNDS} rounds; left as it was" for path in changed)
        files = {path: file for path, file in files.items() if path not in changed}
    changes = [Change(p, f.before, f.now, tuple(f.mended)) for p, f in sorted(files.items()) if f.now != f.before]
    return Fixed(tuple(changes), tuple(notes))


def _by_path(findings: Iterable[Finding], unsafe: bool) -> dict[str, list[Finding]]:
    grouped: dict[str, list[Finding]] = {}
    for finding in sorted(findings, key=lambda finding: finding.sort_key):
        if finding.span and finding.fix and finding.fix.edits and (finding.fix.safe or unsafe):
            grouped.setdefault(finding.span.path, []).append(finding)
    return grouped


def _opened(path: str, contents: Mapping[str, bytes], notes: dict[str, None]) -> _File | None:
    try:
        data = contents[path] if path in contents else Path(path).read_bytes()
    except OSError as error:
        notes[f"{path}: cannot be read: {error.strerror}"] = None
        return None
    return _File(data, data, seen={data})


def _one_round(path: str, file: _File, found: Sequence[Finding], notes: dict[str, None]) -> bool:
    """Makes what can be made at once; whether the file changed."""
    chosen = _compatible(found)
    if _faults(path, file.now) == sys.maxsize:
        notes[f"{path}: does not parse, so nothing in it is fixed"] = None
        return False
    new, made = _made(path, file.now, chosen)
    for finding in chosen:
        if finding not in made:
            notes[_left_out(path, finding)] = None
    if new == file.now:
        return False
    if new in file.seen:
        codes = ", ".join(sorted({finding.code for finding in made}))
        notes[f"{path}: the fixes of {codes} undo one another; left as they are"] = None
        file.stuck = True
        return False
    file.now = new
    file.seen.add(new)
    file.mended += made
    return True


def _compatible(found: Sequence[Finding]) -> list[Finding]:
    """Those whose edits do not meet, cell by cell."""
    cells: dict[int, list[Finding]] = {}
    for finding in found:
        cells.setdefault(finding.span.cell if finding.span else 0, []).append(finding)
    return [group[index] for group in cells.values() for index in together([_edits(finding) for finding in group])]


def _left_out(path: str, finding: Finding) -> str:
    line = finding.span.line if finding.span else 1
    return f"{path}:{line}: the fix of {finding.code} would not leave valid code; left out, please report it"


def _made(path: str, data: bytes, findings: Sequence[Finding]) -> tuple[bytes, list[Finding]]:
    """The file after the fixes, and those made: all, or where that breaks it, each that by itself does not."""
    whole = _attempt(path, data, findings)
    if whole is not None:
        return whole, list(findings)
    new = data
    made: list[Finding] = []
    for finding in findings:
        attempt = _attempt(path, data, [*made, finding])
        if attempt is not None:
            new, made = attempt, [*made, finding]
    return new, made


def _attempt(path: str, data: bytes, findings: Sequence[Finding]) -> bytes | None:
    try:
        new = edited(path, data, _cells(findings))
    except EditError:
        return None
    return None if _faults(path, new) > _faults(path, data) else new


def _cells(findings: Sequence[Finding]) -> dict[int, list[Edit]]:
    """All edits by notebook cell, 0 in other files; a line that several put in is put in once."""
    cells: dict[int, list[Edit]] = {}
    for finding in findings:
        edits = cells.setdefault(finding.span.cell if finding.span else 0, [])
        edits += [edit for edit in _edits(finding) if not (is_new_line(edit) and edit in edits)]
    return cells


def edited(path: str, data: bytes, cells: Mapping[int, Sequence[Edit]]) -> bytes:
    """A file after edits, by notebook cell (0 in other files). Raises `EditError` where they cannot be made."""
    if not is_notebook(path):
        return Document.read(data).edited(cells.get(0, ()))
    from neuronlint.notebook import NotebookError, apply_edits

    try:
        return apply_edits(data, cells)
    except NotebookError as error:
        raise EditError(str(error)) from None


def _edits(finding: Finding) -> tuple[Edit, ...]:
    return finding.fix.edits if finding.fix else ()


def is_notebook(path: str) -> bool:
    return path.endswith(".ipynb")


def _faults(path: str, data: bytes) -> int:
    """In how many places a file does not parse as what its name says it is: a notebook may have several."""
    try:
        if is_notebook(path):
            from neuronlint.notebook import read_notebook

            return len(read_notebook(data).problems)
        if path.endswith(".toml"):
            tomllib.loads(data.decode())
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ast.parse(data, path)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return sys.maxsize
    return 0


def write(fixed: Fixed) -> tuple[str, ...]:
    """Writes the changes; one line for each file that could not be written."""
    problems = []
    for change in fixed.changes:
        try:
            write_atomically(Path(change.path), change.after)
        except OSError as error:
            problems.append(f"{change.path}: cannot be written: {error.strerror}; its fixes are not made")
    return tuple(problems)


def diff(change: Change) -> str:
    """The change as a unified diff, as `patch -p0` takes it."""
    before, after = (_lines(change.path, data) for data in (change.before, change.after))
    rows = difflib.unified_diff(before, after, change.path, change.path)
    return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


def _lines(path: str, data: bytes) -> list[str]:
    text = data.decode("utf-8-sig") if is_notebook(path) else Document.read(data).text
    return [f"{line}\n" for line in text.split("\n")[:-1]] + [last for last in text.split("\n")[-1:] if last]
