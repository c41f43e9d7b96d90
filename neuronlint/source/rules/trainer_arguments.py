"""Arguments of Trainer, accelerate and Lightning that mean CUDA: the table `trainer`."""

from __future__ import annotations

import ast

from neuronlint.source.arguments import ArgumentRule
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import keyword


class TrainerArguments(ArgumentRule):
    code = "NRN741"
    table = "trainer"

    def passes(self, file: SourceFile, call: ast.Call) -> bool:
        """Lightning with a strategy or an accelerator for Neuron."""
        own = [keyword(call, "strategy"), keyword(call, "accelerator")]
        return any("neuron" in file.tree.segment(node).lower() for node in own if node is not None)
