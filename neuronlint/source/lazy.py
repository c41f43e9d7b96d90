"""Whether a script runs on lazy tensors of PyTorch/XLA, whose graphs a step marker has to cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile
    from neuronlint.stack import Stack

_DEVICES = ("torch_xla.device", "torch_xla.core.xla_model.xla_device")
_TRACES = (
    "torch_neuronx.trace", "torch_neuronx.dynamic_batch", "torch_neuronx.DataParallel",
    "torch.jit.trace", "torch.jit.script", "torch.jit.load",
)  # fmt: skip


def runs_lazily(file: SourceFile, stack: Stack) -> bool:
    """By the stack's own word, or by what the script does: it trains, or takes an XLA device. A traced module gives
    tensors on the host, so a file that traces and does not train is not lazy."""
    if stack.frontend != "xla":
        return False
    if file.passes.training:
        return True
    if file.names.calls(*_TRACES):
        return False
    return stack.execution == "lazy" or bool(file.names.calls(*_DEVICES))
