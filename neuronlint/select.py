"""Which rules are on: `select`, `extend-select` and `ignore`, by code, prefix or name."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from neuronlint.discovery import excluded
from neuronlint.errors import ConfigurationError
from neuronlint.knowledge import checks
from neuronlint.suppress import matches

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuronlint.finding import Finding


@dataclass(frozen=True, slots=True)
class Selection:
    """A code is on when the longest selector that names it is a selecting one; of equals, ignoring wins."""

    select: tuple[str, ...] = ("NRN",)
    ignore: tuple[str, ...] = ()
    per_file: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

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


def validate(selectors: Iterable[str], option: str) -> None:
    """Raises `ConfigurationError` for a selector that names no rule; a family that has none yet will do."""
    for selector in selectors:
        if re.fullmatch(r"NRN[1-9]?", selector, re.IGNORECASE) or any(
            matches(selector, code) for code in checks.codes()
        ):
            continue
        known = (*checks.codes(), *checks.names())
        near = difflib.get_close_matches(selector, known, 1) or difflib.get_close_matches(selector.upper(), known, 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise ConfigurationError(f"{option}: no rule `{selector}`; {hint}`neuronlint rules` lists them all")
