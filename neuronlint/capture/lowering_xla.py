"""Lowers one operator call on a torch_xla device, as for Neuron, on a machine that has none.

torch_xla in SPMD mode reads `PJRT_DEVICE` again whenever it lowers, so the CPU client is started first and the variable
is changed afterwards. What an observer could see of a call is written down: host fallbacks, HLO, errors.
"""

from __future__ import annotations

import os
import re
from typing import Any

import torch
from torch.utils._pytree import tree_flatten, tree_map

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.capture.replaying import arguments, made_up, overload

Outcome = dict[str, Any]
"""`error`, or `host` (operators that ran there) and, of what was lowered, `hlo`, `custom_calls` and `dynamic`."""

FALLBACKS = ("aten::", "torchvision::")
"""Beginnings of torch_xla's counters of calls that ran on the host."""

MAX_ELEMENTS = 1 << 26
"""Elements of all operands up to which a call is made again; they are real."""

_STRUCTURAL = frozenset(("parameter", "tuple", "get-tuple-element"))
_OPCODE = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = (?:\(.*?\)|\S+) ([a-z][a-z0-9\-]*)\(", re.MULTILINE)
_TARGET = re.compile(r'custom_call_target="([^"]+)"')


def start_device() -> torch.device:
    """An XLA device that executes on the CPU and lowers as for Neuron."""
    import torch_xla
    import torch_xla.runtime

    torch_xla.runtime.use_spmd()
    device: torch.device = torch_xla.device()
    torch.ones(1).to(device).add(1).cpu()
    os.environ["PJRT_DEVICE"] = "NEURON"
    return device


def lower(call: OperatorCall, device: torch.device, *, with_text: bool = False) -> Outcome:
    """What becomes of a call on the device; with `with_text`, the HLO under `text`. `skip` says why it was not made."""
    if sum(meta.numel for meta in call.tensors()) > MAX_ELEMENTS:
        return {"skip": "its operands are too large to be made"}
    if not all(meta.is_static for meta in call.tensors()):
        return {"skip": "a size depends on data"}
    try:
        func, (args, kwargs) = overload(call.op), arguments(call)
    except (AttributeError, ValueError, RuntimeError):
        return {"skip": f"torch {torch.__version__} has no such operator"}
    try:
        outcome, _ = observed(func, *on_device(func, args, kwargs, device, made_up), with_text=with_text)
    except Exception as error:
        return {"error": normalised(error)}
    return outcome


def on_device(
    func: Any, args: Any, kwargs: Any, device: torch.device, opened: Any
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with tensors, devices and generators moved; factories get the device explicitly.

    `opened` makes a tensor of a leaf that stands for one.
    """

    def move(value: Any) -> Any:
        if isinstance(value, TensorMeta) or hasattr(value, "tensor"):
            return opened(value).to(device)
        if isinstance(value, torch.device):
            return device
        return torch.Generator() if isinstance(value, str) and value == "generator" else value

    moved_args, moved_kwargs = tree_map(move, (tuple(args), dict(kwargs)))
    takes_device = any(argument.name == "device" for argument in func._schema.arguments)
    if takes_device and not tensors_of((moved_args, moved_kwargs)):
        moved_kwargs["device"] = device
    return moved_args, moved_kwargs


def observed(func: Any, args: Any, kwargs: Any, *, with_text: bool = False) -> tuple[Outcome, tuple[Any, list[Any]]]:
    """Makes a call whose arguments are on the device: what was seen, and its result with what it wrote to."""
    from torch_xla.debug import metrics

    metrics.clear_counters()
    result = func(*args, **kwargs)
    outcome: Outcome = {"host": sorted(name for name in metrics.counter_names() if name.startswith(FALLBACKS))}
    written = written_to(func, args, kwargs)
    lowered = [tensor for tensor in tensors_of((result, written)) if tensor.device.type == "xla"]
    if lowered:
        outcome |= _seen(lowered, with_text)
    return outcome, (result, written)


def _seen(tensors: list[torch.Tensor], with_text: bool) -> Outcome:
    """The HLO operations that compute these tensors."""
    import torch_xla

    text = torch_xla._XLAC._get_xla_tensors_hlo(tensors)
    seen: Outcome = {"hlo": sorted(set(_OPCODE.findall(text)) - _STRUCTURAL)}
    if targets := sorted(set(_TARGET.findall(text)) - {"Sharding"}):
        seen["custom_calls"] = targets
    if "<=" in text:
        seen["dynamic"] = True
    return {**seen, "text": text} if with_text else seen


def tensors_of(value: Any) -> list[torch.Tensor]:
    return [leaf for leaf in tree_flatten(value)[0] if isinstance(leaf, torch.Tensor)]


def written_to(func: Any, args: Any, kwargs: Any) -> list[Any]:
    """The arguments that the schema says are written to."""
    mutated = []
    for position, argument in enumerate(func._schema.arguments):
        if argument.alias_info is not None and argument.alias_info.is_write:
            mutated.append(args[position] if position < len(args) else kwargs.get(argument.name))
    return mutated


def normalised(error: BaseException) -> str:
    """The first line of a message without what differs from call to call: paths, addresses, shapes, numbers."""
    line = (str(error).strip().splitlines() or [""])[0]
    line = re.sub(r"^(Error while lowering: \[\] [\w:]+),.*", r"\1", line)
    line = re.sub(r"0x[0-9a-fA-F]+", "ADDRESS", line)
    line = re.sub(r"(?:/[\w.\-]+){2,}(?::\d+)?", "PATH", line)
    line = re.sub(r"[\[(]-?\d[\d, ]*[\])]", "SHAPE", line)
    line = re.sub(r"-?\b\d+(?:\.\d+)?\b", "N", line)
    return f"{type(error).__name__}: {line}"[:200]
