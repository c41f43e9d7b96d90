"""Environment variables of another stack that a program sets for itself: the table `environment`."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from neuronlint.finding import Finding, Fix
from neuronlint.knowledge.checks import by_stack, keyed
from neuronlint.source.edits import deleted, replaced
from neuronlint.source.environment import Setting, settings
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import of_other_framework, xla_guard
from neuronlint.source.names import fits
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table
from neuronlint.source.tree import constant
from neuronlint.source.values import values
from neuronlint.stack import Stack


class EnvironmentVariable(SourceRule):
    code = "NRN706"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if of_other_framework(file):
            return
        for setting in settings(file):
            row = _row(setting.name)
            off = row is None or by_stack(keyed(row["severity"]), stack) == "off"
            if row is None or off or _is_well(file, setting, row):
                continue
            finding = self.at_row(
                file,
                setting.node,
                stack,
                row,
                fix=_fix(file, setting, row),
                name=setting.name,
                says=by_stack(keyed(row.get("says", "has no effect on the chip")), stack),
            )
            yield self.switched_off(file, setting.node, finding)


@lru_cache(maxsize=4096)
def _row(name: str) -> dict[str, Any] | None:
    """The first row of the table that fits a name."""
    rows: list[dict[str, Any]] = table("environment")["variable"]
    return next((row for row in rows if fits(name, row["names"])), None)


def _is_well(file: SourceFile, setting: Setting, row: dict[str, Any]) -> bool:
    """Whether a value does no harm: one that switches the variable off, or that keeps what was set before."""
    if any(str(value.value) in row.get("off", ()) for value in values(file, setting.value)):
        return True
    if setting.name.startswith(("XLA_", "PJRT_")) and _is_of_xla(file, setting.node):
        return True
    if not row.get("appended"):
        return False
    return setting.keeps or setting.value is None or setting.name in file.tree.segment(setting.value, 1000)


def _is_of_xla(file: SourceFile, node: ast.AST) -> bool:
    """Whether a place is code for PyTorch/XLA, which runs nowhere else: by its guard, its class or its function."""
    around = [getattr(file.tree.class_of(node), "name", ""), getattr(file.tree.function(node), "name", "")]
    return any(re.search("xla|tpu", name, re.I) for name in around) or xla_guard(file, node) is not None


def _fix(file: SourceFile, setting: Setting, row: dict[str, Any]) -> Fix | None:
    statement = setting.node if isinstance(setting.node, ast.stmt) else file.tree.parent(setting.node)
    if not isinstance(statement, (ast.Assign, ast.Expr)) or file.guards.holding(setting.node, "cuda") is not None:
        return None
    if row.get("fix") == "delete":
        return Fix("take it out", (deleted(file, statement),))
    cores = _cores(constant(setting.value)) if row.get("fix") == "cores" else None
    if cores is None or setting.value is None:
        return None
    edits = (replaced(file, setting.key, '"NEURON_RT_VISIBLE_CORES"'), replaced(file, setting.value, f'"{cores}"'))
    return Fix("name cores in place of GPUs", edits, safe=False)


def _cores(value: object) -> str | None:
    """A list of consecutive numbers as the runtime takes it: `0`, `0-3`."""
    if not isinstance(value, str) or not value.replace(",", "").replace(" ", "").isdigit():
        return None
    numbers = [int(part) for part in value.split(",") if part.strip()]
    if numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        return None
    return str(numbers[0]) if len(numbers) == 1 else f"{numbers[0]}-{numbers[-1]}"
