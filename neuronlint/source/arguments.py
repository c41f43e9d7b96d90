"""Tables of arguments in `rules/source/arguments/`: what a keyword of a call means on each stack."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from neuronlint.finding import Confidence, Evidence, Finding, Fix, Severity
from neuronlint.knowledge.checks import by_stack, keyed
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.spread import given as given_to
from neuronlint.source.tables import table as named
from neuronlint.source.tree import dotted, keyword
from neuronlint.source.values import Value, is_cuda_test, values
from neuronlint.stack import Stack, sdk_matches

CUDA_TEST = object()
"""Stands for the value of a test for CUDA: true on a GPU, false on the chip."""


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """One row: calls, one of their keywords, and the values that matter.

    `calls` are globs over dotted names (`*` for any call), `methods` plain names of methods whatever they are called
    on. `values` are literals; none at all means whatever is given. With `absent`, calls without the keyword have the
    first of the values, but for those with a keyword of `instead`, which says as much. Where a test for CUDA chooses
    the value, the chip does not get it: `then_guarded` says what happens, `guarded` how bad it is at most. `fix` is
    the text that takes the value's place, or with `rename` that of the whole argument.
    """

    calls: tuple[str, ...]
    methods: frozenset[str]
    keyword: str
    values: tuple[object, ...]
    severity: Mapping[str, str]
    then: Mapping[str, str]
    then_guarded: Mapping[str, str]
    help: Mapping[str, str]
    evidence: tuple[Evidence, ...]
    confidence: Confidence
    sdk: str
    fix: str
    rename: bool
    safe: bool
    absent: bool
    instead: frozenset[str]
    guarded: str


class ArgumentRule(SourceRule):
    """A rule that is a table of arguments: those of `rules/source/arguments/<table>.toml`."""

    table: str

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for row in _rows(self.table):
            severity = by_stack(row.severity, stack)
            if severity == "off" or not sdk_matches(row.sdk, stack.sdk):
                continue
            for call in _calls(file, row) if row.absent or row.keyword in file.text else ():
                given = given_to(file, call, row.keyword)
                if self.passes(file, call):
                    continue
                if given is not None:
                    yield from self.judged(file, call, given, row, stack)
                elif row.absent and not any(item.arg in (None, *row.instead) for item in call.keywords):
                    text = f"{file.tree.segment(call.func, 40)}(…)"
                    yield self._finding(file, call, row, stack, by_stack(row.then, stack), text)

    def passes(self, file: SourceFile, call: ast.Call) -> bool:
        """Whether a call is none of the rule's business; for rules that know more than the table."""
        return False

    def rows(self) -> tuple[Argument, ...]:
        """The rows of the rule's table."""
        return _rows(self.table)

    def judged(
        self, file: SourceFile, call: ast.Call | None, given: ast.expr, row: Argument, stack: Stack
    ) -> Iterator[Finding]:
        """The finding at a value, where it is one of a row's; `call` is what takes it."""
        found = next((value for value in _given(file, given, row) if _fits(row, value)), None)
        if found is None or (found.where_cuda is False and found.value is not CUDA_TEST):
            return
        guarded = found.where_cuda is True
        then = (by_stack(row.then_guarded, stack) if guarded else "") or by_stack(row.then, stack)
        text = row.keyword if isinstance(given, ast.Dict) else f"{row.keyword}={file.tree.segment(given, 40)}"
        finding = replace(self._finding(file, given, row, stack, then, text), fix=_fix(file, call, given, row))
        if not guarded:
            finding = self.switched_off(file, given, finding)
        elif finding.severity.rank > Severity(row.guarded).rank:
            finding = replace(finding, severity=Severity(row.guarded), fix=None)
        yield self.weighed(file, found.node, finding)

    def weighed(self, file: SourceFile, node: ast.expr, finding: Finding) -> Finding:
        """A finding with what the rule alone knows of its place."""
        return finding

    def _finding(self, file: SourceFile, node: ast.AST, row: Argument, stack: Stack, then: str, text: str) -> Finding:
        return self.at(
            file,
            node,
            stack,
            severity=Severity(by_stack(row.severity, stack) or self.texts.severity_for(stack)),
            confidence=row.confidence,
            then=then or None,
            advice=by_stack(row.help, stack),
            evidence=row.evidence,
            text=text,
        )


def _calls(file: SourceFile, row: Argument) -> Iterator[ast.Call]:
    if "*" in row.calls:
        yield from file.tree.of(ast.Call)
        return
    yield from file.names.calls_like(row.calls)
    yield from file.names.methods(*row.methods)


def _given(file: SourceFile, given: ast.expr, row: Argument) -> Iterator[Value]:
    if is_cuda_test(file, given):
        yield Value(CUDA_TEST, given, True)
    elif isinstance(given, ast.Dict):
        for item in given.values:
            yield from values(file, item)
    elif not row.values:
        yield from _any(file, given)
    else:
        yield from values(file, given)


def _any(file: SourceFile, given: ast.expr) -> Iterator[Value]:
    found = list(values(file, given))
    empty = (None, False, "")
    yield from (v for v in found if v.value not in empty)
    if not found and not dotted(given):
        yield Value(given, given)


def _fits(row: Argument, value: Value) -> bool:
    if value.value is CUDA_TEST:
        return not row.values or True in row.values
    return not row.values or any(value.value == v and type(value.value) is type(v) for v in row.values)


def _fix(file: SourceFile, call: ast.Call | None, given: ast.expr, row: Argument) -> Fix | None:
    if not row.fix or not isinstance(given, ast.Constant):
        return None
    if not row.rename:
        return Fix(f"`{row.keyword}={row.fix}`", (replaced(file, given, row.fix),), row.safe)
    if call is None or keyword(call, row.fix.split("=")[0]) is not None:
        return None
    argument = next((item for item in call.keywords if item.value is given), None)
    if argument is None:  # it stands in a dictionary
        return None
    return Fix(f"`{row.fix}`", (replaced(file, argument, row.fix),), row.safe)


@cache
def _rows(table: str) -> tuple[Argument, ...]:
    return tuple(_argument(row) for row in named(f"arguments/{table}")["argument"])


def _argument(row: Mapping[str, Any]) -> Argument:
    return Argument(
        calls=tuple(row.get("calls", ())),
        methods=frozenset(row.get("methods", ())),
        keyword=row["keyword"],
        values=tuple(row.get("values", ())),
        severity=keyed(row.get("severity", {})),
        then=keyed(row.get("then", {})),
        then_guarded=keyed(row.get("then_guarded", {})),
        help=keyed(row.get("help", {})),
        evidence=evidence_of(row["evidence"]),
        confidence=Confidence(row.get("confidence", "high")),
        sdk=row.get("sdk", "*"),
        fix=row.get("fix", ""),
        rename=row.get("rename", False),
        safe=row.get("safe", False),
        absent=row.get("absent", False),
        instead=frozenset(row.get("instead", ())),
        guarded=row.get("guarded", "error"),
    )
