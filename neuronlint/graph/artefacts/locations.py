"""Debug locations of MLIR: `loc("model.py":20:0)`, names around others, and aliases of all of these."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

_FILE = re.compile(r'"((?:[^"\\]|\\.)*+)":(\d{1,9})(?::\d{1,9})?')
_ALIAS = re.compile(r"#[\w.]+")
MOST_STEPS = 64


class Locations:
    """Resolves locations against the aliases of one text; each alias once."""

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self.aliases = aliases
        self._known: dict[str, tuple[str, int] | None] = {}

    def source(self, text: str | None) -> tuple[str, int] | None:
        """The file and line of a location: the first that is here, else the first."""
        if not text:
            return None
        if text not in self._known:
            self._known[text] = self._found(text)
        return self._known[text]

    def _found(self, text: str) -> tuple[str, int] | None:
        todo, seen, first = [text], set[str](), None
        while todo and len(seen) < MOST_STEPS:
            part = todo.pop()
            if part in seen:
                continue
            seen.add(part)
            for match in _FILE.finditer(part):
                place = (match[1], int(match[2]))
                first = first or place
                if self._there(match[1]):
                    return place
            todo += [self.aliases[name] for name in reversed(_ALIAS.findall(part)) if name in self.aliases]
        return first

    @cached_property
    def _asked(self) -> dict[str, bool]:
        return {}

    def _there(self, path: str) -> bool:
        if path not in self._asked:
            try:
                self._asked[path] = Path(path).is_file()
            except (OSError, ValueError):
                self._asked[path] = False
        return self._asked[path]
