"""Tables of names in `rules/source/apis/`: what a call, an attribute or an import of a name means on each stack."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any, ClassVar

from neuronlint.finding import Confidence, Evidence, Finding, Fix, Severity
from neuronlint.knowledge.checks import by_stack, keyed
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.source.edits import deleted
from neuronlint.source.file import SourceFile
from neuronlint.source.names import fits
from neuronlint.source.reach import after_check, for_other_library
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table as named
from neuronlint.source.tree import constant
from neuronlint.stack import Stack, sdk_matches


@dataclass(frozen=True, slots=True, eq=False)
class Api:
    """One row: names, and what their use means.

    `use` is how a name is used: call, attribute (read), assign (to the attribute), import, except (caught)
    or text (looked for in another text).
    `severity`, `then` and `help` are keyed by stack as in the rules' texts; a severity of `off` says that nothing is
    wrong there. `guarded` is the highest severity left under a guard on CUDA (`off` for none at all), `caught` that
    inside `try: … except ImportError`. `fix` says what its fix does to a call that is a statement of its own and
    stands under no guard: `delete`. `words` fill placeholders of the rule's texts.
    """

    names: tuple[str, ...]
    use: str
    severity: Mapping[str, str]
    then: Mapping[str, str]
    help: Mapping[str, str]
    evidence: tuple[Evidence, ...]
    confidence: Confidence
    sdk: str
    guarded: str
    caught: str
    fix: str
    words: Mapping[str, str]
    patterns: tuple[str, ...]


class ApiRule(SourceRule):
    """A rule that is a table of names: those of `rules/source/apis/<table>.toml` with the rule's code."""

    table: str
    first_row_decides: ClassVar[bool] = False
    """Whether a use is judged by the first row that fits it, so that a glob may stand below the names it spares."""

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for use in _used_as(self.table, self.code):
            seen = set[tuple[ast.AST, Api]]()
            for node, name in _candidates(file, use):
                on = [row for row in self.rows_of(use, name) if self._is_on(row, stack)]
                for row in on[:1] if self.first_row_decides else on:
                    if (node, row) not in seen and not self._is_left_out(file, node, name, row):
                        seen.add((node, row))
                        yield self._finding(file, node, name, row, stack)

    def rows_of(self, use: str, name: str) -> tuple[Api, ...]:
        """The rows that speak of one use of a name."""
        return _fitting(self.table, self.code, use, name)

    def _is_on(self, row: Api, stack: Stack) -> bool:
        return sdk_matches(row.sdk, stack.sdk) and by_stack(row.severity, stack) != "off"

    def _is_left_out(self, file: SourceFile, node: ast.AST, name: str, row: Api) -> bool:
        if row.guarded == "off" and file.guards.holding(node, "cuda", "other-device") is not None:
            return True
        if any(guard.what == "neuron" and not guard.holds for guard in file.guards.of(node)):
            return True
        return self.passes(file, node, name)

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        """Whether a use is none of the rule's business; for rules that know more than the table."""
        return False

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        severity = Severity(by_stack(row.severity, stack) or self.texts.severity_for(stack))
        finding = self.at(
            file,
            node,
            stack,
            severity=severity,
            confidence=row.confidence,
            then=by_stack(row.then, stack) or None,
            advice=by_stack(row.help, stack),
            evidence=row.evidence,
            fix=self._fix(file, node, row),
            head=True,
            unless=(),
            **{"name": name, **row.words},
        )
        return self._limited(file, node, finding, row)

    def _fix(self, file: SourceFile, node: ast.AST, row: Api) -> Fix | None:
        statement = file.tree.parent(node)
        if row.fix != "delete" or not isinstance(statement, ast.Expr):
            return None
        if file.guards.holding(node, "cuda", "other-device") is not None:
            return None
        return Fix("take the call out", (deleted(file, statement),))

    def _limited(self, file: SourceFile, node: ast.AST, finding: Finding, row: Api) -> Finding:
        if row.guarded == "info":
            finding = self.switched_off(file, node, finding)
            if finding.severity is not Severity.INFO and (for_other_library(file, node) or after_check(file, node)):
                then = "a check before it leaves it to another platform"
                finding = replace(finding, severity=Severity.INFO, then=then)
        if row.caught != "error" and finding.severity is Severity.ERROR and file.guards.holding(node, "import"):
            finding = finding.at(Severity(row.caught))
        return finding


def _candidates(file: SourceFile, use: str) -> Iterator[tuple[ast.AST, str]]:
    """The nodes that use a name in one way, each with the name used."""
    if use == "call":
        for name, calls in file.names.called().items():
            yield from ((call, name) for call in calls)
    elif use == "import":
        yield from imports(file)
    elif use == "attribute":
        for node in _references(file):
            yield from ((node, name) for name in file.names.of(node))
    elif use == "except":
        for handler in file.tree.of(ast.ExceptHandler):
            caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
            yield from ((kind, name) for kind in caught if kind is not None for name in file.names.of(kind))
    elif use == "text":
        yield from _looked_for(file)
    elif use == "assign":
        for assign in file.tree.of(ast.Assign):
            for target in assign.targets:
                yield from ((assign, name) for name in file.names.of(target))


def _looked_for(file: SourceFile) -> Iterator[tuple[ast.AST, str]]:
    """The literals that a text is searched for: `"out of memory" in str(error)`."""
    for compare in file.tree.of(ast.Compare):
        asked = constant(compare.left)
        if isinstance(asked, str) and isinstance(compare.ops[0], ast.In):
            yield compare, asked


def _references(file: SourceFile) -> Iterator[ast.expr]:
    """The names and attributes that are read and start at an import: nothing else has a dotted name to look up."""
    statements: list[ast.Import | ast.ImportFrom] = [*file.tree.of(ast.Import), *file.tree.of(ast.ImportFrom)]
    brought = {alias.asname or alias.name.split(".")[0] for statement in statements for alias in statement.names}
    every: list[ast.Attribute | ast.Name] = [*file.tree.of(ast.Attribute), *file.tree.of(ast.Name)]
    for node in every:
        root: ast.expr = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in brought and isinstance(node.ctx, ast.Load):
            yield node


def imports(file: SourceFile) -> Iterator[tuple[ast.AST, str]]:
    """Every import with the dotted name that it brings in, the module of a `from` import included."""
    for plain in file.tree.of(ast.Import):
        yield from ((plain, alias.name) for alias in plain.names)
    for source in file.tree.of(ast.ImportFrom):
        if not source.level and source.module:
            yield from ((source, f"{source.module}.{alias.name}") for alias in source.names)


@lru_cache(maxsize=1 << 16)
def _fitting(table: str, code: str, use: str, name: str) -> tuple[Api, ...]:
    """The rows of a rule that speak of one use of a name: looked up again for every file."""
    return tuple(row for row in rows(table, code) if row.use == use and fits(name, row.names))


@cache
def _used_as(table: str, code: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.use for row in rows(table, code)))


@cache
def rows(table: str, code: str) -> tuple[Api, ...]:
    """The rows of one rule, in the order of the table."""
    return tuple(_api(row) for row in named(f"apis/{table}")["api"] if row["code"] == code)


def _api(row: Mapping[str, Any]) -> Api:
    return Api(
        tuple(row["names"]),
        row["use"],
        keyed(row.get("severity", {})),
        keyed(row.get("then", {})),
        keyed(row.get("help", {})),
        evidence_of(row["evidence"]),
        Confidence(row.get("confidence", "high")),
        row.get("sdk", "*"),
        row.get("guarded", "info"),
        row.get("caught", "warning"),
        row.get("fix", ""),
        row.get("words", {}),
        tuple(row.get("patterns", ())),
    )
