"""Hugging Face classes with a counterpart for Neuron: the table `huggingface`, for PyTorch/XLA."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.names import fits
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.stack import Stack

_COMPILED = ("optimum.neuron", "neuronx", "jit.trace", "torch.compile", "torch.export")
"""A file that compiles its model by itself needs no other class."""


_INFERS = ("no_grad", "inference_mode", ".eval()", ".generate(", ".images")


class HfInferenceClass(SourceRule):
    """One finding a file at most: advice."""

    code = "NRN731"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.holds(_COMPILED) or file.imports.isdisjoint(("transformers", "diffusers", "trl")):
            return
        trains: bool | None = None
        for name, calls in file.names.called().items():
            for row in table("huggingface")["counterpart"]:
                if not fits(name, row["names"]):
                    continue
                if trains is None:
                    trains = _trains(file)
                if trains != row["trains"] or not (trains or file.holds(_INFERS)):
                    continue
                yield self.at_row(
                    file, calls[0], stack, row, name=name.split(".", 1)[1].removesuffix(".from_pretrained")
                )
                return


def _trains(file: SourceFile) -> bool:
    return bool(file.roles.training) or "Trainer(" in file.text or "accelerator.backward" in file.text
