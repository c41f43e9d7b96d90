"""float16 as the type of the computation, where bfloat16 is the chip's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Fix
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import device_guard, in_test, of_other_framework
from neuronlint.source.kinds import Kind
from neuronlint.source.literals import literals, text_of
from neuronlint.source.rules.autocast_device import foreign_autocasts
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import constant, dotted, keyword
from neuronlint.stack import Stack

_CARRIERS = Kind.MODULE | Kind.TENSOR | Kind.PIPELINE
Half = tuple[ast.expr, Confidence, Fix | None]


class HalfPrecision(SourceRule):
    """One finding a call: the first place in it that says float16."""

    code = "NRN708"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        autocasts = set(foreign_autocasts(file, stack.frontend)) if "autocast" in file.text else set()
        seen = set[ast.AST]()
        for node, confidence, fix in (*_types(file), *_named_types(file), *_methods(file), *_options(file)):
            place = next((up for up in file.tree.ancestors(node) if isinstance(up, ast.Call)), node)
            if place in autocasts or place in seen or in_test(file, node) or _is_elsewhere(file, place):
                continue
            if _is_chosen(file, node):
                continue
            seen.add(place)
            finding = self.at(file, node, stack, confidence=confidence, fix=fix, text=file.tree.brief(node, 40))
            if device_guard(file, node) is not None:
                finding = self.switched_off(file, node, finding)
            yield finding


def _is_elsewhere(file: SourceFile, place: ast.AST) -> bool:
    """Whether a tensor is made on a device by name, which is CUDA's or the CPU's, for TensorRT, or for nothing."""
    statement = file.tree.statement(place)
    if isinstance(statement, ast.Assign) and dotted(statement.targets[0]) == "_":
        return True
    if isinstance(place, ast.Call) and isinstance(keyword(place, "device"), ast.Constant):
        return True
    function = file.tree.function(place)
    return file.holds(("tensorrt",)) and function is not None and "tensorrt" in file.tree.segment(function, 100_000)


def _types(file: SourceFile) -> Iterator[Half]:
    """`torch.float16` given to a call as a type, or bound to a name."""
    if not file.holds(("float16", ".half")):
        return
    wanted = words("amp", "half", "types")
    for node in file.tree.of(ast.Attribute):
        if node.attr in ("float16", "half") and file.names.is_any(node, wanted) and _is_used(file, node):
            fix = Fix(
                "compute in bfloat16",
                (replaced(file, node, f"{file.tree.segment(node.value)}.bfloat16"),),
                safe=False,
            )
            yield node, Confidence.HIGH, fix


def _named_types(file: SourceFile) -> Iterator[Half]:
    """`from_pretrained(…, torch_dtype="float16")`."""
    for part in file.tree.of(ast.keyword):
        call = file.tree.parent(part)
        if part.arg not in ("torch_dtype", "dtype") or constant(part.value) not in ("float16", "half"):
            continue
        method = call.func.attr if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else ""
        if part.arg == "torch_dtype" or method in words("amp", "half", "loaders"):
            fix = Fix("compute in bfloat16", (replaced(file, part.value, '"bfloat16"'),), safe=False)
            yield part.value, Confidence.HIGH, fix


def _is_used(file: SourceFile, node: ast.expr) -> bool:
    """Whether a type is where the type of a computation stands: no table, comparison, signature or return."""
    child: ast.AST = node
    parent = file.tree.parent(node)
    while isinstance(parent, ast.IfExp) and child is not parent.test:
        child, parent = parent, file.tree.parent(parent)
    if isinstance(parent, ast.keyword):
        call = file.tree.parent(parent)
        wanted = parent.arg is not None and "dtype" in parent.arg and not parent.arg.startswith("bnb_")
        return wanted and not _is_passing(file, call)
    if isinstance(parent, ast.Call):
        method = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
        taken = method in words("amp", "half", "methods") and child in parent.args
        return taken and not _is_passing(file, parent)
    return isinstance(parent, (ast.Assign, ast.AnnAssign)) and child is parent.value


def _is_passing(file: SourceFile, call: ast.AST | None) -> bool:
    """Whether a call only passes through float16: a view of bits, or a rounding that is undone at once."""
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "view":
        return True
    after = file.tree.parent(call) if call is not None else None
    return isinstance(after, ast.Attribute) and after.attr in words("amp", "half", "undone")


def _methods(file: SourceFile) -> Iterator[Half]:
    """`model.half()` and `x.half()`."""
    for call in file.names.methods("half"):
        if call.args or call.keywords or not isinstance(call.func, ast.Attribute):
            continue
        kind = file.kinds.of(call.func.value)
        if not kind & _CARRIERS or _is_passing(file, call):
            continue
        owner = file.tree.segment(call.func.value, 10_000)
        one_line = call.lineno == call.end_lineno
        edit = replaced(file, call, f"{owner}.bfloat16()") if one_line else None
        fix = Fix("compute in bfloat16", (edit,), safe=False) if edit is not None else None
        yield call, Confidence.MEDIUM if kind & Kind.GUESS else Confidence.HIGH, fix


def _options(file: SourceFile) -> Iterator[Half]:
    """`mixed_precision="fp16"`, and options of the command line with such a default."""
    if not file.holds(("fp16", "float16")) or of_other_framework(file):
        return
    precisions, options = words("amp", "half", "precisions"), words("amp", "half", "options")
    for call in file.tree.of(ast.Call):
        for item in call.keywords:
            if item.arg == "mixed_precision" and any(text_of(t) in precisions for t in literals(item.value)):
                yield item.value, Confidence.HIGH, None
        if isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument" and call.args:
            flags = {text_of(flag).lstrip("-") for flag in call.args for flag in literals(flag)}
            default = keyword(call, "default")
            if "input data" in str(constant(keyword(call, "help"))):
                continue  # the type of what is read, not of the computation
            if flags & options and any(text_of(t) in precisions for t in literals(default)):
                yield default or call, Confidence.MEDIUM, None


def _is_chosen(file: SourceFile, node: ast.expr) -> bool:
    """Whether an option of the script, or the type of something else, chose float16 here."""
    choosing = re.compile(table("amp")["half"]["choosing"], re.I)
    child: ast.AST = node
    for up in file.tree.ancestors(node):
        tests = _behind(file, up.test) if isinstance(up, (ast.If, ast.IfExp)) and child is not up.test else ()
        if any(choosing.search(_without_probes(file, test)) for test in tests):
            return True
        if isinstance(up, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and choosing.search(up.name):
            return True
        child = up
    return False


def _behind(file: SourceFile, test: ast.expr) -> Iterator[ast.expr]:
    """A test, and what the file assigns to it where it is a plain name."""
    yield test
    if isinstance(test, ast.Name):
        _, bindings = file.scopes.lookup(test.id, test)
        yield from (binding.value for binding in bindings if binding.value is not None)


def _without_probes(file: SourceFile, test: ast.expr) -> str:
    """A test's text without the calls that only ask the hardware."""
    text = file.tree.segment(test, 400)
    for part in ast.walk(test):
        if isinstance(part, ast.Call) and "cuda" in dotted(part.func):
            text = text.replace(file.tree.segment(part, 400), "")
    return text
