"""Rules as SARIF describes them, from their texts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from neuronlint.knowledge import checks
from neuronlint.render.rule_page import MARK, family, markdown, summary
from neuronlint.render.sentences import LEVELS, sentence

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuronlint.finding import Finding
    from neuronlint.stack import Stack

MESSAGE_ID = "default"


def rules(findings: Iterable[Finding], stack: Stack) -> list[dict[str, Any]]:
    """The rules that found something, by code; all of them where none did, to say what was looked for."""
    named = {finding.code: finding for finding in findings}
    if not named:
        return [_known(checks.check(code), stack) for code in checks.codes()]
    known = frozenset(checks.codes())
    return [_known(checks.check(code), stack) if code in known else _foreign(named[code]) for code in sorted(named)]


def _known(rule: checks.Check, stack: Stack) -> dict[str, Any]:
    headline = sentence(_capital(summary(rule)))
    then = sentence(rule.then_for(stack))
    page = markdown(rule).removeprefix(MARK).lstrip()
    advice = " ".join(sentence(text) for text in rule.help) or headline
    return {
        **_named(rule.code, rule.name),
        "shortDescription": {"text": headline},
        "fullDescription": {"text": f"{headline} {_capital(then)}".strip()},
        "help": {"text": _capital(advice), "markdown": page},
        "helpUri": rule.url,
        "defaultConfiguration": {"level": LEVELS[rule.severity_for(stack)]},
        "properties": {"tags": ["neuron", rule.lane, family(rule.code)]},
    }


def _foreign(finding: Finding) -> dict[str, Any]:
    """A rule that ships no texts here, by what its finding says."""
    text = sentence(_capital(finding.name.replace("-", " "))) or finding.code
    return {
        **_named(finding.code, finding.name),
        "shortDescription": {"text": text},
        "fullDescription": {"text": text},
        "help": {"text": sentence(finding.help or "") or text},
        "helpUri": checks.rule_url(finding.code),
        "defaultConfiguration": {"level": LEVELS[finding.severity]},
        "properties": {"tags": ["neuron"]},
    }


def _named(code: str, name: str) -> dict[str, Any]:
    """Validators ask for a message template with dynamic content in quotes; results carry their full text beside it."""
    return {"id": code, "name": _pascal(name) or code, "messageStrings": {MESSAGE_ID: {"text": "'{0}'."}}}


def _pascal(name: str) -> str:
    """`cpu-fallback` as `CpuFallback`."""
    return "".join(word.capitalize() for word in name.split("-"))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
