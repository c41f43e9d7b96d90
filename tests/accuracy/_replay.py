"""Replaying recorded calls on a torch_xla device, in a worker process that may die.

A worker lowers as for a Neuron device without one (`neuronlint.capture.lowering_xla`), and adds to what can be seen
of a call whether the values are those of the CPU.
"""

from __future__ import annotations

import json
import math
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch.utils._pytree import tree_flatten

from neuronlint.call import TensorMeta
from neuronlint.capture.lowering_xla import (
    normalised,
    observed,
    on_device,
    start_device,
    tensors_of,
    written_to,
)
from neuronlint.capture.replaying import made_up, overload
from tests.accuracy._record import Packed, seed

if TYPE_CHECKING:
    from collections.abc import Sequence

CALL_SECONDS = 20
CALLS_PER_PROCESS = 3000
MAX_COMPARED = 1 << 20
MODES = ("off", "on")
# The buffer that log_sigmoid_backward takes is the CPU's own: that of another backend holds something else.
_UNDEFINED = ("empty", "new_empty", "resize", "set_", "linalg_svd", "linalg_eig", "linalg_qr", "geqrf", "svd", "qr",
              "linalg_lstsq", "rand", "fused_dropout", "log_sigmoid_backward")  # fmt: skip
_FIRST_RESULT_ONLY = ("nll_loss", "log_sigmoid", "ctc_loss", "embedding_bag", "cummax", "cummin",
                      "kthvalue", "topk", "sort", "median", "nanmedian", "mode")  # fmt: skip
_TOLERANCE = {torch.float16: 2e-2, torch.bfloat16: 5e-2, torch.float32: 2e-3, torch.complex64: 2e-3}

Outcome = dict[str, Any]
Call = tuple[str, tuple[Any, ...], dict[str, Any], bool]
"""Overload, arguments with tensors packed, and whether to run what was lowered and compare the values."""
QUICK_COMPILER = "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"


def replay(calls: Sequence[Call], mode: str, work: Path) -> list[Outcome]:
    """The outcome of every call, in order, with functionalization `off` or `on`.

    A call that takes its worker down is a `crash` (or a `timeout`), and the next worker goes on behind it.
    """
    outcomes: list[Outcome] = []
    results = work / f"results-{mode}.jsonl"
    while len(outcomes) < len(calls):
        batch = calls[len(outcomes) : len(outcomes) + CALLS_PER_PROCESS]
        (work / "batch.pickle").write_bytes(pickle.dumps(list(batch)))
        results.write_text("")
        code = _run_worker(work / "batch.pickle", results, mode)
        done = [json.loads(line) for line in results.read_text().splitlines()]
        outcomes.extend(done)
        if len(done) < len(batch):
            if not done and code == 1:
                raise RuntimeError("the worker does not start")
            outcomes.append({"crash": "timeout" if code == -signal.SIGALRM else "crash"})
            print(f"{mode}: {outcomes[-1]['crash']} of {batch[len(done)][0]}", file=sys.stderr, flush=True)
    return outcomes


def _run_worker(batch: Path, results: Path, mode: str) -> int:
    env = {**os.environ, "PJRT_DEVICE": "CPU", "PYTHONHASHSEED": "0", "PYTHONPATH": str(Path.cwd()),
           "XLA_FLAGS": QUICK_COMPILER, "XLA_COMPILATION_CACHE_SIZE": "1"}  # fmt: skip
    env.pop("XLA_DISABLE_FUNCTIONALIZATION", None)
    if mode == "off":
        env["XLA_DISABLE_FUNCTIONALIZATION"] = "1"
    command = [sys.executable, "-W", "ignore", "-m", "tests.accuracy._replay", str(batch), str(results)]
    return subprocess.run(command, env=env, check=False, stderr=subprocess.DEVNULL).returncode


def work_through(batch: Path, results: Path) -> None:
    """The worker: one line of JSON a call, flushed, so that the parent knows where it died."""
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    torch.backends.mha.set_fastpath_enabled(False)
    device = start_device()
    import torchvision  # noqa: F401 - registers its operators

    with results.open("a") as out, torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
        for op, args, kwargs, compare in pickle.loads(batch.read_bytes()):  # noqa: S301
            signal.alarm(CALL_SECONDS)
            outcome = observe(op, args, kwargs, device, compare)
            signal.alarm(0)
            out.write(json.dumps(outcome, sort_keys=True) + "\n")
            out.flush()


def observe(op: str, args: Any, kwargs: Any, device: torch.device, compare: bool = True) -> Outcome:
    """What happens to one call on the device; with `compare`, also whether the values are the CPU's."""
    func = overload(op)
    seed(op)
    reference: list[torch.Tensor] = []
    expected = None
    if compare or _elements((args, kwargs)) <= MAX_COMPARED:
        try:
            reference, expected = _on_cpu(func, args, kwargs)
        except Exception as error:  # a call that the CPU rejects is no sample
            return {"skip": normalised(error)}
    seed(op)
    try:
        device_args, device_kwargs = on_device(func, args, kwargs, device, _opened)
        seed(op)
        outcome, (result, written) = observed(func, device_args, device_kwargs)
        actual = tensors_of((result, written))
    except Exception as error:
        return {"error": normalised(error)}
    if compare and comparable(func) and "custom_calls" not in outcome and _finite((args, kwargs)):
        outcome |= _compared(_of_interest(func, actual), _of_interest(func, reference), result, expected)
    return outcome


def _elements(value: Any) -> int:
    leaves = tree_flatten(value)[0]
    return sum(math.prod(int(d) for d in leaf.shape) for leaf in leaves if isinstance(leaf, Packed | TensorMeta))


def _on_cpu(func: Any, args: Any, kwargs: Any) -> tuple[list[torch.Tensor], Any]:
    """The tensors that the CPU returns and mutates, and its result."""
    args, kwargs = on_device(func, args, kwargs, torch.device("cpu"), _opened)
    result = func(*args, **kwargs)
    return tensors_of((result, written_to(func, args, kwargs))), result


def _opened(value: Packed | TensorMeta) -> torch.Tensor:
    return value.tensor() if isinstance(value, Packed) else made_up(value)


def comparable(func: Any) -> bool:
    """Whether the values of a call are defined: not random, not uninitialised, not up to a sign or an order."""
    name = func._schema.name.split("::")[1]
    return torch.Tag.nondeterministic_seeded not in func.tags and not name.lstrip("_").startswith(_UNDEFINED)


def _compared(actual: list[torch.Tensor], reference: list[torch.Tensor], result: Any, expected: Any) -> Outcome:
    if sum(t.numel() for t in reference) > MAX_COMPARED:
        return {}
    if not reference:
        return {} if _same_number(result, expected) else {"wrong": "number"}
    try:
        values = [t.cpu() for t in actual]
    except Exception as error:  # the CPU client could not run what was lowered
        return {"execution": normalised(error)}
    for value, wanted in zip(values, reference, strict=True):
        if difference := different(value, wanted):
            return {"wrong": difference}
    return {}


def _of_interest(func: Any, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
    """Results without those that only a gradient reads, or that name one of several equal elements."""
    returned = sum(1 for value in func._schema.returns if value.alias_info is None)
    name = func._schema.name.split("::")[1].lstrip("_")
    if name.startswith("native_batch_norm"):  # running statistics differ by the correction of the variance
        return tensors[:1]
    return tensors[:1] + tensors[returned:] if name.startswith(_FIRST_RESULT_ONLY) else tensors


def _finite(value: Any) -> bool:
    """Whether no operand holds a NaN or an infinity, on which backends differ."""
    tensors = [leaf.tensor() for leaf in tree_flatten(value)[0] if isinstance(leaf, Packed)]
    return all(bool(t.to(torch.complex64).isfinite().all()) for t in tensors)


def _same_number(result: Any, expected: Any) -> bool:
    if isinstance(result, (bool, int, float)) and isinstance(expected, (bool, int, float)):
        return result == expected or result != result or abs(result - expected) <= 1e-3 * (1 + abs(expected))
    return True


def different(value: torch.Tensor, wanted: torch.Tensor) -> str | None:
    """In which respect two results differ: `shape`, `values`, or None; dtypes may differ, as XLA narrows some.

    Floats are compared on the scale of the result. Of half precision a few elements may be off, as a rounding that
    falls on the other side of a step does not make an operator wrong.
    """
    if value.shape != wanted.shape:
        return "shape"
    if wanted.numel() == 0:
        return None
    exact = not (wanted.is_floating_point() or wanted.is_complex())
    tolerance = 0.0 if exact else max(_TOLERANCE.get(value.dtype, 2e-3), _TOLERANCE.get(wanted.dtype, 0.0))
    found, reference = value.to(torch.complex128), wanted.to(torch.complex128)
    finite = reference[reference.isfinite()]
    scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
    close = found.isclose(reference, rtol=tolerance, atol=tolerance * scale, equal_nan=True)
    allowed = 0.05 if wanted.dtype in (torch.float16, torch.bfloat16) else 0.0
    return None if float((~close).double().mean()) <= allowed else "values"


if __name__ == "__main__":
    work_through(Path(sys.argv[1]), Path(sys.argv[2]))
