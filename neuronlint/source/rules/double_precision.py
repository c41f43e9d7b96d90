"""Double precision in modules and in the passes of a loop."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.device_code import on_chip
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.ragged import in_tests
from neuronlint.source.reads import on_device
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import argument, constant, keyword
from neuronlint.stack import Stack


class DoublePrecision(SourceRule):
    code = "NRN311"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text or in_tests(file):
            return
        for node, sure in (*_methods(file, stack), *_types(file, stack), *_defaults(file)):
            if not _is_chosen(file, node):
                yield self.at(file, node, stack, confidence=sure, what=file.tree.brief(node, 40))


def _methods(file: SourceFile, stack: Stack) -> Iterator[tuple[ast.Call, Confidence]]:
    """`x.double()` of a tensor on the device, `model.double()`."""
    for call in file.names.methods(*words("numbers", "float64", "methods")):
        if not isinstance(call.func, ast.Attribute) or call.args:
            continue
        if file.kinds.of(call.func.value) & Kind.MODULE:
            if not _is_handed_in(file, call.func.value):
                yield call, Confidence.MEDIUM
            continue
        sure = on_device(file, call.func.value)
        if sure is not None and on_chip(file, call, stack):
            yield call, sure


def _is_handed_in(file: SourceFile, node: ast.expr) -> bool:
    """Whether a module is a parameter: what asks for float64 then is whoever calls."""
    bindings = file.scopes.lookup(node.id, node)[1] if isinstance(node, ast.Name) else []
    return any(binding.how == "parameter" for binding in bindings)


def _types(file: SourceFile, stack: Stack) -> Iterator[tuple[ast.Call, Confidence]]:
    """Casts to float64, and tensors made of it on the device."""
    double = words("numbers", "float64", "types")
    for call in file.names.methods(*words("numbers", "float64", "casts")):
        wanted = keyword(call, "dtype") or (argument(call, 0, "dtype") if call.args else None)
        if isinstance(call.func, ast.Attribute) and file.names.is_any(wanted, double) and _is_plain(wanted):
            if file.kinds.of(call.func.value) & Kind.MODULE:
                if not _is_handed_in(file, call.func.value):
                    yield call, Confidence.MEDIUM
                continue
            sure = on_device(file, call.func.value)
            if sure is not None and on_chip(file, call, stack):
                yield call, sure
    for part in file.tree.of(ast.keyword):
        maker = file.tree.parent(part)
        if part.arg != "dtype" or not isinstance(maker, ast.Call) or not file.names.is_any(part.value, double):
            continue
        if _is_plain(part.value) and _makes(file, maker) and on_chip(file, maker, stack):
            yield maker, Confidence.HIGH


def _is_plain(node: ast.AST | None) -> bool:
    """Whether a type is written out: a name may hold what a choice gave it."""
    return isinstance(node, ast.Attribute)


def _makes(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call of torch makes a tensor, or reduces one, on the device."""
    names = file.names.of(call.func)
    device = keyword(call, "device")
    placed = device is not None and constant(device) != "cpu"
    if any(name.startswith("torch.") for name in names):
        return placed or any(on_device(file, value) for value in call.args)
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    casts = words("numbers", "float64", "casts")
    return (
        not names
        and isinstance(call.func, ast.Attribute)
        and call.func.attr not in casts
        and (on_device(file, owner) is not None)
    )


def _defaults(file: SourceFile) -> Iterator[tuple[ast.Call, Confidence]]:
    wanted = words("numbers", "float64", "types", "tensors")
    for call in file.names.calls(*words("numbers", "float64", "defaults")):
        given = call.args[0] if call.args else None
        named = str(constant(given)) in wanted
        if named or (file.names.is_any(given, wanted) and isinstance(given, ast.Attribute)):
            yield call, Confidence.HIGH


def _is_chosen(file: SourceFile, node: ast.AST) -> bool:
    """Whether a test of the device chooses this type, here or for the other arm."""
    aware = table("numbers")["float64"]["aware"]
    return any(
        isinstance(up, (ast.If, ast.IfExp)) and re.search(aware, file.tree.segment(up.test, 120))
        for up in file.tree.ancestors(node)
    )
