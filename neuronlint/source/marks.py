"""What a file tells the rest of its project: marks that make findings in other files moot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

MARKING_LOADER = "marking-loader"
"""A loader of the project marks the step by itself."""
STEP_MARKER = "step-marker"
"""Some file of the project marks a step."""


def marks(file: SourceFile) -> frozenset[str]:
    """The marks of a file; looked for only where its text holds the words."""
    found: set[str] = set()
    if ("ParallelLoader" in file.text or "MpDeviceLoader" in file.text) and file.roles.has_marking_loader:
        found.add(MARKING_LOADER)
    if "torch_xla" in file.text and file.roles.markers:
        found.add(STEP_MARKER)
    return frozenset(found)
