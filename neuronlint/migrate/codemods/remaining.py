"""What is left of `torch.cuda` in the end: a note for each place, by `rules/migrate/remaining.toml`."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

from neuronlint.data import load_toml, rules_root
from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.source.file import SourceFile
from neuronlint.source.names import fits


@cache
def _rows() -> Sequence[Mapping[str, Any]]:
    rows: Sequence[Mapping[str, Any]] = load_toml(rules_root() / "migrate" / "remaining.toml")["row"]
    return rows


def remaining(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    nodes: list[ast.Attribute | ast.Name] = [*file.tree.of(ast.Attribute), *file.tree.of(ast.Name)]
    for node in nodes:
        if isinstance(file.tree.parent(node), ast.Attribute) or not isinstance(node.ctx, ast.Load):
            continue  # a part of a longer name
        for name in file.names.of(node):
            row = next((row for row in _rows() if fits(name, row["names"])), None)
            if row is not None:
                yield Remark(row["pattern"], node, f"`{name}`: {row[journey.to]}")
                break
