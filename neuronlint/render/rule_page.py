"""A rule's page as markdown, built from its texts, and the index of all pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from neuronlint.finding import Severity
from neuronlint.knowledge.checks import by_stack
from neuronlint.stack import EXECUTIONS, FRONTENDS, MODES, Stack

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from neuronlint.finding import Evidence
    from neuronlint.knowledge.checks import Check, Snippet

FAMILIES = {
    "1": "operator support",
    "2": "shapes and control flow",
    "3": "data types and numerics",
    "4": "custom operators and kernels",
    "5": "performance",
    "6": "memory and compiler limits",
    "7": "source: devices, libraries, environment",
    "8": "source: training and serving loop",
    "9": "neuronlint's own",
}
LANES = {
    "graph": "graph check: it needs PyTorch, and captures the model",
    "own": "about the run itself",
    "source": "source check: it reads the file and runs nothing",
}
MARK = "<!-- Written by `neuronlint explain --all` from rules/checks/: edit that, then run `make docs`. -->"
"""The first line of every page that this module writes: only such files are ever replaced or removed."""

_MARKUP = re.compile(r"[\\`*<\[\]]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")

WAY = ("frontend", "execution", "mode")
Way = tuple[str, ...]
"""How a model is run: the values of `WAY`, the last of which may be left open."""


def family(code: str) -> str:
    """What the rules of this code's hundred are about."""
    return FAMILIES[code[3]]


def summary(rule: Check) -> str:
    """The headline without its placeholders, or the rule's name where nothing else is left of it."""
    text = re.sub(r"(: …| \(…\))$", "", plain(rule.headline))
    return text if re.search(r"\w", text) else rule.name.replace("-", " ").capitalize()


def plain(text: str) -> str:
    """A text of a rule with its `{words}` left open."""
    return re.sub(r"\{[a-z_]+\}", "…", text)


def markdown(rule: Check, names: Sequence[str] = ()) -> str:
    """The whole page; `names` are further lines, what the rule looks for, see `rule_names`."""
    return "\n".join(_page(rule, names)).rstrip() + "\n"


def index(rules: Sequence[Check]) -> str:
    """A page that lists all others, by family."""
    return "\n".join(_index(rules)).rstrip() + "\n"


def severities(rule: Check, way: Way = ()) -> str:
    """The severity on a way to run, and what it is on part of it: `warning; error on trn1`."""
    known = dict(zip(WAY, way, strict=False))
    special: list[str] = []
    for row in rule.severity_on:
        if not _may_be(row, way):
            continue
        rest = {key: value for key, value in row.items() if key not in known and key != "severity"}
        if not rest:
            return "; ".join([row["severity"], *special])
        special.append(f"{row['severity']} on {_words(rest)}")
    return "; ".join([str(rule.severity), *special])


def _page(rule: Check, names: Sequence[str]) -> Iterator[str]:
    yield from (MARK, "", f"# {rule.code} {rule.name}", "")
    yield from (f"{_sentence(_escaped(summary(rule)))}", "")
    yield from (f"Family NRN{rule.code[3]}xx, {family(rule.code)}. {_sentence(LANES[rule.lane])}", "")
    yield from _what_happens(rule)
    yield from _section("What to do", _advice(rule))
    yield from names
    yield from _snippets("Reported", rule.reported)
    yield from _snippets("Not reported", rule.passed)
    yield from _section("How this is known", [f"- {_source(item)}" for item in rule.evidence])
    yield from _suppressing(rule)


def _section(title: str, lines: Iterable[str]) -> Iterator[str]:
    body = list(lines)
    if body:
        yield from (f"## {title}", "", *body, "")


def _what_happens(rule: Check) -> Iterator[str]:
    """One line where every way to run says the same, else a table; ways that the rule never speaks of are left out."""
    rows = [(way, severities(rule, way), plain(by_stack(rule.then, _stack(way)))) for way in _ways(rule)]
    told = {(severity, then) for _, severity, then in rows}
    yield from ("## What happens", "")
    if rule.stacks:
        yield from (f"Reported only on {' or '.join(_words(row) for row in rule.stacks)}.", "")
    if len(told) == 1:
        severity, then = told.pop()
        yield f"Severity: {severity}. {_sentence(_escaped(then))}".rstrip()
    else:
        yield from ("| stack | severity | what happens |", "|---|---|---|")
        yield from (f"| {' '.join(way)} | {severity} | {cell(then)} |" for way, severity, then in rows)
    yield ""
    if rule.superseded_by:
        yield from (f"Not reported on a line where {' or '.join(rule.superseded_by)} is.", "")


def _ways(rule: Check) -> list[Way]:
    """Every frontend and execution that the rule speaks of, told apart by mode where its facts do so."""
    rows = (*rule.severity_on, *rule.stacks)
    by_mode = any("mode" in row for row in rows) or any(key.split("/")[-1] in MODES for key in rule.then)
    ways: list[Way] = [(frontend, execution) for frontend in FRONTENDS for execution in EXECUTIONS[frontend]]
    if by_mode:
        ways = [(*way, mode) for way in ways for mode in MODES]
    return [way for way in ways if not rule.stacks or any(_may_be(row, way) for row in rule.stacks)]


def _may_be(row: Mapping[str, str], way: Way) -> bool:
    """Whether a row speaks of a way to run, or of part of it."""
    return all(row.get(key, value) == value for key, value in zip(WAY, way, strict=False))


def _stack(way: Way) -> Stack:
    return Stack(**dict(zip(WAY, way, strict=False)))  # type: ignore[arg-type]


def _words(row: Mapping[str, str]) -> str:
    """`xla training, SDK <2.30`: a row of `stacks` or `severity_on`."""
    words = " ".join(value for key, value in row.items() if key not in ("severity", "sdk"))
    return ", ".join(filter(None, [words, f"SDK {row['sdk']}" if "sdk" in row else ""]))


def _advice(rule: Check) -> Iterator[str]:
    yield from (f"- {_escaped(plain(text))}" for text in rule.help)
    for stack, text in rule.advice.items():
        yield f"- {'elsewhere' if stack == '*' else stack.replace('/', ' ')}: {_escaped(plain(text))}"


def _snippets(title: str, snippets: Sequence[Snippet]) -> Iterator[str]:
    if not snippets:
        return
    yield from (f"## {title}", "")
    for snippet in snippets:
        given = _given(snippet)
        yield from ([f"{given}:", ""] if given else [])
        yield from ("```python", *(line.rstrip() for line in snippet.text.strip("\n").split("\n")), "```", "")


def _given(snippet: Snippet) -> str:
    """`With inputs float32[1,3] on inf2`: what the snippet is judged with, where that is not the default."""
    inputs = f"with {', '.join(f'`{spec}`' for spec in snippet.inputs)}" if snippet.inputs else ""
    stack = f"on {_words(snippet.stack)}" if snippet.stack else ""
    words = f"{inputs} {stack}".strip()
    return words[:1].upper() + words[1:]


def _source(item: Evidence) -> str:
    source = re.sub(r"^([\w.-]+/[\w.-]+)#(\d+)$", r"[\g<0>](https://github.com/\1/issues/\2)", item.source)
    shown = source if source != item.source else _escaped(source)
    sdk = "" if item.sdk in ("", "*") else f", SDK {item.sdk.replace(',', ' ')}"
    return f"{item.kind}: {shown}{_escaped(sdk)}{f' - {_escaped(item.note)}' if item.note else ''}"


def _suppressing(rule: Check) -> Iterator[str]:
    yield from ("## Suppress it", "", "On its line, with the reason:", "")
    yield from ("```python", f"...  # neuronlint: ignore[{rule.code}] reason", "```", "")
    yield f'In `[tool.neuronlint]` of pyproject.toml: `ignore = ["{rule.code}"]`, or `per-file-ignores` for some files.'
    if rule.lane == "graph":
        yield "For code that is not yours: an entry of `[[tool.neuronlint.ignore]]` with `module`, `rule` and `reason`."


def _index(rules: Sequence[Check]) -> Iterator[str]:
    yield from (MARK, "", "# Rules", "", "`neuronlint explain CODE` shows the same pages in the terminal.", "")
    for digit, title in FAMILIES.items():
        members = [rule for rule in rules if rule.code[3] == digit]
        if members:
            yield from (
                f"## NRN{digit}xx: {title}",
                "",
                "| rule | name | severity | what it finds |",
                "|---|---|---|---|",
            )
            yield from (_row(rule) for rule in members)
            yield ""


def _row(rule: Check) -> str:
    found = {rule.severity, *(Severity(row["severity"]) for row in rule.severity_on)}
    words = [str(severity) for severity in sorted(found, key=lambda severity: -severity.rank)]
    return f"| [{rule.code}]({rule.code}.md) | {rule.name} | {' or '.join(words)} | {cell(summary(rule))} |"


def cell(text: str) -> str:
    """A text of a rule as a cell of a table."""
    return _escaped(plain(text)).replace("|", "\\|").replace("\n", " ")


def _sentence(text: str) -> str:
    """With a capital letter and a full stop; text that begins with code stays as it is."""
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', ':', '?', '!')) else '.'}" if text else ""


def _escaped(text: str) -> str:
    """Text in which nothing outside backticks is taken for markup; an underscore inside a word is none."""
    parts = text.split("`")
    if len(parts) % 2 == 0:  # a lone backtick opens nothing
        return _MARKUP.sub(r"\\\g<0>", text)
    return "`".join(part if at % 2 else _MARKUP.sub(r"\\\g<0>", part) for at, part in enumerate(parts))
