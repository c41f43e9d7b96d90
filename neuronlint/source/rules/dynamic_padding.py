"""Padding to the longest sample of each batch: a new shape for almost every batch."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.literals import is_false
from neuronlint.source.ragged import in_tests
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import FUNCTIONS, Function, constant, dotted, keyword
from neuronlint.stack import Stack

_Found = tuple[ast.AST, Confidence]


class DynamicPadding(SourceRule):
    code = "NRN212"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if "torch" not in file.text and "transformers" not in file.text:
            return
        if "optimum-neuron" in file.roles.frameworks or in_tests(file):
            return  # its models pad to their own static shapes; a test makes up its few lengths
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
    return file.tree.brief(node)


# tokenizers and their collators


def _tokenizers(file: SourceFile) -> Iterator[_Found]:
    for part in file.tree.of(ast.keyword):
        call = file.tree.parent(part)
        if part.arg != "padding" or not isinstance(call, ast.Call) or not _is_longest(part.value):
            continue
        sure = _tokenizes(file, call)
        if (
            sure is not None
            and not _has_multiple(call)
            and _is_given_batches(file, call)
            and not _is_settled(file, call)
        ):
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
            return bool(names & given) or _makes_of(file, call.args[0], given)
    return False


def _makes_of(file: SourceFile, node: ast.expr, given: set[str], depth: int = 2) -> bool:
    """Whether a local name is a list made of a parameter: `texts = [row["text"] for row in rows]`."""
    bindings = file.scopes.lookup(node.id, node)[1] if isinstance(node, ast.Name) and depth else []
    for binding in bindings:
        if binding.how == "assign" and isinstance(binding.value, ast.ListComp):
            made = binding.value.generators[0].iter
            if dotted(made) in given or _makes_of(file, made, given, depth - 1):
                return True
    return False


def _is_settled(file: SourceFile, call: ast.Call) -> bool:
    """Whether the same text is also padded to a fixed length beside it, or its length rounded up after."""
    function = file.tree.function(call)
    statement = file.tree.statement(call)
    if isinstance(statement, ast.Assign) and re.search(_spec("untruncated"), file.tree.segment(statement.targets[0])):
        return True
    if function is not None and _rounds_up(file, function):
        return True
    return any(
        part.arg == "padding" and constant(part.value) == "max_length" and file.tree.function(part) is function
        for part in file.tree.of(ast.keyword)
    )


def _rounds_up(file: SourceFile, function: Function) -> bool:
    """Whether a function reckons with a length modulo a number; a test of it is only `every n steps`."""
    return any(
        isinstance(node.op, ast.Mod)
        and isinstance(constant(node.right), int)
        and not isinstance(file.tree.parent(node), ast.Compare)
        and file.tree.inside(node, function)
        for node in file.tree.of(ast.BinOp)
    )


def _collators(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.calls(*words("shapes", "padding", "collators")):
        padding = keyword(call, "padding")
        fixed = padding is not None and not _is_longest(padding)
        if not fixed and not is_false(padding) and not _has_multiple(call):
            yield call, Confidence.HIGH


# padding by hand


def _sequences(file: SourceFile) -> Iterator[_Found]:
    told = set[ast.AST]()
    for call in file.names.calls(*words("shapes", "padding", "sequences")):
        place = _batching(file, call)
        if place is None or place in told or file.roles.forward_of(call) is not None:
            continue
        told.add(place)  # one function pads each of its columns: one cause
        pads = file.names.calls("torch.nn.functional.pad", "torch.nn.ConstantPad1d", "next")
        if not _rounds(file, place) and not any(file.tree.inside(pad, place) for pad in pads):
            yield call, Confidence.HIGH


def _lengths(file: SourceFile) -> Iterator[_Found]:
    for call in file.names.calls("max"):
        function = file.tree.function(call)
        if function is None or not _is_of_lengths(file, call) or not _pads_with(file, call, function):
            continue
        if any(file.tree.inside(pad, function) for pad in file.names.calls(*words("shapes", "padding", "sequences"))):
            continue  # spoken of already
        if _batching(file, call) is not None or _feeds_model(file, function, call):
            yield call, Confidence.MEDIUM


def _is_of_lengths(file: SourceFile, call: ast.Call) -> bool:
    """`max(len(t) for t in texts)`, `max([t.size(0) …])`, `max(t.shape[0] …)`, `max(map(len, texts))`."""
    inner = call.args[0] if len(call.args) == 1 else None
    if isinstance(inner, (ast.GeneratorExp, ast.ListComp)):
        size = inner.elt.value if isinstance(inner.elt, ast.Subscript) else inner.elt
        if isinstance(size, ast.Call):
            return dotted(size.func) == "len" or (isinstance(size.func, ast.Attribute) and size.func.attr == "size")
        return isinstance(size, ast.Attribute) and size.attr == "shape"
    return isinstance(inner, ast.Call) and dotted(inner.func) == "map" and dotted(next(iter(inner.args), None)) == "len"


def _pads_with(file: SourceFile, call: ast.Call, function: Function) -> bool:
    """Whether the length is kept under a name as it is, and the function makes a tensor."""
    parent = file.tree.parent(call)
    target = parent.targets[0] if isinstance(parent, ast.Assign) else None
    if not isinstance(target, ast.Name) or _rounds(file, function) or _is_compared(file, function, target.id):
        return False
    if len(file.scopes.lookup(target.id, target)[1]) > 1:
        return False  # another branch sets it to something else
    makers = file.names.calls(*words("shapes", "padding", "tensors"))
    return any(file.tree.inside(maker, function) for maker in makers)


def _is_compared(file: SourceFile, function: Function, name: str) -> bool:
    """Whether a length is looked up among bucket lengths, or rounded."""
    parts: list[ast.AST] = [*file.tree.of(ast.Compare)]
    parts += [n for n in file.tree.of(ast.BinOp) if isinstance(n.op, (ast.Mod, ast.FloorDiv))]
    inside = [part for part in parts if file.tree.inside(part, function)]
    return any(isinstance(node, ast.Name) and node.id == name for part in inside for node in ast.walk(part))


def _batching(file: SourceFile, node: ast.AST) -> ast.AST | None:
    """The function or lambda around a node that makes batches: by its name, its class, or as the `collate_fn` of a
    loader."""
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.Lambda):
            part = file.tree.parent(up)
            return up if isinstance(part, ast.keyword) and part.arg == "collate_fn" else None
        if isinstance(up, FUNCTIONS):
            return up if _makes_batches(file, up) else None
    return None


def _makes_batches(file: SourceFile, function: Function) -> bool:
    owner = file.tree.class_of(function)
    called = owner is not None and function.name == "__call__"
    named = owner.name if owner is not None and called else function.name
    if re.search(_spec("batching"), named, re.I):
        return True
    for part in file.tree.of(ast.keyword):
        if part.arg == "collate_fn":
            value = part.value
            if isinstance(value, ast.Call) and called and file.kinds.local_class(value.func) is owner:
                return True
            if isinstance(value, ast.Call) and value.args:
                value = value.args[0]  # partial(collate, …)
            if dotted(value).rsplit(".", 1)[-1] == function.name:
                return True
    return False


def _feeds_model(file: SourceFile, function: Function, call: ast.Call) -> bool:
    """Whether the padded batch goes into a module within a loop: where it is made, or by what the function gives."""
    for made in (call, *file.roles.calls_of(function)):
        loop = next(file.tree.loops(made), None)
        if loop is not None and any(
            file.tree.inside(run, loop) and (made is call or _is_given(file, run, made)) for run in _runs(file)
        ):
            return True
    return False


def _runs(file: SourceFile) -> list[ast.Call]:
    return [call for call in file.tree.of(ast.Call) if file.passes.runs_module(call)]


def _is_given(file: SourceFile, run: ast.Call, made: ast.Call) -> bool:
    """Whether a module is given a call's result, itself or by the names that it is bound to."""
    statement = file.tree.statement(made)
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    bound = {node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)}
    given = [node for value in (*run.args, *(item.value for item in run.keywords)) for node in ast.walk(value)]
    return any(node is made or (isinstance(node, ast.Name) and node.id in bound) for node in given)


def _rounds(file: SourceFile, place: ast.AST) -> bool:
    """Whether a function speaks of fixed or bucket lengths, or of rounding up."""
    first, last = getattr(place, "lineno", 1), getattr(place, "end_lineno", 1)
    return re.search(_spec("settled"), "\n".join(file.tree.lines[first - 1 : last]), re.I) is not None
