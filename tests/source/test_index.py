"""The index of the source rules: it holds each of them, once, in the order of their codes."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter

from neuronlint.source import rules as package
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.rules.index import RULES


def written() -> Counter[tuple[str, str]]:
    """The code and module of every rule that a module of the package defines."""
    found: Counter[tuple[str, str]] = Counter()
    for item in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{item.name}")
        kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, SourceRule)]
        found.update((kind.code, item.name) for kind in kinds if "code" in vars(kind))
    return found


def test_every_rule_is_in_the_index_and_no_other() -> None:
    assert written() == Counter((code, module) for code, (module, _) in RULES.items())


def test_no_rule_has_words_of_its_own() -> None:
    """They would count for nothing."""
    assert [rule.code for rule in package.rules() if "words" in vars(type(rule))] == []


def test_the_index_is_in_order_and_every_rule_has_words() -> None:
    assert list(RULES) == sorted(RULES)
    for code, (_, words) in RULES.items():
        assert words, code
        assert all(words), code
        assert not any(space in word for word in words for space in "\n\t"), f"{code}: words are looked for in lines"
        assert len(set(words)) == len(words), code
