"""What every graph rule is made of: the context it looks at, and findings built from its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.finding import Confidence, Finding, Neighbour, Neighbourhood, Severity
from neuronlint.graph.opgraph import CallNode, CaptureEvent, OpGraph
from neuronlint.knowledge import Advice, Knowledge, Placement, Verdict
from neuronlint.knowledge.attributes import named_arguments
from neuronlint.knowledge.checks import Check, check, filled
from neuronlint.stack import Stack

SHOWN_OPERANDS, SHOWN_RESULTS = 3, 2
MOST_NEIGHBOURS = 6


@dataclass(frozen=True)
class Context:
    """A captured model on a stack; `verdicts` stand in the order of the graph's nodes."""

    graph: OpGraph
    stack: Stack
    verdicts: Sequence[Verdict]
    knowledge: Knowledge

    def judged(self) -> Iterator[tuple[CallNode, Verdict]]:
        return zip(self.graph.nodes, self.verdicts, strict=True)

    def around(self, index: int) -> Neighbourhood:
        """The call of this index with the nearest calls that feed it, and the first that it feeds."""
        producers = sorted(set(self.graph.nodes[index].inputs))[-MOST_NEIGHBOURS:]
        consumers = self._consumers.get(index, [])[:MOST_NEIGHBOURS]
        return Neighbourhood(
            self._neighbour(index), tuple(map(self._neighbour, producers)), tuple(map(self._neighbour, consumers))
        )

    def _neighbour(self, index: int) -> Neighbour:
        return Neighbour(index, describe(self.graph.nodes[index].call))

    @cached_property
    def _consumers(self) -> dict[int, list[int]]:
        """The calls that take each call's results, in order."""
        found: dict[int, list[int]] = {}
        for node in self.graph.nodes:
            for source in set(node.inputs):
                found.setdefault(source, []).append(node.index)
        return found


class GraphRule:
    """A rule of the graph lane. `check` yields one finding a place; equal ones are folded afterwards."""

    code: ClassVar[str]

    def check(self, context: Context) -> Iterator[Finding]:
        raise NotImplementedError

    @property
    def texts(self) -> Check:
        return check(self.code)

    def at_call(self, context: Context, node: CallNode, verdict: Verdict, **words: str) -> Finding:
        """A finding at a call that says what its verdict says."""
        told = {
            "op": node.call.name,
            "attributes": named_arguments(verdict.when, node.call) or "these arguments",
            **words,
        }
        severity = limited(verdict.severity or self.texts.severity_for(context.stack), verdict.confidence)
        template = verdict.message or self.texts.headline
        finding = self.draft(context, template, severity, told, verdict.confidence)
        return replace(
            _placed(finding, node),
            op=node.call.op,
            details=describe(node.call),
            help=verdict.help or finding.help,
            evidence=verdict.evidence or finding.evidence,
            compiler_code=verdict.compiler_code,
            around=context.around(node.index),
        )

    def at_advice(self, context: Context, node: CallNode, advice: Advice) -> Finding:
        """A finding at a call that a fact speaks of without changing its placement."""
        told = {"op": node.call.name, "attributes": named_arguments(advice.when, node.call) or "these arguments"}
        severity = limited(advice.severity, advice.confidence)
        finding = self.draft(context, advice.message or self.texts.headline, severity, told, advice.confidence)
        return replace(
            _placed(finding, node),
            op=node.call.op,
            details=describe(node.call),
            help=advice.help or finding.help,
            evidence=advice.evidence or finding.evidence,
            compiler_code=advice.compiler_code,
            around=context.around(node.index),
        )

    def at_event(
        self, context: Context, event: CaptureEvent, severity: Severity | None = None, **words: str
    ) -> Finding:
        """A finding at something that capture saw beside the calls; `text` replaces the event's own."""
        told = {"text": event.text, "op": event.op, **words}
        finding = self.draft(context, self.texts.headline, severity or self.texts.severity_for(context.stack), told)
        around = None if event.call is None else context.around(event.call)
        return replace(_placed(finding, event), op=event.op or None, around=around)

    def on_model(self, context: Context, severity: Severity | None = None, **words: str) -> Finding:
        """A finding on the model as a whole, which has no line of its own."""
        return self.draft(context, self.texts.headline, severity or self.texts.severity_for(context.stack), words)

    def draft(
        self,
        context: Context,
        template: str,
        severity: Severity,
        words: Mapping[str, str],
        confidence: Confidence = Confidence.HIGH,
    ) -> Finding:
        """A finding with the rule's texts, not yet placed.

        Advice of low confidence rests on one report: it does not say that anything will happen.
        """
        doubtful = severity is Severity.INFO and confidence is Confidence.LOW
        return Finding(
            code=self.code,
            name=self.texts.name,
            severity=severity,
            confidence=confidence,
            message=filled(template, words),
            model=context.graph.name or None,
            then="" if doubtful else _then(self.texts, context.stack),
            help="; ".join(self.texts.help) or None,
            evidence=self.texts.evidence,
            compiler_code=self.texts.compiler_code,
        )


class VerdictRule(GraphRule):
    """Reports the verdicts and the advice that name this rule as their family.

    A fact that a whole chain of calls meets, a type that is carried on for one, is reported where the chain starts.
    """

    def check(self, context: Context) -> Iterator[Finding]:
        told: set[str] = set()
        waiting: dict[str, Finding] = {}
        for node, verdict in context.judged():
            for fact, finding in self.of_call(context, node, verdict):
                if fact.once and fact.fact in told:
                    continue
                if fact.root:
                    told.add(fact.fact)
                    yield finding
                else:
                    waiting.setdefault(fact.fact, finding)
        yield from (finding for fact_id, finding in waiting.items() if fact_id not in told)

    def of_call(self, context: Context, node: CallNode, verdict: Verdict) -> Iterator[tuple[Verdict | Advice, Finding]]:
        if verdict.family == self.code and verdict.placement in (Placement.CPU, Placement.FAILS):
            yield verdict, self.at_call(context, node, verdict)
        for advice in verdict.advice:
            if advice.family == self.code:
                yield advice, self.at_advice(context, node, advice)


def counted(number: int, noun: str) -> str:
    """`1 chip`, `2 chips`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def limited(severity: Severity, confidence: Confidence) -> Severity:
    """Evidence of low confidence never makes an error."""
    low = confidence is Confidence.LOW and severity is Severity.ERROR
    return Severity.WARNING if low else severity


def describe(call: OperatorCall) -> str:
    """The call as it stands beside the marked span: `aten.nonzero.default  bool[8400] -> int64[u0, 1]`."""
    operands = _listed(list(call.tensors()), SHOWN_OPERANDS)
    results = _listed(list(call.outputs), SHOWN_RESULTS)
    shown = f"{call.op}  {operands} -> {results}" if results else f"{call.op}  {operands}"
    return shown.rstrip()


def _listed(tensors: Sequence[TensorMeta], most: int) -> str:
    shown = ", ".join(map(str, tensors[:most]))
    return shown if len(tensors) <= most else f"{shown}, …"


def _then(texts: Check, stack: Stack) -> str:
    """What happens, after the name of the stack's way to run."""
    then = texts.then_for(stack)
    return f"{stack.frontend} {stack.execution}: {then}" if then else ""


def _placed(finding: Finding, at: CallNode | CaptureEvent) -> Finding:
    return replace(
        finding, span=at.span, through=at.through, through_text=at.through_text, module_path=at.module_path or None
    )
