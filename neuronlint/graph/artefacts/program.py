"""What the readers make of a text: operations in regions, by names, before anything is worked out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from neuronlint.call import TensorMeta

Type = TensorMeta | tuple["Type", ...]
"""A tensor, or a tuple of types."""

OPEN = "?"
"""A dimension of unknown size, until the graph is built and names it."""


@dataclass(slots=True)
class Literal:
    """A constant's values: `values` where they are few (one for all of them where `splat`), else None."""

    values: tuple[float, ...] | None = None
    splat: bool = False


@dataclass(slots=True)
class Operation:
    """One operation: names of operands and results, types of results, attributes, where it stands, what it holds.

    `calls` are functions that it runs, `callees` those that say how it computes: a sum, a comparison. `source` is the
    file and line that the compiler was told of, as it stands in the text.
    """

    op: str
    operands: tuple[str, ...] = ()
    results: tuple[str, ...] = ()
    types: tuple[Type, ...] = ()
    attributes: dict[str, Any] = field(default_factory=dict)
    line: int = 1
    column: int = 1
    end: int = 1
    source: tuple[str, int] | None = None
    regions: tuple[Region, ...] = ()
    calls: tuple[str, ...] = ()
    literal: Literal | None = None

    @property
    def name(self) -> str:
        """Without its dialect, as HLO writes it: `dot-general`."""
        return self.op.rsplit(".", 1)[-1].replace("_", "-")


@dataclass(slots=True)
class Region:
    """Operations in order, the names and types they are given, and the names they give back."""

    arguments: tuple[tuple[str, Type], ...] = ()
    operations: list[Operation] = field(default_factory=list)
    returns: tuple[str, ...] = ()

    def definition(self, name: str) -> Operation | None:
        """The operation of this region that makes a value."""
        return next((op for op in reversed(self.operations) if name in op.results), None)


@dataclass(slots=True)
class Program:
    """Functions by name; `entry` is the one that is run."""

    name: str
    functions: Mapping[str, Region]
    entry: str
