"""Baselines: the findings that were there when neuronlint came, known again though lines move."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from neuronlint.edits import write_atomically
from neuronlint.errors import ConfigurationError
from neuronlint.finding import Finding, Span
from neuronlint.own import own_finding
from neuronlint.qualified import QualifiedNames

SCHEMA_VERSION = 1
_LONGEST = 200
_ANEW = "delete it and run again with --write-baseline, or name another file with --baseline"


class Key(NamedTuple):
    """What a finding is known by: its file as seen from the baseline's folder, its rule, the function or class
    around it, and the words of its line. A finding without a line has its model, module and operator instead."""

    path: str
    rule: str
    scope: str
    text: str


@dataclass(frozen=True, slots=True)
class Baseline:
    """How many findings of each key are known, and the line of the file that says so."""

    path: str
    counts: Mapping[Key, int] = field(default_factory=dict)
    lines: Mapping[Key, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Compared:
    """Findings that are new, those that the baseline knows, and how many it knows that are gone, by key."""

    new: tuple[Finding, ...]
    known: tuple[Finding, ...]
    stale: Mapping[Key, int]


Sources = Callable[[Span], Sequence[str]]
"""The lines of the file or notebook cell that a span is in."""
LookedFor = Callable[[Key], bool]
"""Whether a run looked for what a key stands for, its path as findings have it: else it is not gone."""


def read(path: str) -> Baseline:
    """Raises `ConfigurationError` with the way out for a file that is missing or no baseline."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise ConfigurationError(f"{path}: no such baseline; make it with --write-baseline") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ConfigurationError(f"{path}: the baseline cannot be read: {reason}; {_ANEW}") from None
    try:
        data = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        raise ConfigurationError(f"{path}:{line}: not a baseline: it is no JSON; mend it, or {_ANEW}") from None
    return Baseline(path, *_counts(path, text, data))


def _counts(path: str, text: str, data: Any) -> tuple[dict[Key, int], dict[Key, int]]:
    if not isinstance(data, dict) or not isinstance(data.get("findings"), list):
        raise ConfigurationError(f"{path}:1: not a baseline: it has no list `findings`; {_ANEW}")
    if data.get("schema_version") != SCHEMA_VERSION:
        raise ConfigurationError(f"{path}:1: a baseline of another version of neuronlint; {_ANEW}")
    counts: dict[Key, int] = {}
    lines: dict[Key, int] = {}
    numbers = [number for number, line in enumerate(text.split("\n"), 1) if '"rule"' in line]
    for index, row in enumerate(data["findings"]):
        line = numbers[index] if index < len(numbers) else 1
        key, count = _entry(row)
        if key is None or not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise ConfigurationError(f"{path}:{line}: not an entry of a baseline; mend it, or {_ANEW}")
        counts[key] = counts.get(key, 0) + count
        lines.setdefault(key, line)
    return counts, lines


def _entry(row: Any) -> tuple[Key | None, Any]:
    values = [row.get(name) if isinstance(row, dict) else None for name in Key._fields]
    texts = [value for value in values if isinstance(value, str)]
    return (Key(*texts), row.get("count", 1)) if len(texts) == len(values) else (None, 0)


def compare(baseline: Baseline, findings: Iterable[Finding], sources: Sources, looked_for: LookedFor) -> Compared:
    """Takes the findings that the baseline knows out, the first ones of a key when there are more than it knows."""
    left = dict(baseline.counts)
    new, known = [], []
    for finding, key in keyed(findings, sources, baseline.path):
        if left.get(key, 0) > 0:
            left[key] -= 1
            known.append(finding)
        else:
            new.append(finding)
    stale = {key: count for key, count in left.items() if count and _looked_for(key, baseline.path, looked_for)}
    return Compared(tuple(new), tuple(known), stale)


def updated(baseline: Baseline, findings: Iterable[Finding], sources: Sources, looked_for: LookedFor) -> Baseline:
    """The baseline that knows just these findings, and what it knew of files and rules that were not looked at."""
    counts = Counter(key for _, key in keyed(findings, sources, baseline.path))
    for key, count in baseline.counts.items():
        if not _looked_for(key, baseline.path, looked_for):
            counts[key] = max(count, counts[key])
    return Baseline(baseline.path, dict(counts))


def write(baseline: Baseline) -> None:
    """One entry a line, sorted. Raises `ConfigurationError` where the file cannot be written."""
    rows = [json.dumps(key._asdict() | {"count": n}, ensure_ascii=False) for key, n in sorted(baseline.counts.items())]
    body = ",\n    ".join(rows)
    findings = f"[\n    {body}\n  ]" if rows else "[]"
    text = f'{{\n  "schema_version": {SCHEMA_VERSION},\n  "findings": {findings}\n}}\n'
    try:
        write_atomically(Path(baseline.path), text.encode("utf-8", "backslashreplace"))
    except OSError as error:
        raise ConfigurationError(
            f"{baseline.path}: cannot be written: {error.strerror}; name another file with --baseline"
        ) from None


def stale_finding(baseline: Baseline, stale: Mapping[Key, int]) -> Finding:
    """One finding for all that is gone, at the first entry of it."""
    line = min(baseline.lines.get(key, 1) for key in stale)
    number = sum(stale.values())
    what = "1 finding" if number == 1 else f"{number} findings"
    first = min(stale)
    example = f"{first.rule} in {first.path or first.scope}"
    return own_finding("NRN914", Span(baseline.path, line), what=what, example=example)


def keyed(findings: Iterable[Finding], sources: Sources, baseline_path: str) -> Iterator[tuple[Finding, Key]]:
    """Each finding with its key."""
    scopes: dict[tuple[str, int], QualifiedNames] = {}
    for finding in findings:
        span = finding.span
        if span is None:
            scope = ".".join(part for part in (finding.model, finding.module_path) if part)
            yield finding, Key("", finding.code, scope, finding.op or _words(finding.message))
            continue
        lines = sources(span)
        here = scopes.setdefault((span.path, span.cell), QualifiedNames(lines))
        text = lines[span.line - 1] if 0 < span.line <= len(lines) else ""
        yield finding, Key(_seen_from(baseline_path, span.path), finding.code, here.at(span.line), _words(text))


def _looked_for(key: Key, baseline_path: str, looked_for: LookedFor) -> bool:
    """A file that is gone counts as looked at: nothing of it can be found again."""
    if not key.path:
        return looked_for(key)
    path = _seen_from_here(baseline_path, key.path)
    return not Path(path).exists() or looked_for(key._replace(path=path))


def _words(text: str) -> str:
    """A line without its indentation and spacing; a very long one by its beginning and a digest."""
    words = " ".join(text.split())
    if len(words) <= _LONGEST:
        return words
    return f"{words[:_LONGEST]} {hashlib.sha256(words.encode('utf-8', 'backslashreplace')).hexdigest()[:12]}"


def _seen_from(baseline_path: str, path: str) -> str:
    try:
        return os.path.relpath(path, Path(baseline_path).parent).replace(os.sep, "/")
    except ValueError:  # another drive
        return path


def _seen_from_here(baseline_path: str, path: str) -> str:
    try:
        return os.path.relpath(Path(baseline_path).parent / path).replace(os.sep, "/")
    except ValueError:
        return path
