"""The codemods, in the order in which their changes are tried: one that settles a test goes before what it guards."""

from __future__ import annotations

from neuronlint.migrate.change import Codemod
from neuronlint.migrate.codemods import (
    autocast,
    availability,
    checkpoints,
    compiling,
    cuda_calls,
    devices,
    distributed,
    from_xla,
    grad_scaler,
    half_precision,
    options,
    pinned_memory,
    pipelines,
    process_group,
    remaining,
    step_markers,
    switches,
    torchscript,
    trainer,
    typed_tensors,
)

CODEMODS: tuple[Codemod, ...] = (
    grad_scaler.grad_scaler,
    switches.switches,
    cuda_calls.seeds,
    cuda_calls.cache,
    cuda_calls.waiting,
    cuda_calls.figures,
    cuda_calls.binding,
    autocast.old_autocast,
    autocast.half_autocast,
    autocast.named_autocast,
    half_precision.half_precision,
    torchscript.torchscript,
    compiling.compiling,
    distributed.data_parallel,
    distributed.synchronized_norm,
    options.fused,
    options.layouts,
    options.offloads,
    pinned_memory.pinned_memory,
    trainer.trainer_arguments,
    devices.generators,
    devices.maps,
    checkpoints.checkpoints,
    checkpoints.pretrained,
    pipelines.pipelines,
    process_group.backend,
    typed_tensors.typed_tensors,
    devices.moves,
    availability.bfloat16_support,
    devices.integers,
    devices.names,
    devices.tests,
    availability.accelerator,
    availability.inference_mode,
    availability.availability,
)
FROM_XLA: tuple[Codemod, ...] = (
    from_xla.optimizers,
    from_xla.loaders,
    from_xla.markers,
    from_xla.ranks,
    from_xla.others,
    from_xla.devices,
)
"""From PyTorch/XLA to TorchNeuron."""
MARKERS: tuple[Codemod, ...] = (step_markers.step_markers,)
"""What is added once the rest stands: where a step ends."""
LEFT: tuple[Codemod, ...] = (remaining.remaining,)
"""What is said of names that stay."""
