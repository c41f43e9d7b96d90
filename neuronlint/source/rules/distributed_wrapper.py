"""Wrappers that spread a model over processes: what PyTorch/XLA does without, and DeepSpeed on both."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.kinds import Kind
from neuronlint.source.reach import for_other_library
from neuronlint.source.tables import table
from neuronlint.stack import Stack


class DistributedWrapper(ApiRule):
    code = "NRN711"
    table = "distributed"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        yield from super().check(file, stack)
        if stack.frontend == "xla" and not file.roles.step_is_owned:
            yield from self._accumulating(file, stack)

    def _accumulating(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """`with model.no_sync():`, which goes with the wrapper."""
        for call in file.names.methods("no_sync"):
            is_module = isinstance(call.func, ast.Attribute) and file.kinds.of(call.func.value) & Kind.MODULE
            if is_module and not re.search(r"hasattr\([^)]*no_sync", file.text):  # else the script asks first
                texts = table("distributed")["no_sync"]
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.INFO,
                    confidence=Confidence.MEDIUM,
                    then=texts["then"],
                    advice=texts["help"],
                    name=file.tree.segment(call.func, 40),
                )

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        """What a library does for one strategy of several, and what turns one kind of layer into another."""
        owner, function = file.tree.class_of(node), file.tree.function(node)
        if owner is not None and owner.name.endswith(("Strategy", "Plugin", "Accelerator")):
            return True
        return name.endswith(".SyncBatchNorm") and function is not None and function.name.startswith("convert")

    def _limited(self, file: SourceFile, node: ast.AST, finding: Finding, row: Api) -> Finding:
        if device_guard(file, node) is not None:
            return self.switched_off(file, node, finding)
        return finding.at(Severity.INFO) if for_other_library(file, node) else finding
