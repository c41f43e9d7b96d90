"""The block on each model: what was captured, where its calls run, what is unknown and what was not checked."""

from __future__ import annotations

from math import floor
from typing import TYPE_CHECKING

from neuronlint.render.styled import Line, line, wrapped
from neuronlint.render.words import amount, count, shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuronlint.render import View
    from neuronlint.report import ModelReport, OperatorSummary, Report, Verified
    from neuronlint.stack import Stack

SHOWN_INPUTS = 8
_STATUS = {"captured": "captured", "partial": "captured in part", "failed": "not captured"}
_MOST_NAMED = 8


def model_block(model: ModelReport, stack: Stack, view: View) -> Iterator[Line]:
    yield _title(model)
    facts = [("stack", str(stack))]
    if model.status != "failed":
        facts += _placement(model, view)
    if model.verified is not None:
        facts.append(("verified", _verified(model.verified)))
    if model.not_checked:
        facts.append(("not checked", ", ".join(model.not_checked)))
    for label, text in facts:
        yield from wrapped((f"  {label:<12} ", "dim"), shown(text), view.width)


def _verified(verified: Verified) -> str:
    asked = f"{count(verified.calls, 'distinct call')} by {verified.made_with}"
    parts = [f"{verified.agreed} as the tables say", f"{verified.disagreed} otherwise"]
    parts += [f"{verified.learned} that they do not know"] if verified.learned else []
    parts += [f"{number} not verified ({why})" for why, number in verified.not_verified.items()]
    return f"{asked}: {', '.join(parts)}"


def hlo_blocks(model: ModelReport) -> Iterator[Line]:
    """The text of each operator whose HLO was asked for, after its name and operands."""
    for _, operands, text in model.verified.texts if model.verified is not None else ():
        yield line((shown(operands), "bold"))
        yield from (line(f"  {shown(row)}") for row in text.rstrip().split("\n"))
        yield []


def _title(model: ModelReport) -> Line:
    where = f" ({model.path}{f':{model.line}' if model.line else ''})" if model.path else ""
    parts = [f"{amount(model.parameters)} parameters"] if model.parameters else []
    parts += [_inputs(model)] if model.inputs else []
    status = _STATUS.get(model.status, model.status)
    parts.append(status if model.status == "failed" else f"{status} in {model.seconds:.1f} s")
    return line((shown(model.name), "bold"), shown(where), *(f"   {shown(part)}" for part in parts))


def _inputs(model: ModelReport) -> str:
    """The first inputs: a compiled program takes its weights as inputs too."""
    more = len(model.inputs) - SHOWN_INPUTS
    shown_inputs = ", ".join(model.inputs[:SHOWN_INPUTS])
    return f"{shown_inputs} and {more} more" if more > 0 else shown_inputs


def _placement(model: ModelReport, view: View) -> list[tuple[str, str]]:
    placed = {key: model.placement.get(key, 0) for key in ("neuron", "cpu", "fails", "unknown")}
    kinds = len({operator.op for operator in model.operators})
    where = (
        f"{placed['neuron']} on the chip, {placed['cpu']} on the host, "
        f"{placed['fails']} fail{'s' if placed['fails'] == 1 else ''}, {placed['unknown']} unknown"
    )
    facts = [("operators", f"{count(model.nodes, 'call')} of {count(kinds, 'kind')}: {where}")]
    for label, placement in (("on the host", "cpu"), ("fails", "fails"), ("unknown", "unknown")):
        named = _named([o for o in model.operators if o.placement == placement], view)
        if named:
            facts.append((label, named))
    if model.flops_on_chip is not None:
        facts.append(("by FLOPs", _share(model.flops_on_chip, placed["unknown"])))
    facts.append(("islands", f"{count(model.partitions, 'device program')}, {count(model.crossings, 'host crossing')}"))
    return facts


def _named(operators: list[OperatorSummary], view: View) -> str:
    totals: dict[str, int] = {}
    for operator in operators:
        totals[operator.op] = totals.get(operator.op, 0) + operator.count
    ranked = sorted(totals.items(), key=lambda item: (-item[1], item[0]))
    named = ranked if view.verbose else ranked[:_MOST_NAMED]
    text = ", ".join(f"{op} x{number}" if number > 1 else op for op, number in named)
    return text if len(named) == len(ranked) else f"{text} and {len(ranked) - len(named)} more (--verbose)"


def _share(share: float, unknown: int) -> str:
    """Rounded down, so that work on the host never reads as none."""
    if share >= 1:
        return "all on the chip, by what the tables hold"
    return f"{floor(share * 1000) / 10:.1f} % {'known to run ' if unknown else ''}on the chip"


def skipped_lines(report: Report, view: View) -> Iterator[Line]:
    """The files that were not judged, those with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for item in report.skipped:
        reasons.setdefault(item.why, []).append(item.path)
    for why, paths in reasons.items():
        named = paths if view.verbose else paths[:_MOST_NAMED]
        rest = f" and {len(paths) - len(named)} more (--verbose)" if len(named) < len(paths) else ""
        yield from wrapped(("skipped ", "dim"), shown(f"{', '.join(named)}{rest}: {why}"), view.width)
