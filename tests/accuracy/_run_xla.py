"""Runs one model on a torch_xla device that lowers as for Neuron, and counts what ran on the host."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from neuronlint.capture.devices import accept_any_autocast
from neuronlint.capture.discover import from_reference
from neuronlint.capture.fake import OnCpu
from neuronlint.capture.lowering_xla import FALLBACKS, start_device
from neuronlint.capture.prepare import complete, model_and_inputs, settle
from neuronlint.capture.strategies import first_line
from neuronlint.capture.training import loss_of, optimizer_for
from tests.accuracy._forks import forked

SECONDS = 420.0
RESIZES = frozenset(("aten::upsample_nearest2d", "aten::upsample_bilinear2d", "aten::upsample_nearest2d_backward"))
"""Lowered for Neuron and not for a plain CPU device: left out where a model cannot run as if on Neuron."""


def truth(reference: str, mode: str) -> dict[str, Any]:
    """`host` (calls that ran on the host, by operator) and `error`; or `died` with what became of the process.

    A model that brings custom calls of Neuron to execution cannot go on as if on Neuron, and is run as on a CPU.
    """
    found, why = forked(lambda: _run(reference, mode, as_neuron=True), SECONDS)
    if found is None or "custom call" in (found["error"] or "").lower():
        found, why = forked(lambda: _run(reference, mode, as_neuron=False), SECONDS)
        if found is not None:
            found["host"] = {name: count for name, count in found["host"].items() if name not in RESIZES}
    return found if found is not None else {"died": why}


def _run(reference: str, mode: str, *, as_neuron: bool) -> dict[str, Any]:
    import torch_xla
    from torch_xla.debug import metrics

    torch.set_num_threads(1)
    accept_any_autocast()
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)
    with OnCpu():
        model, inputs = model_and_inputs(from_reference(reference, ()), ())
        settle(model, mode)
        inputs = complete(model, inputs, mode)
    device = start_device() if as_neuron else torch_xla.device()
    error = None
    try:
        model = model.to(device)
        args, kwargs = tree_map_only(torch.Tensor, lambda t: t.to(device), (inputs.args, inputs.kwargs))
        metrics.clear_counters()
        with torch.set_grad_enabled(mode == "training"):
            outputs = model(*args, **kwargs)
            if mode == "training":
                _train(model, outputs)
    except Exception as caught:
        error = first_line(caught)
    return {"host": host_calls(metrics), "error": error}


def _train(model: torch.nn.Module, outputs: Any) -> None:
    loss = loss_of(outputs)
    if loss is not None:
        loss.backward()  # type: ignore[no-untyped-call, unused-ignore]
        optimizer_for(model, None).step()


def host_calls(metrics: Any) -> dict[str, int]:
    """How often each operator ran on the host, as torch_xla's counters name it."""
    names = sorted(name for name in metrics.counter_names() if name.startswith(FALLBACKS))
    return {name: metrics.counter_value(name) for name in names}
