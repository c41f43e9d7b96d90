"""Advice where a program compiles for the chip and says nothing of where compiled programs are kept."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tree import constant, keyword
from neuronlint.stack import Stack

_TOLD = ("NEFF_CACHE", "NEURON_COMPILE_CACHE", "cache_dir", "load_cache_artifacts")


class CompileCache(SourceRule):
    """One finding a program, at the first call that compiles; a module without a main part is none."""

    code = "NRN511"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "__main__" not in file.text or file.holds(_TOLD):
            return
        calls = [*file.names.calls("torch.compile"), *file.names.methods("compile")]
        for call in calls:
            if constant(keyword(call, "backend")) == "neuron":
                yield self.at(file, call, stack)
                return
