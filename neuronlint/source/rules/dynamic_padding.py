"""Padding to the longest sample of each batch: a new shape for almost every batch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.literals import is_false
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import FUNCTIONS, Function, constant, dotted, keyword
from neuronlint.stack import Stack

_Found = tuple[ast.AST, Confidence]


class DynamicPadding(SourceRule):
    code = "NRN212"
    words = ("padding=True", "longest", "DataCollator", "pad_sequence", "padding = True", "max(")

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text and "transformers" not in file.text:
            return
        if "optimum-neuron" in file.roles.frameworks:
            return  # its models pad to their own static shapes
        for node, sure in (*_tokenizers(file), *_collators(file), *_sequences(file), *_lengths(file)):
            yield self.at(file, node, stack, confidence=sure, call=_shown(file, node))


def _spec(name: str) -> str:
    """A pattern of the table on padding."""
    return str(table("shapes")["padding"][name])


def _shown(file: SourceFile, node: ast.AST) -> str:
    """A call by its name and the option that matters, since its arguments may be long."""
    if isinstance(node, ast.Call):
        padding = keyword(node, "padding")
        if padding is not None:
            return f"{file.tree.segment(node.func, 30)}(…, padding={file.tree.segment(padding, 12)})"
    return file.tree.segment(node, 50)


# tokenizers and their collators


def _tokenizers(file: SourceFile) -> Iterator[_Found]:
    for part in file.tree.of(ast.keyword):
        call = file.tree.parent(part)
        if part.arg != "padding" or not isinstance(call, ast.Call) or not _is_longest(part.value):
            continue
        sure = _tokenizes(file, call)
        if sure is not None and not _has_multiple(call) and _is_given_batches(file, call) and not _compares(file, call):
            yield call, sure


def _is_longest(node: ast.expr) -> bool:
    return constant(node) is True or constant(node) in words("shapes", "padding", "longest")


def _has_multiple(call: ast.Call) -> bool:
    """Whether lengths are rounded up, or hidden in `**options`."""
    given = keyword(call, "pad_to_multiple_of")
    hidden = any(item.arg is None for item in call.keywords)
    return hidden or (given is not None and constant(given) is None) or constant(given) not in (None, 1)


def _tokenizes(file: SourceFile, call: ast.Call) -> Confidence | None:
    func = call.func
    if isinstance(func, ast.Attribute) and func.attr in words("shapes", "padding", "tokenizer_methods"):
        func = func.value
    kind = file.kinds.of(func)
    if kind & Kind.TOKENIZER:
        return Confidence.MEDIUM if kind & Kind.GUESS else Confidence.HIGH
    named = re.search(r"(^|_)(tokenizer|tok|processor)$", dotted(func).rsplit(".", 1)[-1], re.I)
    return Confidence.MEDIUM if named and not kind else None


def _is_given_batches(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call sees more than one batch: in a loop, or by a parameter of its function; literals are one."""
    if not call.args:
        return False
    names = {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
    if any(True for _ in file.tree.loops(call)):
        return bool(names)
    for up in file.tree.ancestors(call):
        if isinstance(up, (*FUNCTIONS, ast.Lambda)):
            args = up.args
            given = {arg.arg for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs)} - {"self", "args", "config"}
            return bool(names & given)
    return False


def _compares(file: SourceFile, call: ast.Call) -> bool:
    """Whether the same text is also padded to a fixed length beside it: this one only tells what was cut off."""
    function = file.tree.function(call)
    statement = file.tree.statement(call)
    if isinstance(statement, ast.Assign) and re.search(_spec("untruncated"), file.tree.segment(statement.targets[0])):
        return True
    return any(
        part.arg == "padding" and constant(part.value) == "max_length" and file.tree.function(part) is function
        for part in file.tree.of(ast.keyword)
    )


def _collators(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.calls(*words("shapes", "padding", "collators")):
        padding = keyword(call, "padding")
        fixed = padding is not None and not _is_longest(padding)
        if not fixed and not is_false(padding) and not _has_multiple(call):
            yield call, Confidence.HIGH


# padding by hand


def _sequences(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.calls(*words("shapes", "padding", "sequences")):
        function = file.tree.function(call)
        batches = function is not None and _makes_batches(file, function)
        if batches and not _settles(file, function) and file.roles.forward_of(call) is None:
            yield call, Confidence.HIGH
            return  # one function pads each of its columns: one cause


def _lengths(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.calls("max"):
        function = file.tree.function(call)
        if function is None or not _is_of_lengths(file, call) or not _pads_with(file, call, function):
            continue
        if _settles(file, function) or file.names.calls(*words("shapes", "padding", "sequences")):
            continue
        if _makes_batches(file, function) or _feeds_model(file, function):
            yield call, Confidence.MEDIUM


def _is_of_lengths(file: SourceFile, call: ast.Call) -> bool:
    """`max(len(t) for t in texts)`, `max([t.size(0) …])`, `max(t.shape[0] …)`, `max(map(len, texts))`."""
    inner = call.args[0] if len(call.args) == 1 else None
    if isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
        size = inner.elt.value if isinstance(inner.elt, ast.Subscript) else inner.elt
        if isinstance(size, ast.Call):
            return dotted(size.func) == "len" or (isinstance(size.func, ast.Attribute) and size.func.attr == "size")
        return isinstance(size, ast.Attribute) and size.attr == "shape"
    return isinstance(inner, ast.Call) and dotted(inner.func) == "map" and dotted(inner.args[0]) == "len"


def _pads_with(file: SourceFile, call: ast.Call, function: Function) -> bool:
    """Whether the length is kept under a name, and the function makes a tensor."""
    parent = file.tree.parent(call)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    makers = file.names.calls(*words("shapes", "padding", "tensors"))
    return any(file.tree.inside(maker, function) for maker in makers)


def _makes_batches(file: SourceFile, function: Function) -> bool:
    """Whether a function collates, by its name, its class, or as the `collate_fn` of a loader."""
    pattern = _spec("batching")
    owner = file.tree.class_of(function)
    if re.search(pattern, function.name, re.I):
        return True
    if owner is not None and function.name == "__call__" and re.search(pattern, owner.name, re.I):
        return True
    return any(
        part.arg == "collate_fn" and dotted(part.value).rsplit(".", 1)[-1] == function.name
        for part in file.tree.of(ast.keyword)
    )


def _feeds_model(file: SourceFile, function: Function) -> bool:
    """Whether what a function gives goes straight into a module, within a loop."""
    for call in file.roles.calls_of(function):
        user = file.tree.parent(call)
        looped = any(True for _ in file.tree.loops(call))
        if looped and isinstance(user, ast.Call) and call in user.args and file.passes.runs_module(user):
            return True
    return False


def _settles(file: SourceFile, function: Function | None) -> bool:
    """Whether a function goes on to a fixed length, or rounds lengths up to a few."""
    if function is None:
        return False
    lines = file.tree.lines[function.lineno - 1 : function.end_lineno]
    if re.search(_spec("settled"), "\n".join(lines), re.I):
        return True
    return any(
        file.tree.inside(call, function)
        for call in file.names.calls("torch.nn.functional.pad", "torch.nn.ConstantPad1d", "next")
    )
