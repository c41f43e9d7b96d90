"""What goes to the capture process and what comes back: plain data, without torch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuronlint.finding import Span
    from neuronlint.graph.opgraph import OpGraph

NOT_CAPTURED = "NRN902"
CRASHED = "NRN904"


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What to capture: the models of a file (`path`), or one of an importable package (`model`).

    `inputs` are input specs as written on the command line. `settings_models` are the rows of
    `[[tool.neuronlint.models]]` that name this file.
    """

    path: str | None = None
    model: str | None = None
    inputs: tuple[str, ...] = ()
    mode: str = "inference"
    frontend: str = "native"
    observe: bool = False
    optimizer: str | None = None
    settings_models: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, slots=True)
class CaptureFailure:
    """A model, or a whole file where `model` is None, that could not be captured.

    `code` is NRN902 where the model could not be built or run, NRN904 where its process crashed, ran out of time
    or out of memory.
    """

    model: str | None
    code: str
    message: str
    help: str = ""
    span: Span | None = None


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """The graphs of a file. `skipped` says why it was not tried at all (a package that is not installed here)."""

    graphs: tuple[OpGraph, ...] = ()
    failures: tuple[CaptureFailure, ...] = ()
    torch_version: str | None = None
    skipped: str | None = None
