"""Names of findings that survive moved lines: our own, and the hash of a line that code scanning computes."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import TYPE_CHECKING

from neuronlint.render.anchor import anchor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuronlint.finding import Finding
    from neuronlint.report import Report

_BLOCK, _BASE, _BITS = 100, 37, 64
_END_OF_FILE = "\uffff"


def fingerprints(report: Report) -> list[str]:
    """One for each of the report's findings, then of the hidden ones: a suppression renames no other finding.

    It is made of rule, file, line text, model and operator, and of how many before it are alike in all of these.
    """
    findings = (*report.findings, *report.hidden)
    seen: Counter[str] = Counter()
    names = [""] * len(findings)
    for at in sorted(range(len(findings)), key=lambda number: findings[number].sort_key):
        base = _base(findings[at], report)
        seen[base] += 1
        names[at] = hashlib.sha256(f"{base}\0{seen[base]}".encode(errors="backslashreplace")).hexdigest()
    return names


def _base(finding: Finding, report: Report) -> str:
    """A line's text without its spaces stands for its number; a finding without a line is known by its message."""
    at = anchor(finding, report)
    text = "".join(at.text.split()) if at.exact else finding.through_text
    through = finding.through.path if finding.through else ""
    parts = (finding.code, at.span.path, through, text or finding.message)
    return "\0".join((*parts, finding.model or "", finding.op or "", finding.module_path or ""))


class LineHashes:
    """The `primaryLocationLineHash` of a file's lines, as GitHub's upload action computes it.

    It is a polynomial of the 100 UTF-16 units from the start of a line that are neither spaces nor tabs, line ends
    counted, with how many lines before it hash alike.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        starts, at, parts = [], 0, []
        for line in lines:
            bare = line.replace(" ", "").replace("\t", "").encode("utf-16-le", "surrogatepass")
            starts.append(at)
            parts.append(bare)
            at += len(bare) + 2
        end = _END_OF_FILE.encode("utf-16-le")
        data = "\n".encode("utf-16-le").join(parts) + end + bytes(2 * _BLOCK)
        self._blocks = [data[start : start + 2 * _BLOCK] for start in starts]
        self._counts: list[int] | None = None

    def of(self, line: int) -> str | None:
        """The hash of a line; None where the file has no such line."""
        if not 1 <= line <= len(self._blocks):
            return None
        value = 0
        block = self._blocks[line - 1]
        for at in range(0, len(block), 2):
            value = value * _BASE + int.from_bytes(block[at : at + 2], "little")
        return f"{value % (1 << _BITS):x}:{self._count(line)}"

    def _count(self, line: int) -> int:
        """Equal blocks stand for equal hashes."""
        if self._counts is None:
            seen: Counter[bytes] = Counter()
            self._counts = []
            for block in self._blocks:
                seen[block] += 1
                self._counts.append(seen[block])
        return self._counts[line - 1]
