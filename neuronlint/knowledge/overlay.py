"""Overlays: an operator table harvested from an installed backend, in the form of the shipped ones, tried first."""

from __future__ import annotations

from pathlib import Path

from neuronlint.errors import KnowledgeError
from neuronlint.knowledge.operators import OperatorTable, read_table


def read_overlay(path: Path) -> OperatorTable:
    """The table of an overlay file. Raises `KnowledgeError` where it is missing or not of the form."""
    if not path.is_file():
        raise KnowledgeError(f"{path}: no such overlay; write one with `neuronlint knowledge harvest`")
    return read_table(path)
