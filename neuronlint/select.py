"""Which rules are on, and how severe: `select`, `extend-select`, `ignore` and `severity`, by code, prefix or name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuronlint.discovery import excluded
from neuronlint.errors import ConfigurationError
from neuronlint.knowledge import checks
from neuronlint.nearest import nearest
from neuronlint.suppress import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuronlint.finding import Finding, Severity


@dataclass(frozen=True, slots=True)
class Selection:
    """A code is on when the longest selector that names it is a selecting one; of equals, ignoring wins."""

    select: tuple[str, ...] = ("NRN",)
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    severity: Mapping[str, Severity] = field(default_factory=dict)

    def pick(self, findings: Iterable[Finding]) -> list[Finding]:
        """The findings whose rule is on, at the severity that the user gives it."""
        return [self.at_severity(finding) for finding in findings if self.keeps(finding)]

    def at_severity(self, finding: Finding) -> Finding:
        """A finding at the severity of the longest selector that names its rule, else as it is."""
        if not self.severity:
            return finding
        lengths = {selector: _reach([selector], finding.code) for selector in self.severity}
        selector = max(lengths, key=lambda selector: lengths[selector])
        return finding.at(self.severity[selector]) if lengths[selector] else finding

    def on(self, code: str) -> bool:
        return _reach(self.select, code) > _reach(self.ignore, code)

    def keeps(self, finding: Finding) -> bool:
        """Whether a finding's rule is on, in its file."""
        if not self.on(finding.code):
            return False
        return not (finding.span and self.ignored_in(finding.span.path, finding.code))

    def ignored_in(self, path: str, code: str) -> bool:
        """Whether `per-file-ignores` switches a code off in a file."""
        return any(_reach(codes, code) and excluded(path, [glob]) for glob, codes in self.per_file.items())


def _reach(selectors: Iterable[str], code: str) -> int:
    """The length of the longest selector that names a code, a name counting as the whole code; 0 for none."""
    lengths = (len(s) if s.upper().startswith("NRN") else len(code) for s in selectors if matches(s, code))
    return max(lengths, default=0)


def validate(selectors: Iterable[str], where: str) -> None:
    """Raises `ConfigurationError` for a selector that names no rule; a family that has none yet will do."""
    for selector in selectors:
        if re.fullmatch(r"NRN[1-9]?", selector, re.IGNORECASE) or any(
            matches(selector, code) for code in checks.codes()
        ):
            continue
        known = (*checks.codes(), *checks.names())
        near = nearest(selector, known) or nearest(selector.upper(), known)
        hint = f"did you mean {near}? " if near else ""
        raise ConfigurationError(f"{where}: no rule `{selector}`; {hint}`neuronlint rules` lists them all")
