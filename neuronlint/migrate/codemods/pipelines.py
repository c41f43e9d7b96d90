"""Pipelines of diffusers on PyTorch/XLA: what of them is compiled is a decision."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.spelling import in_order, module_in
from neuronlint.source.file import SourceFile

_LEFT = (
    "compile the denoiser by `torch_neuronx.trace` with fixed sizes and the timestep as a tensor, or use the pipeline "
    "of optimum-neuron where it has one; as it is, each operator of each step is recorded anew"
)


def pipelines(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if journey.is_native or "diffusers" not in file.imports or file.passes.training:
        return
    made = list(file.names.calls_like(("diffusers.*Pipeline", "diffusers.*Pipeline.from_pretrained")))
    for call in in_order(made)[:1]:
        _, imports = module_in(file, "torch_neuronx", "torch_neuronx", "import torch_neuronx")
        if imports:
            what = "torch_neuronx sets PyTorch/XLA up for the chip"
            yield Change("HF007", call, what, imports, left=_LEFT)
