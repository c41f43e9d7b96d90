"""Names of PyTorch/XLA: TorchNeuron has none of them, and PyTorch/XLA itself has dropped some."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from neuronlint.finding import Finding, Fix, Severity
from neuronlint.knowledge.checks import filled
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import xla_guard
from neuronlint.source.literals import names_device
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, argument, keyword
from neuronlint.stack import Stack


class XlaName(ApiRule):
    """On native one finding an import and one a call; what a test for torch_xla switches off is passed over."""

    code = "NRN713"
    table = "xla"
    first_row_decides: ClassVar[bool] = True

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.holds(("torch_xla", "neuronx_distributed", "torch_neuronx", "nki_jit")):
            seen = set[tuple[int, str]]()
            for finding in super().check(file, stack):
                line = finding.span.line if finding.span is not None else 0
                place = (line, finding.message if stack.frontend == "xla" else "")
                if place not in seen:  # several names of one import are one finding
                    seen.add(place)
                    yield finding
        if stack.frontend == "native":
            yield from self._devices(file, stack)

    def _devices(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """The device `xla`, by its name."""
        known = table("xla_devices")
        for call in file.names.calls(*known["makers"]):
            yield from self._device(file, argument(call, 0, "type"), stack)
        for call in file.names.methods("to"):
            yield from self._device(file, argument(call, 0, "device"), stack)
        for call in file.tree.of(ast.Call):
            yield from self._device(file, keyword(call, "device"), stack)

    def _device(self, file: SourceFile, node: ast.expr | None, stack: Stack) -> Iterator[Finding]:
        if node is not None and names_device(node, "xla") and not _is_for_xla_only(file, node):
            known = table("xla_devices")
            yield self.at(file, node, stack, then=known["then"], advice=known["help"], name='"xla"')

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        if name.startswith("."):
            return True
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            return _is_off(file, node)
        if _in_import_try(file, node):
            return name not in table("xla_devices")["pickers"]
        if xla_guard(file, node) is not None:
            return True
        return any(_is_off(file, site) for site in _bound_at(file, node))

    def _finding(self, file: SourceFile, node: ast.AST, name: str, row: Api, stack: Stack) -> Finding:
        finding = super()._finding(file, node, name, row, stack)
        if stack.frontend != "native":
            return replace(finding, message=filled(table("xla_devices")["old"], {"name": name}))
        if _in_import_try(file, node):
            then = "the import fails here, and what stands for it runs"
            return replace(finding, severity=Severity.INFO, then=then, fix=None)
        return replace(finding, fix=None)

    def _fix(self, file: SourceFile, node: ast.AST, row: Api) -> Fix | None:
        """The new name in place of the old one, where the file has the module that holds it."""
        new = row.words.get("new", "")
        if not new or not isinstance(node, ast.Call) or node.args or node.keywords:
            return None
        module, _, attribute = new.rpartition(".")
        for imported in file.tree.of(ast.Import):
            for alias in imported.names:
                plain = alias.name == module and (alias.asname or "." not in module)
                if plain and file.tree.parent(imported) is file.tree.module:
                    text = f"{alias.asname or module}.{attribute}()"
                    return Fix(f"use `{text}`", (replaced(file, node, text),))
        return None


def _in_import_try(file: SourceFile, node: ast.AST) -> bool:
    return file.guards.holding(node, "import") is not None


def _is_for_xla_only(file: SourceFile, node: ast.AST) -> bool:
    """Whether an import stands where only a program that found torch_xla comes, or a type checker."""
    guard = xla_guard(file, node)
    if guard is not None and not isinstance(guard, ast.Try):
        return True
    if file.guards.holding(node, "typing") is not None:
        return True
    around = [up for up in file.tree.ancestors(node) if isinstance(up, (*FUNCTIONS, ast.ClassDef))]
    return bool(around) and any(
        _is_of_xla(name) for name in (*(up.name for up in around), PurePosixPath(file.path).stem)
    )


def _is_of_xla(name: str) -> bool:
    """Whether a module, class or function is the XLA one among several, by its name."""
    return "xla" in name.lower() or "tpu" in name.lower()


def _is_off(file: SourceFile, site: ast.AST) -> bool:
    """Whether an import may fail without harm, or is made for torch_xla only: the calls behind it are too."""
    return _in_import_try(file, site) or _is_for_xla_only(file, site)


def _bound_at(file: SourceFile, node: ast.AST) -> Iterator[ast.AST]:
    """Where the first part of a call's name is imported or assigned."""
    expression = node.func if isinstance(node, ast.Call) else node
    while isinstance(expression, ast.Attribute):
        expression = expression.value
    if isinstance(expression, ast.Name):
        _, bindings = file.scopes.lookup(expression.id, expression)
        yield from (binding.site for binding in bindings if binding.how in ("import", "assign"))
