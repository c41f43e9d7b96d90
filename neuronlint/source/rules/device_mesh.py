"""Device meshes of CUDA devices."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.literals import names_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import words
from neuronlint.source.tree import argument
from neuronlint.stack import Stack


class DeviceMesh(SourceRule):
    code = "NRN739"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        other = "xla" if stack.frontend == "native" else "neuron"
        for call in file.names.calls(*words("distributed", "meshes", "makers")):
            device = argument(call, 0, "device_type")
            if names_device(device, "cuda") or names_device(device, other):
                finding = self.at(file, call, stack, call=file.tree.brief(call, 50))
                if device_guard(file, call) is not None:
                    finding = self.switched_off(file, call, finding)
                yield finding
