"""Samplers that ask for a process group which PyTorch/XLA's own launcher does not set up."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument
from neuronlint.stack import Stack

_SAMPLERS = ("torch.utils.data.distributed.DistributedSampler", "torch.utils.data.DistributedSampler")


class SamplerRank(SourceRule):
    code = "NRN754"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        launched = file.names.calls(*words("distributed", "spawn", "xla"))
        if not launched or file.names.calls(*words("distributed", "groups", "starters")):
            return
        for call in file.names.calls(*_SAMPLERS):
            starred = any(item.arg is None for item in call.keywords)
            if not starred and argument(call, 1, "num_replicas") is None:
                yield self.at(file, call, stack, call=file.tree.segment(call, 50))
