"""Gradients clipped on each worker before `xm.optimizer_step` reduces them."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.passes import TrainingLoop
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import dotted, position
from neuronlint.stack import Stack

_STEP = "torch_xla.core.xla_model.optimizer_step"
_REDUCE = ("torch_xla.core.xla_model.reduce_gradients", "torch_xla.core.xla_model.all_reduce")
_CLIPS = ("clip_grad_norm_", "clip_grad_value_")
_WORKERS = (
    "torch_xla.launch", "torch_xla.distributed.xla_multiprocessing.spawn", "torch.distributed.init_process_group",
    "torch_xla.runtime.world_size", "torch_xla.core.xla_model.xrt_world_size",
    "torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler",
)  # fmt: skip


class ClipBeforeReduce(SourceRule):
    code = "NRN806"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        reducing = set(file.names.calls(_STEP))
        for item in file.passes.training if reducing else ():
            steps = [step for step in item.steps if step in reducing]
            clip = next((c for c in _clips(file) if steps and self._is_early(file, item, c, steps[0])), None)
            if clip is not None:
                known = bool(file.names.calls(*_WORKERS))
                yield self.at(
                    file,
                    clip,
                    stack,
                    severity=None if known else Severity.WARNING,
                    confidence=Confidence.HIGH if known else Confidence.MEDIUM,
                    call=dotted(clip.func).rsplit(".", 1)[-1],
                )

    def _is_early(self, file: SourceFile, item: TrainingLoop, clip: ast.Call, step: ast.Call) -> bool:
        """Whether a clip runs in the pass before the step, with no reduction in between or above it."""
        if not any(loop is item.loop for loop, _, _ in file.passes.chain(clip)):
            return False
        reduced = [c for c in file.names.calls(*_REDUCE) if file.tree.function(c) is file.tree.function(clip)]
        return position(clip) < position(step) and not any(position(c) < position(clip) for c in reduced)


def _clips(file: SourceFile) -> list[ast.Call]:
    """The calls that clip gradients: PyTorch's, and methods of the same names."""
    return sorted(
        file.names.methods(*_CLIPS) + file.names.calls(*(f"torch.nn.utils.{n}" for n in _CLIPS)), key=position
    )
