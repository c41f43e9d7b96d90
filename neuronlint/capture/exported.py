"""Exported programs (`.pt2`): loaded, and traced once more at the dispatcher's level."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_unflatten

from neuronlint.capture.fake import OnCpu
from neuronlint.capture.inputs import Inputs, from_specs
from neuronlint.capture.lower import lower, retraced
from neuronlint.capture.strategies import Settings, describe_model
from neuronlint.graph.opgraph import OpGraph

STRATEGY = "pt2"
SMALLEST = 2
"""The size that an open dimension is given where nothing says more: one is special to export."""


def capture_program(path: str, specs: tuple[str, ...], settings: Settings) -> OpGraph:
    """The graph of an exported program. Loading unpickles, and so runs what the file says."""
    started = time.perf_counter()
    program = torch.export.load(path)
    with OnCpu(), torch.no_grad():
        module = program.module()
        inputs = from_specs(module, specs) if specs else _inputs(program)
        graph = describe_model(module, inputs, replace(settings, mode="inference"), STRATEGY)
        lower(retraced(module, inputs), graph)
    graph.name = Path(path).name.removesuffix(".pt2") or path
    graph.nodes = [replace(node, span=node.span if _exists(node.span) else None) for node in graph.nodes]
    graph.seconds = time.perf_counter() - started
    return graph


def _exists(span: Any) -> bool:
    """Whether a recorded line can be shown here: the file may come from another machine."""
    return span is not None and Path(span.path).is_file()


def _inputs(program: torch.export.ExportedProgram) -> Inputs:
    """The program's own example inputs, or zeros as its placeholders describe them; open dimensions are named."""
    named = _open_dimensions(program)
    if program.example_inputs is not None:
        args, kwargs = program.example_inputs
        return Inputs(tuple(args), kwargs, named)
    spec = program.call_spec.in_spec
    if spec is None:
        return Inputs(tuple(_made(program)), {}, named)
    args, kwargs = tree_unflatten(_made(program), spec)
    return Inputs(tuple(args), kwargs, named)


def _placeholders(program: torch.export.ExportedProgram) -> dict[str, Any]:
    return {node.name: node.meta.get("val") for node in program.graph.nodes if node.op == "placeholder"}


def _made(program: torch.export.ExportedProgram) -> list[Any]:
    """A value for each input, in order: numbers and None stand in the signature itself."""
    values = _placeholders(program)
    made = []
    for name in program.graph_signature.user_inputs:
        value = values.get(name, name) if isinstance(name, str) else name
        if isinstance(value, torch.Tensor):
            made.append(torch.zeros([_size(program, size) for size in value.shape], dtype=value.dtype))
        else:
            made.append(_size(program, value) if isinstance(value, torch.SymInt) else value)
    return made


def _size(program: torch.export.ExportedProgram, size: Any) -> int:
    """A size that the program takes: its own example's, or the least of its range."""
    if isinstance(size, int):
        return size
    hint = getattr(size.node, "hint", None)
    if isinstance(hint, int):
        return hint
    bounds: Any = program.range_constraints.get(size.node.expr)
    lowest = getattr(bounds, "lower", SMALLEST)
    return max(SMALLEST, int(lowest)) if lowest is not None else SMALLEST


def _open_dimensions(program: torch.export.ExportedProgram) -> Mapping[str, Mapping[int, str]]:
    """Dimensions that the program leaves open, by input; one symbol has one name, that of its first place."""
    names: dict[str, str] = {}
    found: dict[str, dict[int, str]] = {}
    wanted = set(program.graph_signature.user_inputs)
    for name, value in _placeholders(program).items():
        if name not in wanted or not isinstance(value, torch.Tensor):
            continue
        for position, size in enumerate(value.shape):
            if isinstance(size, torch.SymInt) and not size.node.is_constant():
                called = names.setdefault(str(size), f"{name}.shape[{position}]")
                found.setdefault(name, {})[position] = called
    return found
