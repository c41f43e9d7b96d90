"""What a codemod finds: a change of the file, or what a person has to decide."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Operation
from neuronlint.source.file import SourceFile


@dataclass(frozen=True, slots=True)
class Change:
    """`pattern` is the id of the catalogue, `node` where a person looks, `message` what becomes of it.

    A change that is not `safe` alters the data seen or the numerics beyond what the chip forces: it is made only when
    asked for. `left` is what a person has to see to once it is made.
    """

    pattern: str
    node: ast.AST
    message: str
    operations: tuple[Operation, ...]
    safe: bool = True
    left: str = ""


@dataclass(frozen=True, slots=True)
class Remark:
    """What is left to a person: `kind` is consent, person or blocked."""

    pattern: str
    node: ast.AST
    message: str
    kind: str = "person"


Codemod = Callable[[SourceFile, Journey], Iterator[Change | Remark]]
"""Looks through one file. What it has changed it no longer finds: files are gone through until nothing is left."""
