"""Calls of real models, written by `OperatorCall.to_json`, with values made up so that they can be replayed."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

from neuronlint.call import OperatorCall
from neuronlint.capture.replaying import arguments
from tests.accuracy._record import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAX_ELEMENTS = 1 << 25


def read_calls(path: Path) -> Iterator[Sample]:
    """The calls of a file, their tensors as metadata; those that are too large or of unknown size are left out."""
    skipped = 0
    with path.open() as lines:
        for line in lines:
            call = OperatorCall.from_json(json.loads(line, object_hook=_without_origin))
            if all(t.is_static for t in call.tensors()) and sum(t.numel for t in call.tensors()) <= MAX_ELEMENTS:
                yield _sample(call)
            else:
                skipped += 1
    if skipped:
        print(f"{path}: {skipped} calls left out", file=sys.stderr)


def _without_origin(data: dict[str, Any]) -> dict[str, Any]:
    """Where a tensor comes from does not change how a call lowers, and would make equal calls look distinct."""
    return {name: value for name, value in data.items() if name != "origin"}


def _sample(call: OperatorCall) -> Sample:
    return Sample(call, *arguments(call))
