"""Hugging Face models that are spread by `device_map`."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.spread import given
from neuronlint.source.tables import table
from neuronlint.source.tree import constant
from neuronlint.stack import Stack


class DeviceMap(SourceRule):
    code = "NRN727"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        mapped = table("devices")["mapped"]
        for call in (*file.names.methods(*mapped), *file.names.calls("transformers.pipeline")):
            value = given(file, call, "device_map")
            if value is not None and constant(value) in table("devices")["maps"]:
                yield self.at(file, value, stack, text=file.tree.brief(value, 40))
