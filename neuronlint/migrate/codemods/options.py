"""Arguments that choose a kernel or a layout of CUDA: fused optimizers, channels last, attention implementations."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import removed
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import DropArgument, Replace
from neuronlint.migrate.spelling import in_order, is_statement, text_of
from neuronlint.source.file import SourceFile
from neuronlint.source.literals import is_false
from neuronlint.source.tree import keyword

_LAYOUTS = ("torch.channels_last", "torch.channels_last_3d")
_OFFLOADS = (
    "enable_model_cpu_offload", "enable_sequential_cpu_offload", "enable_xformers_memory_efficient_attention",
    "enable_attention_slicing",
)  # fmt: skip


def fused(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`AdamW(…, fused=True)`: the same step by another kernel."""
    for call in in_order(list(file.names.calls_like(("torch.optim.*",)))):
        value = keyword(call, "fused")
        if value is not None and not is_false(value):
            what = "goes: it chooses a kernel, and the step is the same"
            yield Change("OPT006", value, what, (DropArgument(call, value),))


def layouts(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`x.to(memory_format=torch.channels_last)`: the compiler chooses layouts."""
    for given in file.tree.of(ast.keyword):
        call = file.tree.parent(given)
        if given.arg != "memory_format" or not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        if not file.names.is_any(given.value, _LAYOUTS):
            continue
        what = "goes: the compiler chooses layouts"
        alone = is_statement(file, call)
        if len(call.args) + len(call.keywords) > 1:
            yield Change("CUDA017", given.value, what, (DropArgument(call, given.value),))
        elif alone is not None:
            yield Change("CUDA017", call, what, (removed(file, alone),))
        elif call.func.attr in ("to", "contiguous"):
            yield Change("CUDA017", call, what, (Replace(call, text_of(file, call.func.value)),))


def offloads(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """Memory helpers of diffusers pipelines, which are for a GPU."""
    for call in in_order(file.names.methods(*_OFFLOADS)):
        alone = is_statement(file, call)
        if alone is not None:
            yield Change("HF008", call, "goes: it is for the memory of a GPU", (removed(file, alone),))
