"""Calls of torch.cuda that raise, or do nothing, where there is no CUDA: the table `cuda`."""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from neuronlint.finding import Confidence, Finding, Fix, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import argument
from neuronlint.source.values import names_cuda, values
from neuronlint.stack import Stack

_STREAM = re.compile(r"torch\.cuda\.(streams\.)?(current_|default_|set_)?[sS]tream$")
_MADE = ("torch.cuda.Stream", "torch.cuda.streams.Stream")
_SEEDERS = ("torch.manual_seed", "torch.random.manual_seed")


class CudaOnlyCall(ApiRule):
    code = "NRN703"
    words = ("cuda.", "torch.cuda import", "Generator(", "emit_nvtx")
    table = "cuda"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        if isinstance(node, ast.Call) and _others(file, node, name):
            return True
        if name == "torch.Generator":
            return isinstance(node, ast.Call) and _draws_on_cpu(file, node)
        if name not in _MADE and _STREAM.match(name):
            return bool(file.names.calls(*_MADE))  # the stream itself is the finding
        return False

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        finding = super()._finding(file, node, name, row, stack)
        if name == "torch.Generator" and isinstance(node, ast.Call) and names_cuda(file, argument(node, 0, "device")):
            return self._limited(file, node, _certain(finding), row)
        owner = file.tree.class_of(node)
        if name in _MADE and owner is not None and _prefetches(owner):
            return replace(finding, help=f"take `{owner.name}` out and loop over the loader itself")
        return finding

    def _fix(self, file: SourceFile, node: ast.AST, row: Api) -> Fix | None:
        """A seed is taken out only where another call seeds every device."""
        if "CUDA007" in row.patterns and not any(_seeds_all(name) for name in file.names.called()):
            return None
        return super()._fix(file, node, row)


def _others(file: SourceFile, call: ast.Call, name: str) -> list[str]:
    """What else the call may be of, by other accelerators' modules: `torch.npu` beside `torch.cuda`."""
    prefix = name.rsplit(".", 1)[0]
    return [other for other in file.names.of(call.func) if not other.startswith(prefix)]


def _certain(finding: Finding) -> Finding:
    return replace(finding, severity=Severity.ERROR, confidence=Confidence.HIGH, then="raises: there is no CUDA here")


def _draws_on_cpu(file: SourceFile, call: ast.Call) -> bool:
    device = argument(call, 0, "device")
    return device is None or {value.value for value in values(file, device)} in ({"cpu"}, {None})


def _seeds_all(name: str) -> bool:
    return name in _SEEDERS or name.rsplit(".", 1)[-1] in ("seed_everything", "set_seed")


def _prefetches(owner: ast.ClassDef) -> bool:
    """Whether a class wraps a loader, by the methods that such classes have."""
    methods = {item.name for item in owner.body if isinstance(item, ast.FunctionDef)}
    return bool(methods & {"preload", "next", "__next__", "__iter__"})
