"""Runs one model of the zoo on a torch_xla device and writes which operators ran on the host. A process of its own."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_map_only

from neuronlint.capture.devices import accept_any_autocast
from neuronlint.capture.discover import from_reference
from neuronlint.capture.fake import OnCpu
from neuronlint.capture.prepare import complete, model_and_inputs, settle
from neuronlint.capture.strategies import first_line
from tests.accuracy._replay import start_device


def main(reference: str, out: Path, as_neuron: bool) -> None:
    import torch_xla
    from torch_xla.debug import metrics

    accept_any_autocast()
    torch.manual_seed(0)
    torch.backends.mha.set_fastpath_enabled(False)
    with OnCpu():
        model, inputs = model_and_inputs(from_reference(reference, ()), ())
        settle(model, "inference")
        inputs = complete(model, inputs)
    device = start_device() if as_neuron else torch_xla.device()
    error = None
    try:
        model = model.to(device)
        args, kwargs = tree_map_only(torch.Tensor, lambda t: t.to(device), (inputs.args, inputs.kwargs))
        metrics.clear_counters()
        with torch.no_grad():
            model(*args, **kwargs)
    except Exception as caught:
        error = first_line(caught)
    out.write_text(json.dumps({"host": host_operators(metrics), "error": error}))


def host_operators(metrics: Any) -> list[str]:
    return sorted(name for name in metrics.counter_names() if name.startswith(("aten::", "torchvision::")))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3] == "1")
