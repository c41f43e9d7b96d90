"""One migration: which stack code is written for now, and which it is to run on."""

from __future__ import annotations

from dataclasses import dataclass

from neuronlint.source.file import SourceFile
from neuronlint.stack import Stack

_TRACERS = ("torch.jit.trace", "torch_neuronx.trace", "torch.jit.load")


@dataclass(frozen=True, slots=True)
class Journey:
    """`to` is the frontend; `unsafe` lets changes of data and numerics in.

    `origin` is cuda or xla, both where it is empty. `traced` says that a file compiles its module ahead of time on
    PyTorch/XLA: model and batches stay on the CPU. `annotate` puts notes into the code as comments.
    """

    to: str
    stack: Stack
    origin: str = ""
    unsafe: bool = False
    traced: bool = False
    annotate: bool = False

    @property
    def device(self) -> str:
        """The name of the device."""
        return {"native": "neuron", "xla": "xla"}[self.to]

    def is_traced(self, file: SourceFile) -> bool:
        """Whether a file serves a traced module and trains none."""
        return not self.is_native and bool(file.names.calls(*_TRACERS)) and not file.passes.training

    @property
    def is_native(self) -> bool:
        return self.to == "native"
