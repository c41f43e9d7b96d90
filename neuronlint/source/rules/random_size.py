"""Batches resized to a random size in the training loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import argument, dotted
from neuronlint.stack import Stack

_RESIZES = (
    "torch.nn.functional.interpolate", "torch.nn.functional.upsample", "torchvision.transforms.functional.resize",
    "torchvision.transforms.v2.functional.resize",
)  # fmt: skip
_RANDOM = ("random.", "numpy.random.")
_DEPTH = 6


class RandomSize(SourceRule):
    code = "NRN217"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "random" not in file.text or not file.passes.training:
            return
        for call in file.names.calls(*_RESIZES):
            sizes = [argument(call, 1, "size"), argument(call, 2, "scale_factor")]
            run = file.passes.of(call)
            if run is not None and run.trains and any(_is_random(file, size) for size in sizes if size is not None):
                yield self.at(file, call, stack, call=dotted(call.func))


def _is_random(file: SourceFile, node: ast.AST, depth: int = _DEPTH) -> bool:
    """Whether a value comes from a random number, followed through names of the file."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and any(name.startswith(_RANDOM) for name in file.names.of(part.func)):
            return True
        if isinstance(part, ast.Name) and depth:
            _, bindings = file.scopes.lookup(part.id, part)
            values = [b.value for b in bindings if b.how == "assign" and b.value is not None and b.value is not node]
            if any(_is_random(file, value, depth - 1) for value in values[:3]):
                return True
    return False
