"""Names of devices, `torch.device`, `.cuda()` and tests of a device's name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import DropArgument, Operation, Replace, SetArgument
from neuronlint.migrate.spelling import grouped, in_order, text_of, torch_in, torch_xla_in
from neuronlint.source.cuda_places import indexes, places
from neuronlint.source.cuda_sinks import use_of
from neuronlint.source.cuda_tests import AVAILABLE, is_cuda, names_device
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.device_name_test import device_tests
from neuronlint.source.tree import constant, dotted, keyword


def moves(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`x.cuda()`, with an index and `non_blocking` kept."""
    known = {place.node for place in places(file) if place.use == "move"}
    for call in in_order(file.names.methods("cuda")):
        if not isinstance(call.func, ast.Attribute) or (call not in known and not _is_plain(file, call)):
            continue
        if journey.traced:
            yield Change("DEV001", call, "stays on the CPU", (Replace(call, text_of(file, call.func.value)),))
            continue
        owner = grouped(text_of(file, call.func.value), call.func.value)
        index = call.args[0] if call.args else keyword(call, "device")
        target, imports = _target(file, journey, index)
        rest = [text_of(file, item) for item in call.keywords if item.arg != "device"]
        new = f"{owner}.to({', '.join([target, *rest])})"
        yield Change("DEV001", call, f"moves to {target}", (Replace(call, new), *imports))


def _is_plain(file: SourceFile, call: ast.Call) -> bool:
    """Whether a move is one of a tensor or module, not how a class makes its own, nor part of a guard."""
    function = file.tree.function(call)
    own = function is not None and function.name in ("cuda", "to") and file.tree.class_of(function) is not None
    return not own and "torch" in file.imports and len(call.args) <= 1


def _target(file: SourceFile, journey: Journey, index: ast.expr | None) -> tuple[str, tuple[Operation, ...]]:
    """The device of a move; an index is the process's own core on PyTorch/XLA, so it goes there."""
    if not journey.is_native:
        return '"xla"', torch_xla_in(file)[1]
    value = constant(index)
    if index is None or (value in (0, None) and isinstance(index, ast.Constant)):
        return '"neuron"', ()
    if isinstance(value, int):
        return f'"neuron:{value}"', ()
    if file.kinds.of(index) & Kind.DEVICE or names_device(dotted(index).rpartition(".")[2]):
        return text_of(file, index), ()
    torch, imports = torch_in(file)
    return f'{torch}.device("neuron", {text_of(file, index)})', imports


def names(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`"cuda"` wherever it names a device, in `torch.device` or alone."""
    guarded = {place.literal for place in places(file) if place.asked == AVAILABLE}
    done: set[ast.AST] = set()
    for literal in file.tree.of(ast.Constant):
        if not isinstance(literal.value, str) or not literal.value.startswith("cuda"):
            continue
        node, use = use_of(file, literal) if is_cuda(literal) else (literal, "")
        if not use or (outer := _written(file, literal)) in done:
            continue
        made = _maker(file, outer, node)
        done |= {outer, *([made] if made is not None else [])}
        yield from _named(file, journey, outer, made, use, literal in guarded)


def _named(
    file: SourceFile, journey: Journey, outer: ast.expr, made: ast.AST | None, use: str, is_guarded: bool
) -> Iterator[Change | Remark]:
    if journey.traced:
        text = text_of(file, made.func) + '("cpu")' if isinstance(made, ast.Call) else '"cpu"'
        whole: ast.expr = made if isinstance(made, ast.Call) else outer
        yield Change("DEV004", outer, "stays on the CPU", (Replace(whole, text),))
    elif use == "map" and not journey.is_native:
        yield Change("DEV010", outer, 'loads to "cpu"', (Replace(outer, '"cpu"'),))
    elif use == "choices":
        yield Change("DEV007", outer, f"is {journey.device!r} too", (_with_choice(file, outer, journey.device),))
    elif isinstance(made, ast.Call) and not journey.is_native:
        xla, imports = torch_xla_in(file)
        yield Change("DEV003", made, f"is `{xla}.device()`", (*_xla_device(file, made, xla), *imports))
    elif is_guarded and journey.is_native and constant(outer) == "cuda" and not _is_named(outer):
        torch, imports = torch_in(file)
        new = f"{torch}.accelerator.current_accelerator().type"
        choice = file.tree.parent(outer)
        around = file.tree.parent(choice) if choice is not None else None
        if isinstance(choice, ast.IfExp) and around is made and isinstance(made, ast.Call) and not made.keywords:
            arms = (choice.body, choice.orelse)
            body, other = (
                f"{torch}.accelerator.current_accelerator()"
                if arm is outer
                else f"{torch}.device({text_of(file, arm)})"
                for arm in arms
            )
            text = f"{body} if {text_of(file, choice.test)} else {other}"
            yield Change("DEV005", made, "takes the accelerator that is there", (Replace(made, text), *imports))
        elif isinstance(made, ast.Call) and len(made.args) == 1 and made.args[0] is outer:
            text = f"{torch}.accelerator.current_accelerator()"
            yield Change("DEV005", made, "takes the accelerator that is there", (Replace(made, text), *imports))
        else:
            yield Change("DEV005", outer, "takes the accelerator that is there", (Replace(outer, new), *imports))
    else:
        new = _renamed(file, journey, outer)
        imports = () if journey.is_native else torch_xla_in(file)[1]
        pattern = "DEV002" if isinstance(file.tree.parent(outer), ast.Call) else "DEV004"
        yield Change(pattern, outer, f"is `{new}`", (Replace(outer, new), *imports))


def _is_named(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr)


def _written(file: SourceFile, literal: ast.Constant) -> ast.expr:
    """The literal as it is written: an f-string whole."""
    up = file.tree.parent(literal)
    return up if isinstance(up, ast.JoinedStr) else literal


def _maker(file: SourceFile, outer: ast.AST, node: ast.AST) -> ast.AST | None:
    """The call of `torch.device` that a name is given to."""
    for up in file.tree.ancestors(outer):
        if isinstance(up, ast.Call) and file.names.is_any(up.func, ("torch.device",)):
            return up
        if up is node or not isinstance(up, (ast.IfExp, ast.BoolOp, ast.BinOp, ast.keyword)):
            return None
    return None


def _xla_device(file: SourceFile, made: ast.Call, xla: str) -> tuple[Operation, ...]:
    """`torch.device(…)` on PyTorch/XLA: the process's own device, where a test chose a CPU still that."""
    given = made.args[0] if made.args else None
    if not isinstance(given, ast.IfExp):
        return (Replace(made, f"{xla}.device()"),)
    cpu = [constant(arm) == "cpu" for arm in (given.body, given.orelse)]
    if not any(cpu):
        return (Replace(made, f"{xla}.device()"),)
    torch = text_of(file, made.func)
    body, other = (f'{torch}("cpu")' if is_cpu else f"{xla}.device()" for is_cpu in cpu)
    return (Replace(made, f"{body} if {text_of(file, given.test)} else {other}"),)


def _renamed(file: SourceFile, journey: Journey, node: ast.expr) -> str:
    """The name of a device, in the file's own quotes; an index stays where it is more than the first one."""
    text = text_of(file, node)
    if not journey.is_native:
        quote = '"' if '"' in text[:3] else "'"
        return f"{quote}xla{quote}"
    return text.replace("cuda:0", "neuron", 1) if constant(node) == "cuda:0" else text.replace("cuda", "neuron", 1)


def _with_choice(file: SourceFile, outer: ast.expr, device: str) -> Replace:
    text = text_of(file, outer)
    return Replace(outer, text.replace("cuda", device, 1))


def tests(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`device.type == "cuda"`, `"cuda" in device`, `x.is_cuda`."""
    for test in device_tests(file):
        if isinstance(test, ast.Attribute):
            new = f'{grouped(text_of(file, test.value), test.value)}.device.type == "{journey.device}"'
            if isinstance(file.tree.parent(test), (ast.UnaryOp, ast.Compare, ast.BinOp)):
                new = f"({new})"
            yield Change("DEV012", test, f"asks for {journey.device!r}", (Replace(test, new),))
            continue
        for literal in ast.walk(test):
            if isinstance(literal, ast.Constant) and is_cuda(literal):
                text = text_of(file, literal)
                new = text.replace("cuda:0", journey.device).replace("cuda", journey.device)
                yield Change("DEV012", literal, f"asks for {journey.device!r}", (Replace(literal, new),))


def generators(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.Generator(device=…)`: random numbers of a seed are drawn on the CPU."""
    for call in in_order(file.names.calls("torch.Generator")):
        device = call.args[0] if call.args else keyword(call, "device")
        if device is not None and constant(device) != "cpu":
            what = "draws on the CPU: the chip has no generator, and a seed gives other numbers than on CUDA"
            yield Change("CUDA009", call, what, (DropArgument(call, device),))


def maps(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`torch.load(…, map_location=device)` on PyTorch/XLA: read to the CPU, moved afterwards."""
    if journey.is_native:
        return
    for call in in_order(file.names.calls("torch.load")):
        where = call.args[1] if len(call.args) > 1 else keyword(call, "map_location")
        if where is None or constant(where) == "cpu" or isinstance(where, ast.Lambda):
            continue
        operation = Replace(where, '"cpu"') if where in call.args else SetArgument(call, "map_location", '"cpu"')
        yield Change("DEV010", call, 'reads to "cpu"; `load_state_dict` copies to the device', (operation,))


def integers(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`.to(rank)`, `device=0`: an integer alone means CUDA."""
    for place in indexes(file):
        node = place.literal
        up = file.tree.parent(node)
        if not isinstance(node, ast.expr) or journey.traced:
            continue
        if isinstance(up, ast.Call) and file.names.is_any(up.func, ("torch.device",)):
            node = up
        if not journey.is_native:
            xla, imports = torch_xla_in(file)
            yield Change("DEV020", node, f"is `{xla}.device()`", (Replace(node, f"{xla}.device()"), *imports))
            continue
        torch, imports = torch_in(file)
        new = f'{torch}.device("neuron", {text_of(file, place.literal)})'
        yield Change("DEV020", node, f"is `{new}`", (Replace(node, new), *imports))
