"""Hugging Face models that are spread by `device_map`."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import constant, keyword
from neuronlint.stack import Stack


class DeviceMap(SourceRule):
    code = "NRN727"
    words = ("device_map=",)

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for call in file.names.methods(*table("devices")["mapped"]):
            value = keyword(call, "device_map")
            if value is not None and constant(value) in table("devices")["maps"]:
                yield self.at(file, value, stack, text=file.tree.segment(value, 40))
