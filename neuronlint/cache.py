"""What the source lane found in files that have not changed since: one JSON file a stack, in `.neuronlint_cache`.

JSON and no pickle: a cache may come with a repository that nobody here trusts, and reading it must run nothing. What
does not fit is thrown away as if it were not there.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronlint import __version__
from neuronlint.analysis import Analysis
from neuronlint.data import rules_root
from neuronlint.finding import Confidence, Edit, Evidence, EvidenceKind, Finding, Fix, Severity, Span

if TYPE_CHECKING:
    from neuronlint.discovery import FoundFile
    from neuronlint.stack import Stack

FOLDER = ".neuronlint_cache"
_FORMAT = 2
_TAG = "Signature: 8a477f597d28d172789f06886806bc55\n# Made by neuronlint; may be deleted at any time.\n"
_SEVERITIES = {str(severity): severity for severity in Severity}
_CONFIDENCES = {str(confidence): confidence for confidence in Confidence}

Row = list[Any]


@dataclass(slots=True)
class Cache:
    """The analyses of an earlier run, by path; taken only for a file with the same stamp, or the same content."""

    path: Path
    key: str
    files: dict[str, Row] = field(default_factory=dict)
    evidence: list[Row] = field(default_factory=list)
    _evidence: list[tuple[Evidence, ...]] = field(default_factory=list)
    _numbers: dict[tuple[Evidence, ...], int] = field(default_factory=dict)
    _changed: bool = False

    @classmethod
    def open(cls, root: Path, stack: Stack) -> Cache:
        """The cache of a folder for a stack, empty where there is none that this neuronlint could use."""
        key = fingerprint(stack)
        cache = cls(root / FOLDER / f"source-{key[:16]}.json", key)
        try:
            data = json.loads(cache.path.read_bytes())
            if data["key"] == key:
                cache._evidence = [tuple(_evidence(row) for row in rows) for rows in data["evidence"]]
                cache._numbers = {rows: number for number, rows in enumerate(cache._evidence)}
                cache.files = data["files"]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            cache.files, cache._evidence, cache._numbers = {}, [], {}
        return cache

    def get(self, file: FoundFile) -> Analysis | None:
        """The analysis of a file as it is now, None where it has to be made."""
        row = self.files.get(file.path)
        if row is None or file.stamp is None:
            return None
        try:
            if row[0] != file.stamp[0] or row[1] != file.stamp[1]:
                if row[1] != file.stamp[1] or row[2] != digest(Path(file.path).read_bytes()):
                    return None
                row[0] = file.stamp[0]
                self._changed = True
            flags, marks, findings, rests_on = row[3], row[4], row[5], row[6]
            if any(stamp_of(path) != (time, size) for path, time, size in rests_on):
                return None
            return Analysis(
                tuple([self._finding(item, file.path) for item in findings]) if findings else (),
                frozenset(marks) if marks else _NO_MARKS,
                bool(flags & 1), bool(flags & 2), bool(flags & 4), bool(flags & 8),
                tuple([entry[0] for entry in rests_on]),
            )  # fmt: skip
        except (OSError, LookupError, TypeError, ValueError):
            return None

    def put(self, file: FoundFile, found: Analysis, content: str) -> None:
        """Keeps an analysis; one that broke is not kept."""
        if file.stamp is None or found.crash:
            return
        flags = found.has_models | found.is_script << 1 | found.comments << 2 | found.parsed << 3
        rows = [self._row(finding) for finding in found.findings]
        rests_on = [[path, *(stamp_of(path) or (0, -1))] for path in found.rests_on]
        self.files[file.path] = [*file.stamp, content, flags, sorted(found.marks), rows, rests_on]
        self._changed = True

    def save(self) -> None:
        """Writes what changed; a folder that cannot be written to is no reason to stop."""
        if not self._changed:
            return
        import tempfile

        rows = [[[str(e.kind), e.source, e.sdk, e.note] for e in items] for items in self._evidence]
        text = json.dumps({"key": self.key, "evidence": rows, "files": self.files}, separators=(",", ":"))
        try:
            self._prepare_folder()
            with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False, encoding="utf-8") as file:
                file.write(text)
            Path(file.name).replace(self.path)
        except OSError:
            return

    def _prepare_folder(self) -> None:
        """A folder that git and backups pass over; caches of other versions and stacks that grew old are dropped."""
        folder = self.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in ((".gitignore", "*\n"), ("CACHEDIR.TAG", _TAG)):
            if not (folder / name).exists():
                (folder / name).write_text(text, encoding="utf-8")
        kept = sorted(folder.glob("source-*.json"), key=lambda path: path.stat().st_mtime, reverse=True)[:_MOST_FILES]
        for old in set(folder.glob("source-*.json")) - set(kept):
            old.unlink(missing_ok=True)

    def _row(self, finding: Finding) -> Row:
        span = finding.span
        number = self._numbers.get(finding.evidence)
        if number is None:
            number = self._numbers[finding.evidence] = len(self._evidence)
            self._evidence.append(finding.evidence)
        fix = finding.fix
        edits = [[e.line, e.column, e.end_line, e.end_column, e.text] for e in fix.edits] if fix else []
        return [
            finding.code, finding.name, str(finding.severity), str(finding.confidence), finding.message,
            [span.line, span.column, span.end_line, span.end_column, span.cell] if span else None,
            finding.then, finding.help, number, finding.op, finding.details, list(finding.unless), list(finding.notes),
            [fix.message, edits, fix.safe] if fix else None,
        ]  # fmt: skip

    def _finding(self, row: Row, path: str) -> Finding:
        (code, name, severity, confidence, message, span, then, advice, number, op, details, unless, notes, fix) = row
        return Finding(
            code, name, _SEVERITIES[severity], _CONFIDENCES[confidence], message,
            Span(path, *span) if span else None,
            op=op, details=details, then=then, help=advice, evidence=self._evidence[number],
            fix=Fix(fix[0], tuple(Edit(*edit) for edit in fix[1]), fix[2]) if fix else None,
            unless=tuple(unless), notes=tuple(notes),
        )  # fmt: skip


_NO_MARKS: frozenset[str] = frozenset()
_MOST_FILES = 8


def stamp_of(path: str) -> tuple[int, int] | None:
    """A file's time of change and size, as `discovery` takes them."""
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def digest(data: bytes) -> str:
    """What tells contents apart."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def fingerprint(stack: Stack) -> str:
    """What an analysis rests on beside its file: the stack, this neuronlint, its rules and this Python."""
    here = Path(__file__).parent
    state: list[str] = [str(_FORMAT), __version__, str(stack), sys.version]
    for folder in (here, here / "source", here / "source" / "rules", *_folders(rules_root())):
        try:
            with os.scandir(folder) as entries:
                state += sorted(f"{e.name}:{e.stat().st_mtime_ns}:{e.stat().st_size}" for e in entries if e.is_file())
        except OSError:
            continue
    return digest("\n".join(state).encode())


def _folders(root: Path) -> list[Path]:
    return [root / "checks", root / "source", root / "source" / "apis", root / "stacks"]


def _evidence(row: Row) -> Evidence:
    kind, source, sdk, note = row
    return Evidence(EvidenceKind(kind), source, sdk, note)
