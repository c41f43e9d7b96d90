"""`torch.cuda.is_available()` and `is_bf16_supported()`: asked of the accelerator, or settled on PyTorch/XLA."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.truth import settled
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Replace
from neuronlint.migrate.spelling import in_order, text_of, torch_in, torch_xla_in
from neuronlint.source.file import SourceFile

_HALF = ("float16", "half", "fp16", "bfloat16", "bf16")


def availability(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls("torch.cuda.is_available")):
        if journey.is_native:
            torch, imports = torch_in(file)
            new = f"{torch}.accelerator.is_available()"
            yield Change("DEV006", call, f"asks `{new}`", (Replace(call, new), *imports))
        else:
            what = "always holds: PyTorch/XLA has a device, a CPU under PJRT_DEVICE=CPU"
            yield Change("DEV006", call, what, settled(file, call, True))


def bfloat16_support(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    for call in in_order(file.names.calls("torch.cuda.is_bf16_supported")):
        choice = next((up for up in file.tree.ancestors(call) if isinstance(up, ast.IfExp)), None)
        inside = choice is not None and file.tree.inside(call, choice.test)
        if choice is not None and inside and _is_type(file, choice.body) and _is_type(file, choice.orelse):
            kept = text_of(file, choice.body)
            yield Change("AMP005", call, f"is `{kept}`: the chip computes in bfloat16", (Replace(choice, kept),))
        else:
            yield Change("AMP005", call, "always holds: the chip computes in bfloat16", settled(file, call, True))


def _is_type(file: SourceFile, node: ast.expr) -> bool:
    return text_of(file, node).strip("\"'").rpartition(".")[2] in _HALF


def accelerator(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.accelerator` on PyTorch/XLA, which it knows nothing of."""
    if journey.is_native or "accelerator" not in file.text:
        return
    for call in in_order(file.names.calls("torch.accelerator.is_available")):
        what = "always holds: PyTorch/XLA has a device, a CPU under PJRT_DEVICE=CPU"
        yield Change("DEV016", call, what, settled(file, call, True))
    xla, imports = torch_xla_in(file)
    for call in in_order(file.names.calls("torch.accelerator.current_accelerator")):
        up = file.tree.parent(call)
        if isinstance(up, ast.Attribute) and up.attr == "type":
            yield Change("DEV016", call, 'is `"xla"`', (Replace(up, '"xla"'), *imports))
        else:
            yield Change("DEV016", call, f"is `{xla}.device()`", (Replace(call, f"{xla}.device()"), *imports))
    for call in in_order(file.names.calls("torch.accelerator.synchronize")):
        yield Change("DEV016", call, f"is `{xla}.sync(wait=True)`", (Replace(call, f"{xla}.sync(wait=True)"), *imports))


def inference_mode(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.inference_mode()` and lazy tensors do not go together."""
    if journey.is_native or "inference_mode" not in file.text:
        return
    for call in in_order(file.names.calls("torch.inference_mode")):
        if not call.args and not call.keywords:
            torch, imports = torch_in(file)
            what = f"is `{torch}.no_grad()`: tensors of inference mode and lazy ones do not go together"
            yield Change("EV001", call, what, (Replace(call.func, f"{torch}.no_grad"), *imports))
