"""Values that a LightningModule logs at every step of the training."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import constant, dotted, keyword
from neuronlint.stack import Stack


class LightningStepLog(SourceRule):
    """One finding a class: the advice is the same for every value."""

    code = "NRN732"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        seen: set[ast.AST] = set()
        for call in file.names.methods("log", "log_dict"):
            owner, function = file.tree.class_of(call), file.tree.function(call)
            if owner is None or owner in seen or function is None or function.name != "training_step":
                continue
            if dotted(call.func).startswith("self.") and _is_lightning(file, owner) and _each_step(call):
                seen.add(owner)
                yield self.at(file, call, stack, text=f"{dotted(call.func)}(…)")


def _is_lightning(file: SourceFile, owner: ast.ClassDef) -> bool:
    return any(name.endswith("LightningModule") for base in owner.bases for name in file.names.of(base))


def _each_step(call: ast.Call) -> bool:
    """Whether a value is asked for at every step: in the logs or in the progress bar."""
    return any(constant(keyword(call, name)) is True for name in ("on_step", "prog_bar"))
