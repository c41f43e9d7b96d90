"""The snippets of the source rules: what a rule's page shows as reported is, and the rest is not."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from neuronlint.finding import Severity
from neuronlint.knowledge.checks import Snippet, check
from neuronlint.source.rules import rules
from neuronlint.source_lane import check_text
from neuronlint.stack import Stack, resolve


def cases() -> Iterator[tuple[str, bool, Snippet]]:
    for rule in rules():
        texts = check(rule.code)
        for wanted, snippets in ((True, texts.reported), (False, texts.passed)):
            yield from ((rule.code, wanted, snippet) for snippet in snippets)


CASES = list(cases())


def stack_of(code: str, snippet: Snippet) -> Stack:
    """The stack that a snippet names, else one that its rule speaks of."""
    words = dict(check(code).stacks[0]) if check(code).stacks and not snippet.stack else dict(snippet.stack)
    sdk = words.get("sdk")
    if sdk is not None and not sdk[0].isdigit():
        sdk = None
    return resolve(
        words.get("target"), words.get("frontend"), sdk, words.get("mode", "inference"), words.get("execution")
    ).stack


@pytest.mark.parametrize(
    ("code", "wanted", "snippet"), CASES, ids=[f"{c}-{w}-{i}" for i, (c, w, _) in enumerate(CASES)]
)
def test_a_snippet(code: str, wanted: bool, snippet: Snippet) -> None:
    """A bad one is reported by its rule; a good one is not, nor does it trade one warning for another."""
    stack = stack_of(code, snippet)
    found = check_text("snippet.py", snippet.text, stack).findings
    said = f"{stack}: {[(f.code, str(f.severity), f.span.line if f.span else 0) for f in found]}\n{snippet.text}"
    assert (code in {finding.code for finding in found}) == wanted, said
    assert wanted or all(finding.severity is Severity.INFO for finding in found), said


def test_every_rule_has_both_and_its_texts() -> None:
    for wanted in (True, False):
        assert {code for code, w, _ in CASES if w is wanted} == {rule.code for rule in rules()}
    for rule in rules():
        texts = check(rule.code)
        assert texts.lane == "source"
        assert texts.headline
        assert rule.words, f"{rule.code} runs on every file"


@pytest.mark.parametrize("rule", rules(), ids=lambda rule: rule.code)
def test_no_placeholder_is_left(rule: object) -> None:
    """Every `{word}` of a rule's texts is filled in what it reports."""
    for code, wanted, snippet in CASES:
        if wanted and code == getattr(rule, "code", None):
            for finding in check_text("snippet.py", snippet.text, stack_of(code, snippet)).findings:
                assert not re.search(r"\{[a-z_]+\}", finding.message + finding.then + (finding.help or "")), finding
                assert len(finding.message) <= 100, finding.message
