"""Python that reads a tensor's value: control flow, loops and sizes that a recorded graph cannot follow."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity, Span
from neuronlint.graph.opgraph import OPTIMIZER, CallNode, CaptureEvent
from neuronlint.graph.rules.base import Context, GraphRule
from neuronlint.knowledge import Verdict
from neuronlint.knowledge.facts import EventRow

ORDER = ("data-branch", "shape-branch", "host-read", "data-size")
"""The kinds of event, the one that says most first: those of one line are one finding."""

VALUES = ("aten._local_scalar_dense.default", "aten.equal.default")
"""Reads that give Python a value to go on with; a copy to the host for printing gives none."""

_Place = tuple[Span | None, Span | None]

WORDS = {
    "data-branch": "control flow depends on a tensor's value",
    "shape-branch": "control flow depends on a size that depends on data",
    "host-read": "Python reads a tensor's value",
    "data-size": "Python uses a size that depends on data",
}


class DataDependentControlFlow(GraphRule):
    code = "NRN202"

    def check(self, context: Context) -> Iterator[Finding]:
        events = [event for event in context.graph.events if event.kind in ORDER and not _of_optimizer(context, event)]
        derived = _has_cause(context, events)
        seen = {_place(event) for event in events}
        for group in _by_place(events):
            if group[0].kind != "data-size" or not derived:
                yield self._finding(context, group)
        for node, verdict in context.judged():
            if verdict.family == self.code and _place(node) not in seen:
                yield self._read(context, node, verdict)

    def _finding(self, context: Context, group: list[CaptureEvent]) -> Finding:
        first = group[0]
        known = _known(context, first)
        severity = known.severity if known else _severity(context, group)
        finding = self.at_event(context, first, severity, text=WORDS[first.kind])
        if known is None:
            return finding
        return replace(finding, message=known.message or finding.message, help=known.help, evidence=known.evidence)

    def _read(self, context: Context, node: CallNode, verdict: Verdict) -> Finding:
        return self.at_call(
            context, node, replace(verdict, severity=verdict.severity or Severity.WARNING), text=WORDS["host-read"]
        )


def _severity(context: Context, group: list[CaptureEvent]) -> Severity | None:
    """A trace keeps what was read: wrong for the next input, and harmless where no input has a part in it.

    What a layer of torch reads is no more than a warning: its cause is elsewhere. On other stacks a read is slow,
    and a branch on data is what the rule says.
    """
    if context.stack.execution == "trace":
        calls = [event.call for event in group if event.call is not None]
        if calls and not any(_needs_input(context, call) for call in calls):
            return Severity.INFO
        of_torch = any(context.graph.nodes[call].module_class.startswith("torch.nn.") for call in calls)
        if group[0].kind == "host-read" and group[0].op in VALUES and not group[0].through and not of_torch:
            return None
    return None if group[0].kind == "data-branch" else Severity.WARNING


def _needs_input(context: Context, call: int) -> bool:
    """Whether an input of the model has a part in what a call reads."""
    seen, waiting = {call}, [call]
    while waiting:
        node = context.graph.nodes[waiting.pop()]
        if any(meta.origin == "input" for meta in node.call.tensors()):
            return True
        fresh = set(node.inputs) - seen
        seen |= fresh
        waiting += fresh
    return False


def _of_optimizer(context: Context, event: CaptureEvent) -> bool:
    """Whether the optimizer reads its own step count, which is on the host."""
    return event.call is not None and context.graph.nodes[event.call].phase == OPTIMIZER


def _by_place(events: Iterable[CaptureEvent]) -> list[list[CaptureEvent]]:
    """The events of each place and module, the one that says most first."""
    groups: dict[tuple[_Place, str], list[CaptureEvent]] = {}
    for event in events:
        groups.setdefault((_place(event), event.module_path), []).append(event)
    return [sorted(group, key=lambda event: ORDER.index(event.kind)) for group in groups.values()]


def _place(at: CallNode | CaptureEvent) -> _Place:
    """The user's line and the library's: what stands on one line belongs together, wherever in it."""
    return _line(at.span), _line(at.through)


def _line(span: Span | None) -> Span | None:
    return Span(span.path, span.line) if span else None


def _known(context: Context, event: CaptureEvent) -> EventRow | None:
    """A fact on the library line that the event came through."""
    where = event.through.path if event.through else (event.span.path if event.span else "")
    return context.knowledge.facts.event(event.kind, where) or context.knowledge.facts.event(
        event.kind, event.through_text
    )


def _has_cause(context: Context, events: Iterable[CaptureEvent]) -> bool:
    """Whether something else is reported that made the sizes which Python uses."""
    return any(event.kind == "host-read" for event in events) or any(v.family == "NRN201" for v in context.verdicts)
