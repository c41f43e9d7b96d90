"""What is left when a model cannot be run to its end: modules that were not reached, each by itself."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import torch

from neuronlint.capture.inputs import Inputs, infer
from neuronlint.errors import InputSpecError
from neuronlint.graph.opgraph import CallNode, OpGraph

if TYPE_CHECKING:
    from neuronlint.capture.strategies import Build, Settings


def unreached(graph: OpGraph, build: Build, settings: Settings) -> Iterator[tuple[str, list[CallNode]]]:
    """The child modules without a recorded call, with the calls that each makes on inputs inferred for it."""
    from neuronlint.capture.strategies import Record

    reached = {node.module_path for node in graph.nodes}
    try:
        model, _ = build(True)
    except Exception:  # the user's constructor may raise anything; then nothing is left to salvage
        return
    for name, module in _outermost_unreached(model, reached):
        try:
            inputs = infer(module)
        except InputSpecError:
            continue
        attempt = Record(on_fake=True).capture(partial(_given, module, inputs), settings)
        if attempt.graph is not None and attempt.error is None:
            yield name, attempt.graph.nodes


def _given(module: torch.nn.Module, inputs: Inputs, fake: bool) -> tuple[torch.nn.Module, Inputs]:
    return module, inputs


def _outermost_unreached(model: torch.nn.Module, reached: set[str]) -> Iterator[tuple[str, torch.nn.Module]]:
    def visit(name: str, module: torch.nn.Module) -> Iterator[tuple[str, torch.nn.Module]]:
        for child_name, child in module.named_children():
            path = f"{name}.{child_name}".strip(".")
            if any(r == path or r.startswith(path + ".") for r in reached) or isinstance(
                child, (torch.nn.ModuleList, torch.nn.ModuleDict)
            ):
                yield from visit(path, child)
            else:
                yield path, child

    yield from visit("", model)
