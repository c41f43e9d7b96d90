"""What every source rule is made of: which files and stacks it looks at, and findings built from its texts."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from neuronlint.finding import Confidence, Evidence, Finding, Fix, Severity
from neuronlint.knowledge.checks import Check, by_stack, check, filled, fits, keyed
from neuronlint.knowledge.evidence import evidence_of
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.index import RULES
from neuronlint.stack import Stack


class SourceRule:
    """A rule of the source lane: one class a file, and a line in `index`, where its words stand.

    `check` yields one finding a place; a rule never raises for odd code.
    """

    code: ClassVar[str]

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        raise NotImplementedError

    @property
    def words(self) -> tuple[str, ...]:
        """Pieces of text of which a file has to hold one for the rule to be worth running."""
        return RULES[self.code][1]

    @property
    def texts(self) -> Check:
        return check(self.code)

    def applies(self, stack: Stack) -> bool:
        """Whether the rule has anything to say on a stack: its `stacks` in `rules/checks`, all where there are none."""
        stacks = self.texts.stacks
        return not stacks or any(fits(row, stack) for row in stacks)

    def at(
        self,
        file: SourceFile,
        node: ast.AST,
        stack: Stack,
        *,
        severity: Severity | None = None,
        confidence: Confidence = Confidence.HIGH,
        then: str | None = None,
        advice: str | None = None,
        evidence: tuple[Evidence, ...] = (),
        fix: Fix | None = None,
        head: bool = True,
        unless: tuple[str, ...] = (),
        **words: str,
    ) -> Finding:
        """A finding at a node; what is not given comes from the rule's texts, whose `{names}` the words fill.

        Evidence of low confidence never makes an error. `unless` names marks of the project that make the finding
        moot, see `SourceResult.marks`.
        """
        texts = self.texts
        wanted = severity or texts.severity_for(stack)
        if confidence is Confidence.LOW and wanted is Severity.ERROR:
            wanted = Severity.WARNING
        return Finding(
            code=self.code,
            name=texts.name,
            severity=wanted,
            confidence=confidence,
            message=filled(texts.headline, words),
            span=file.tree.span(node, head=head),
            then=filled(texts.then_for(stack) if then is None else then, words),
            help=filled(advice or texts.help_for(stack), words) or None,
            evidence=evidence or texts.evidence,
            fix=fix,
            unless=unless,
        )

    def at_row(
        self,
        file: SourceFile,
        node: ast.AST,
        stack: Stack,
        row: Mapping[str, Any],
        *,
        fix: Fix | None = None,
        **words: str,
    ) -> Finding:
        """A finding that a row of a table speaks of: its `severity`, `confidence`, `then` and `help`, each for every
        stack or by stack. A severity that it leaves out is the rule's own."""
        severity = by_stack(keyed(row.get("severity", {})), stack)
        return self.at(
            file,
            node,
            stack,
            severity=Severity(severity) if severity else None,
            confidence=Confidence(by_stack(keyed(row.get("confidence", "high")), stack)),
            then=by_stack(keyed(row["then"]), stack),
            advice=by_stack(keyed(row["help"]), stack),
            evidence=evidence_of(row["evidence"]),
            fix=fix,
            head=True,
            unless=(),
            **words,
        )

    def switched_off(self, file: SourceFile, node: ast.AST, finding: Finding) -> Finding:
        """The same finding at info level where a guard on CUDA rightly switches the code off on the chip."""
        guard = file.guards.holding(node, "cuda", "other-device")
        if guard is None or finding.severity is Severity.INFO:
            return finding
        return replace(
            finding, severity=Severity.INFO, then=f"it never runs there: {file.tree.segment(guard.node, 40)}"
        )
