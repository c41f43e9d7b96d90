"""The texts of the rules: one TOML file a code in `rules/checks/`, read when the code is first asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

from neuronlint.data import load_toml, rules_root
from neuronlint.errors import ConfigurationError, KnowledgeError
from neuronlint.finding import Evidence, Severity
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.nearest import nearest
from neuronlint.stack import Stack, sdk_matches

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

RULE_URL = "https://neuronlint.dev/rules/{code}"
"""Where a rule's page is published; the one place that knows it."""


@dataclass(frozen=True, slots=True)
class Snippet:
    """A piece of a user's code that a rule reports, or passes over.

    `inputs` are the specs to capture a model with, `stack` the words of the stack it speaks of (target, frontend,
    sdk, mode, execution), `imports` the lines that it needs beside those of torch, nn and functional.
    """

    code: str
    inputs: tuple[str, ...] = ()
    stack: Mapping[str, str] = field(default_factory=dict)
    imports: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The code as it is shown, after the imports of its own."""
        return "\n".join([*self.imports, "", "", self.code]) if self.imports else self.code


@dataclass(frozen=True, slots=True)
class Check:
    """A rule's facts and texts.

    `severity_on` holds tables whose keys other than `severity` name parts of a stack; the first that fits it
    decides. `then` and `advice` are keyed by stack, see `then_for`. `reported` and `passed` are snippets that it
    reports and not. `stacks` are the parts of stacks that it speaks of, all where there are none; `patterns` the
    migration patterns behind it; `superseded_by` the graph rules whose finding on the same line makes its own one too
    many.
    """

    code: str
    name: str
    lane: str
    severity: Severity
    severity_on: tuple[Mapping[str, str], ...]
    headline: str
    then: Mapping[str, str]
    help: tuple[str, ...]
    reported: tuple[Snippet, ...]
    passed: tuple[Snippet, ...]
    evidence: tuple[Evidence, ...]
    compiler_code: str | None = None
    stacks: tuple[Mapping[str, str], ...] = ()
    patterns: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    advice: Mapping[str, str] = field(default_factory=dict)

    @property
    def bad(self) -> tuple[str, ...]:
        """The snippets that the rule reports, to show."""
        return tuple(snippet.text for snippet in self.reported)

    @property
    def good(self) -> tuple[str, ...]:
        """The snippets that the rule passes over, to show."""
        return tuple(snippet.text for snippet in self.passed)

    @property
    def url(self) -> str:
        return rule_url(self.code)

    def severity_for(self, stack: Stack) -> Severity:
        """The severity on a stack: the first entry of `severity_on` that fits, else the rule's own."""
        for row in self.severity_on:
            if fits(row, stack):
                return Severity(row["severity"])
        return self.severity

    def then_for(self, stack: Stack) -> str:
        """What happens on a stack, from the most exact key that the rule has; empty where it says nothing."""
        return by_stack(self.then, stack)

    def help_for(self, stack: Stack) -> str:
        """What to do on a stack: the advice for it, else the help that holds everywhere."""
        return by_stack(self.advice, stack) or "; ".join(self.help)


def by_stack(texts: Mapping[str, str], stack: Stack) -> str:
    """The text of the most exact key that fits a stack: `xla/trace/inference`, `xla/trace`, `xla/inference`, `xla`,
    `*`; empty where there is none."""
    frontend, execution, mode = stack.frontend, stack.execution, stack.mode
    keys = (f"{frontend}/{execution}/{mode}", f"{frontend}/{execution}", f"{frontend}/{mode}", frontend, "*")
    return next((texts[key] for key in keys if key in texts), "")


def keyed(value: str | Mapping[str, str]) -> Mapping[str, str]:
    """A text for every stack, or one for each, as `by_stack` takes it."""
    return {"*": value} if isinstance(value, str) else value


def filled(template: str, words: Mapping[str, str]) -> str:
    """A template with its `{words}` put in as they are; a word that is not given stands as it is."""
    return re.sub(r"\{(\w+)\}", lambda match: words.get(match[1], match[0]), template)


def fits(row: Mapping[str, str], stack: Stack) -> bool:
    """Whether a stack has every word of a row (target, frontend, execution, mode; `sdk` is a range)."""
    for key, wanted in row.items():
        if key == "sdk" and not sdk_matches(wanted, stack.sdk):
            return False
        if key not in ("severity", "sdk") and getattr(stack, key, None) != wanted:
            return False
    return True


def rule_url(code: str) -> str:
    """The address of a rule's page."""
    return RULE_URL.format(code=code)


def is_code(selector: str) -> bool:
    """Whether a selector has the form of a code, or of the prefix of one."""
    return selector[:3].upper() == "NRN" and (len(selector) == 3 or selector[3:].isdecimal())


@cache
def codes() -> tuple[str, ...]:
    """Every code that has a file, sorted."""
    return tuple(sorted(path.stem for path in _folder().glob("NRN*.toml")))


@cache
def check(code: str) -> Check:
    """The rule of a code. Raises `KnowledgeError` where it has no file or the file lacks something."""
    path = _folder() / f"{code}.toml"
    row = load_toml(path)
    try:
        return _check(row)
    except (KeyError, TypeError, ValueError) as error:
        raise KnowledgeError(f"{path}: {_what(error)}; repair the file or reinstall neuronlint") from None


@cache
def names() -> Mapping[str, str]:
    """The code of each rule's kebab-case name."""
    return {check(code).name: code for code in codes()}


def find(text: str) -> Check:
    """The rule of a code or a name, in any case. Raises `ConfigurationError` that names the nearest."""
    wanted = text.strip()
    if wanted.upper() in codes():
        return check(wanted.upper())
    if wanted.lower() in names():
        return check(names()[wanted.lower()])
    near = nearest(wanted.upper(), codes()) or nearest(wanted.lower(), names())
    hint = f"did you mean {near}? " if near else ""
    raise ConfigurationError(f"no rule `{text}`; {hint}`neuronlint rules` lists them all")


def _folder() -> Path:
    return rules_root() / "checks"


def _what(error: Exception) -> str:
    return f"the key {error} is missing" if isinstance(error, KeyError) else str(error)


def _check(row: Mapping[str, Any]) -> Check:
    text = row["text"]
    return Check(
        code=row["code"],
        name=row["name"],
        lane=row["lane"],
        severity=Severity(row["severity"]),
        severity_on=tuple(row.get("severity_on", ())),
        headline=text["headline"],
        then=keyed(text.get("then", {})),
        help=() if isinstance(text.get("help"), dict) else _texts(text.get("help", ())),
        advice=text["help"] if isinstance(text.get("help"), dict) else {},
        reported=tuple(_snippet(item) for item in row.get("bad", ())),
        passed=tuple(_snippet(item) for item in row.get("good", ())),
        evidence=evidence_of(row.get("evidence", ())),
        compiler_code=next((e["compiler_code"] for e in row.get("evidence", ()) if "compiler_code" in e), None),
        stacks=tuple(row.get("stacks", ())),
        patterns=tuple(row.get("patterns", ())),
        superseded_by=tuple(row.get("superseded_by", ())),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


def _snippet(row: Mapping[str, Any]) -> Snippet:
    return Snippet(row["code"], tuple(row.get("inputs", ())), dict(row.get("stack", {})), tuple(row.get("imports", ())))
