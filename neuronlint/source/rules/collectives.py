"""Collectives that the chip's process group does not do, or does otherwise."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.knowledge.checks import by_stack
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard
from neuronlint.source.kinds import Kind
from neuronlint.source.literals import literals, text_of
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import argument, keyword
from neuronlint.stack import Stack


class Collectives(SourceRule):
    code = "NRN737"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if not file.holds(("torch.distributed", "distributed as", "import distributed")):
            return
        for finding, call in (*self._of_objects(file, stack), *self._on_native(file, stack)):
            yield self.switched_off(file, call, finding) if device_guard(file, call) is not None else finding

    def _told(
        self, file: SourceFile, call: ast.Call, stack: Stack, what: str, severity: Severity, confidence: Confidence
    ) -> tuple[Finding, ast.Call]:
        texts: dict[str, Any] = table("distributed")["collectives"]["told"]
        then, advice = (
            text if isinstance(text, str) else by_stack(text, stack) for text in (texts[what], texts[f"{what}_help"])
        )
        name = file.tree.segment(call.func, 40)
        return self.at(
            file, call, stack, severity=severity, confidence=confidence, then=then, advice=advice, name=name
        ), call

    def _of_objects(self, file: SourceFile, stack: Stack) -> Iterator[tuple[Finding, ast.Call]]:
        """Objects, unless a group of the CPU carries them."""
        if _has_cpu_group(file):
            return
        severity = Severity.ERROR if stack.frontend == "xla" else Severity.WARNING
        for call in file.names.calls(*words("distributed", "collectives", "object")):
            if keyword(call, "group") is None and keyword(call, "device") is None:
                yield self._told(file, call, stack, "object", severity, Confidence.MEDIUM)

    def _on_native(self, file: SourceFile, stack: Stack) -> Iterator[tuple[Finding, ast.Call]]:
        if stack.frontend != "native":
            return
        for call in file.names.calls(*words("distributed", "collectives", "tensor")):
            tensor = argument(call, 0, "tensor")
            if _is_double(file, tensor):
                yield self._told(file, call, stack, "double", Severity.WARNING, Confidence.MEDIUM)
            elif _is_on_neuron_alone(file) and _stays_on_host(file, tensor) and keyword(call, "group") is None:
                yield self._told(file, call, stack, "host", Severity.ERROR, Confidence.HIGH)
        if "gloo" not in file.text:
            for call in file.names.calls(*words("distributed", "collectives", "point")):
                yield self._told(file, call, stack, "point", Severity.INFO, Confidence.LOW)
        for call in file.names.calls(*words("distributed", "collectives", "uneven")):
            if argument(call, 2, "output_split_sizes") is not None:
                yield self._told(file, call, stack, "uneven", Severity.WARNING, Confidence.LOW)


def _backends(file: SourceFile) -> list[str]:
    """The literal backends of the file's default group, an empty text where a call names none."""
    found: list[str] = []
    for call in file.names.calls(*words("distributed", "groups", "starters")):
        given = argument(call, 0, "backend")
        found += [text_of(text) for text in literals(given)] if given is not None else [""]
    return found


def _has_cpu_group(file: SourceFile) -> bool:
    """Whether the file sets up a group for tensors of the CPU: by a pair of backends, or by leaving the choice open."""
    return any(not backend or "cpu:" in backend for backend in _backends(file))


def _is_on_neuron_alone(file: SourceFile) -> bool:
    return _backends(file) == ["neuron"]


def _is_double(file: SourceFile, node: ast.AST | None) -> bool:
    """Whether a tensor is made as float64 in the statement that binds it."""
    made: list[ast.AST | None] = [node]
    if isinstance(node, ast.Name):
        _, bindings = file.scopes.lookup(node.id, node)
        made = [binding.value for binding in bindings if binding.how == "assign"]
    doubles = words("distributed", "collectives", "doubles")
    return any(file.names.is_any(keyword(call, "dtype"), doubles) for item in made for call in _chain(item))


def _chain(node: ast.AST | None) -> Iterator[ast.Call]:
    """A call, and the calls that its methods were called on."""
    while isinstance(node, ast.Call):
        yield node
        node = node.func.value if isinstance(node.func, ast.Attribute) else None


def _stays_on_host(file: SourceFile, node: ast.AST | None) -> bool:
    kind = file.kinds.of(node)
    return bool(kind & Kind.TENSOR and kind & Kind.HOST and not kind & Kind.GUESS)
