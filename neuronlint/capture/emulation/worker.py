"""The process in which a script runs on the emulated device: `worker REQUEST RESULTS`, which writes the report."""

from __future__ import annotations

import json
import runpy
import sys
import traceback
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from neuronlint.capture.emulation.record import Enough
from neuronlint.stack import Stack


def main() -> int:
    request, results = json.loads(sys.argv[1]), sys.argv[2]
    script = str(Path(request["script"]).resolve())
    stack = Stack(**request["stack"])
    try:
        record, watching = _native(stack, request) if stack.frontend == "native" else _lazy(request)
    except ImportError as error:
        Path(results).write_text(json.dumps({"missing": str(error)}) + "\n", encoding="utf-8")
        return 2
    sys.argv = [request["script"], *request["arguments"]]
    sys.path[0] = str(Path(script).parent)
    code = _run(script, watching)
    sys.stdout.flush()
    Path(results).write_text(json.dumps(record.to_json(code)) + "\n", encoding="utf-8")
    return code


def _native(stack: Stack, request: dict[str, Any]) -> tuple[Any, AbstractContextManager[Any]]:
    """The emulated device. Raises `ImportError` where torch is too old for one."""
    from neuronlint.capture.emulation.api import install
    from neuronlint.capture.emulation.record import Record
    from neuronlint.capture.emulation.tensor import Emulation

    record = Record(Path.cwd(), stack, request["max_steps"])
    install(record)
    return record, Emulation(record)


def _lazy(request: dict[str, Any]) -> tuple[Any, AbstractContextManager[Any]]:
    """The CPU device of torch_xla. Raises `ImportError` where that is not installed."""
    from neuronlint.capture.emulation.lazy import LazyRecord, Watching, install

    record = LazyRecord(Path.cwd(), request["max_steps"])
    install(record)
    return record, Watching(record)


def _run(script: str, watching: AbstractContextManager[Any]) -> int:
    """The exit code that Python gives the script."""
    try:
        with watching:
            runpy.run_path(script, run_name="__main__")
    except Enough:
        return 0
    except SystemExit as ended:
        return _code(ended.code)
    except BaseException as error:  # the script's own, told as Python tells it, without our frames
        _tell(error, script)
        return 1
    return 0


def _code(value: Any) -> int:
    if value is None or isinstance(value, int):
        return value or 0
    print(value, file=sys.stderr)
    return 1


def _tell(error: BaseException, script: str) -> None:
    told = traceback.TracebackException.from_exception(error)
    places = [number for number, frame in enumerate(told.stack) if frame.filename == script]
    if places:
        told.stack = traceback.StackSummary.from_list(list(told.stack)[places[0] :])
    print("".join(told.format()), end="", file=sys.stderr)


if __name__ == "__main__":
    raise SystemExit(main())
