"""Runs a script up to its first call of a top-level module, and takes that module and its arguments."""

from __future__ import annotations

import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from torch.nn.modules import module as hooks

from neuronlint.capture.discover import Candidate
from neuronlint.capture.fake import OnCpu
from neuronlint.capture.locations import definition_of, kind_of
from neuronlint.errors import ConfigurationError


class _Called(BaseException):
    """Carries the call out of the script; no `except Exception` of the script stops it."""

    def __init__(self, model: torch.nn.Module, args: Any, kwargs: Any) -> None:
        super().__init__()
        self.model, self.args_given, self.kwargs_given = model, args, kwargs


def observe(path: str) -> Iterator[Candidate]:
    """The model that a script calls first, with the arguments of that call.

    Raises `ConfigurationError` where the script ends without calling one.
    """
    call = _run_until_call(path)
    if call is None:
        raise ConfigurationError(f"{path}: the script ended without calling a model; check it without --observe")
    model = call.model
    yield Candidate(type(model).__name__, lambda: model, definition_of(type(model)), call.args_given, call.kwargs_given)


def _run_until_call(path: str) -> _Called | None:
    def stop(module: torch.nn.Module, args: Any, kwargs: Any) -> None:
        if not isinstance(module, torch.nn.modules.loss._Loss) and _called_by_user(sys._getframe(1)):
            raise _Called(module, args, kwargs)

    handle = hooks.register_module_forward_pre_hook(lambda module, args: stop(module, args, {}))
    sys.argv = [path]
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        with OnCpu():
            runpy.run_path(path, run_name="__main__")
    except _Called as call:
        return call
    except SystemExit:
        return None
    finally:
        handle.remove()
    return None


def _called_by_user(frame: Any) -> bool:
    while frame is not None and kind_of(frame.f_code.co_filename) in ("torch", "internal"):
        frame = frame.f_back
    return frame is not None and kind_of(frame.f_code.co_filename) in ("user", "library")
