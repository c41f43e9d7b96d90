"""The rules of the source lane: `index` says where each one is, and which files are worth running it on."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from functools import cache

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.rules.index import RULES
from neuronlint.stack import Stack

__all__ = ["SourceRule", "findings", "on", "rules"]


@cache
def rule(code: str) -> SourceRule:
    """The rule of a code; its module is imported here."""
    module = importlib.import_module(f"{__name__}.{RULES[code][0]}")
    found = [value for value in vars(module).values() if isinstance(value, type) and issubclass(value, SourceRule)]
    return next(kind() for kind in found if getattr(kind, "code", "") == code)


@cache
def rules() -> tuple[SourceRule, ...]:
    """One of every rule, by code."""
    return tuple(rule(code) for code in sorted(RULES))


@cache
def on(stack: Stack) -> frozenset[str]:
    """The codes of the rules that have something to say on a stack."""
    return frozenset(code for code in RULES if rule(code).applies(stack))


@cache
def _applies(code: str, stack: Stack) -> bool:
    return rule(code).applies(stack)


def findings(file: SourceFile, stack: Stack) -> Iterator[Finding]:
    """What the rules say of a file, in no order. Rules whose words the text does not hold are not run: neither they
    nor their texts are even read."""
    for code in _held(file.text):
        if _applies(code, stack):
            yield from rule(code).check(file, stack)


def _held(text: str) -> Iterator[str]:
    """The codes of the rules of whose words a text holds one. Each word is looked for once, in every run of letters
    once: most texts say the same things again and again."""
    held: dict[str, bool] = {}
    runs = "\n".join(set(text.split()))
    for code, (_, words) in RULES.items():
        for word in words:
            if (known := held.get(word)) is None:
                known = held[word] = word.rpartition(" ")[2] in runs and (" " not in word or word in text)
            if known:
                yield code
                break
