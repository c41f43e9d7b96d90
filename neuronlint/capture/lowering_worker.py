"""The child process that lowers operator calls for real: a request on standard input, one JSON line a call.

The request is `{"frontend", "calls", "text"}`: calls as `OperatorCall.to_json`, and the places of those whose HLO is
wanted. It runs in any Python that has the frontend's lowering, with nothing of neuronlint but this package.
"""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from neuronlint.call import OperatorCall

SECONDS_PER_CALL = 30
"""A call that takes longer ends the process, which costs that call only."""

PACKAGES = {"xla": ("torch_xla", "torch"), "native": ("torch-mlir", "torch")}

Outcome = dict[str, Any]
Lower = Callable[[OperatorCall, bool], Outcome]
"""`status` (lowered, host, break, fails, skip), with `host`, `hlo`, `error` or `why`, and `text`."""


def versions(frontend: str) -> str:
    """The packages that lower, as evidence names them. Raises `PackageNotFoundError` where one is missing."""
    return ", ".join(f"{name} {version(name).split('+')[0]}" for name in PACKAGES[frontend])


def lowering(frontend: str) -> Lower:
    return _xla() if frontend == "xla" else _native()


def _xla() -> Lower:
    import torch

    from neuronlint.capture.lowering_xla import lower, start_device

    torch.backends.mha.set_fastpath_enabled(False)
    device = start_device()
    _register_vision()

    def one(call: OperatorCall, with_text: bool) -> Outcome:
        with torch.no_grad(), torch.backends.mkldnn.flags(enabled=False):
            found = lower(call, device, with_text=with_text)
        if "skip" in found:
            return {"status": "skip", "why": found["skip"]}
        if "error" in found:
            return _refused(call) or {"status": "fails", "error": found["error"]}
        return {"status": "host" if found["host"] else "lowered", **found}

    return one


def _refused(call: OperatorCall) -> Outcome | None:
    """Whether the CPU refuses the call too, with the values that were made up: then it is no sample."""
    import torch

    from neuronlint.capture.lowering_xla import on_device
    from neuronlint.capture.replaying import arguments, made_up, overload

    func = overload(call.op)
    try:
        args, kwargs = on_device(func, *arguments(call), torch.device("cpu"), made_up)
        func(*args, **kwargs)
    except Exception:  # an operator raises what it likes
        return {"status": "skip", "why": "torch refuses the call by itself"}
    return None


def _native() -> Lower:
    from neuronlint.capture.lowering_native import lower

    _register_vision()

    def one(call: OperatorCall, with_text: bool) -> Outcome:
        if not all(meta.is_static for meta in call.tensors()):
            return {"status": "skip", "why": "a size depends on data"}
        try:
            found = lower(call, with_text=with_text)
        except (AttributeError, ValueError):
            return {"status": "skip", "why": "this torch has no such operator"}
        status = {"lowered": "lowered", "failed": "fails", "break": "break"}.get(found["status"])
        if status == "lowered" and found.get("dynamic"):
            return {**found, "status": "fails", "error": "a result of unknown size"}
        if status is None:
            return {"status": "skip", "why": str(found.get("error") or "torch refuses the call by itself")}
        return {**found, "status": status, "error": found.get("illegal") or found.get("error") or ""}

    return one


def _register_vision() -> None:
    try:
        import torchvision  # noqa: F401 - registers its operators
    except ImportError:
        pass


def main() -> int:
    request = json.load(sys.stdin)
    with open(sys.argv[1], "a", encoding="utf-8") as results:

        def send(line: dict[str, Any]) -> None:
            results.write(json.dumps(line) + "\n")
            results.flush()

        try:
            send({"with": versions(request["frontend"])})
            one = lowering(request["frontend"])
        except (PackageNotFoundError, ImportError) as error:
            send({"missing": str(error)})
            return 0
        wanted = set(request["text"])
        for place, data in enumerate(request["calls"]):
            signal.alarm(SECONDS_PER_CALL)
            outcome = one(OperatorCall.from_json(data), place in wanted)
            signal.alarm(0)
            send({"outcome": outcome})
        send({"done": True})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
