"""The rules of the source lane: every module of this package that holds a `SourceRule` is one."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack

__all__ = ["SourceRule", "findings", "on", "rules"]


@cache
def rules() -> tuple[SourceRule, ...]:
    """One of every rule, by code."""
    found: dict[str, SourceRule] = {}
    for module in pkgutil.iter_modules(__path__):
        names = vars(importlib.import_module(f"{__name__}.{module.name}"))
        for value in names.values():
            if isinstance(value, type) and issubclass(value, SourceRule) and hasattr(value, "code"):
                found[value.code] = value()
    return tuple(found[code] for code in sorted(found))


@cache
def on(stack: Stack) -> frozenset[str]:
    """The codes of the rules that have something to say on a stack."""
    return frozenset(rule.code for rule in rules() if rule.applies(stack))


@cache
def _applies(rule: SourceRule, stack: Stack) -> bool:
    return rule.applies(stack)


def findings(file: SourceFile, stack: Stack) -> Iterator[Finding]:
    """What the rules say of a file, in no order. Rules whose words the text does not hold are not run, and their
    texts not even read."""
    held: dict[str, bool] = {}
    text = file.text
    for rule in rules():
        for word in rule.words:
            if (known := held.get(word)) is None:
                known = held[word] = word in text
            if known:
                if _applies(rule, stack):
                    yield from rule.check(file, stack)
                break
