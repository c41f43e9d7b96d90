"""The rules of the graph lane: every module of this package that holds a `GraphRule` is one."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from typing import Any

from neuronlint.finding import Finding
from neuronlint.graph.opgraph import OpGraph
from neuronlint.graph.rules.base import Context, GraphRule, VerdictRule
from neuronlint.graph.rules.fold import folded
from neuronlint.graph.surroundings import surroundings
from neuronlint.knowledge import Knowledge, Verdict
from neuronlint.stack import Stack

__all__ = ["Context", "GraphRule", "VerdictRule", "findings", "judged", "rules"]


@cache
def rules() -> tuple[GraphRule, ...]:
    """One of every rule, by code."""
    found: dict[str, GraphRule] = {}
    for module in pkgutil.iter_modules(__path__):
        names = vars(importlib.import_module(f"{__name__}.{module.name}"))
        for value in names.values():
            if isinstance(value, type) and issubclass(value, GraphRule) and hasattr(value, "code"):
                found[value.code] = value()
    return tuple(found[code] for code in sorted(found))


def judged(graph: OpGraph, stack: Stack, knowledge: Knowledge) -> list[Verdict]:
    """The verdict of each call, in order; equal calls, such as those of repeated layers, are judged once."""
    known: dict[Any, Verdict] = {}
    verdicts = []
    for node, around in zip(graph.nodes, surroundings(graph, knowledge.facts.views), strict=True):
        call = node.call
        key = (call.op, tuple(call.arguments.items()), call.outputs, around)
        if key not in known:
            known[key] = knowledge.judge(call, stack, around)
        verdicts.append(known[key])
    return verdicts


def findings(graph: OpGraph, stack: Stack, knowledge: Knowledge) -> tuple[list[Finding], list[Verdict]]:
    """All findings of a captured model on a stack, folded, and the verdict of each of its calls."""
    verdicts = judged(graph, stack, knowledge)
    context = Context(graph, stack, verdicts, knowledge)
    found = (finding for rule in rules() for finding in rule.check(context))
    return folded(found, graph.path if graph.is_listing else None), verdicts
