"""The data loaders of a file: their options, what they feed, and whether their last batch is a smaller one."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from neuronlint.source.lengths import Lengths
from neuronlint.source.roles import Loop, table
from neuronlint.source.tree import constant, dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_PLACES = (
    "dataset",
    "batch_size",
    "shuffle",
    "sampler",
    "batch_sampler",
    "num_workers",
    "collate_fn",
    "pin_memory",
    "drop_last",
)
_TRAINING = re.compile(r"(^|_)(train|training|trn)", re.I)
_EVALUATION = re.compile(r"(^|_)(test|val|valid|validation|eval|evaluation|dev|infer|inference|predict|calib)", re.I)
_UNBOUNDED = re.compile(r"iterable|iterator|webdataset|stream|infinite", re.I)


@dataclass(frozen=True, slots=True)
class DataLoader:
    """A `DataLoader(…)` call with its options by name, those of `**` included. `name` is what it is bound to."""

    call: ast.Call
    options: dict[str, ast.expr]
    name: str


def loaders(file: SourceFile) -> Iterator[DataLoader]:
    """The loaders whose options the file shows in full."""
    for call in file.names.calls("torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"):
        options = _options(file, call)
        if options is not None:
            yield DataLoader(call, options, _name(file, call))


def _options(file: SourceFile, call: ast.Call) -> dict[str, ast.expr] | None:
    if any(isinstance(item, ast.Starred) for item in call.args):
        return None
    found = dict(zip(_PLACES, call.args, strict=False))
    for item in call.keywords:
        if item.arg is not None:
            found[item.arg] = item.value
            continue
        spread = _dictionary(file, item.value)
        if spread is None:
            return None
        found |= spread
    return found


def _dictionary(file: SourceFile, node: ast.expr, depth: int = 4) -> dict[str, ast.expr] | None:
    """The entries of a dictionary that literals and `update` of literals make; None where something else adds to it."""
    if isinstance(node, ast.Dict):
        keys = [constant(key) for key in node.keys]
        known = all(isinstance(key, str) for key in keys)
        return {str(key): value for key, value in zip(keys, node.values, strict=True)} if known else None
    if isinstance(node, ast.Call) and dotted(node.func) == "dict" and not node.args and depth:
        return (
            {item.arg: item.value for item in node.keywords if item.arg} if all(k.arg for k in node.keywords) else None
        )
    if not isinstance(node, ast.Name) or not depth:
        return None
    _, bindings = file.scopes.lookup(node.id, node)
    found: dict[str, ast.expr] = {}
    parts = [binding.value if binding.how == "assign" and not binding.path else None for binding in bindings]
    for call in file.names.methods("update"):
        if isinstance(call.func, ast.Attribute) and dotted(call.func.value) == node.id:
            parts += [*call.args, *(None for item in call.keywords if item.arg is None)]
            found |= {item.arg: item.value for item in call.keywords if item.arg}
    for part in parts:
        inner = _dictionary(file, part, depth - 1) if part is not None else None
        if inner is None:
            return None
        found |= inner
    return found if parts else None


def _name(file: SourceFile, call: ast.Call) -> str:
    """The name, attribute or key that a loader is bound to; else that of the function that returns it."""
    trail: list[ast.AST] = [call]
    for up in file.tree.ancestors(call):
        if isinstance(up, ast.Assign):
            return _target(up, trail)
        if isinstance(up, ast.Dict):
            keys = [key for key, value in zip(up.keys, up.values, strict=True) if value is trail[-1]]
            return str(constant(keys[0]) or "") if keys else ""
        if isinstance(up, ast.Return):
            function = file.tree.function(up)
            return function.name if function is not None else ""
        if isinstance(up, ast.stmt):
            return ""
        trail.append(up)
    return ""


def _target(assign: ast.Assign, trail: list[ast.AST]) -> str:
    target, value = assign.targets[0], assign.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        target = next((t for t, v in zip(target.elts, value.elts, strict=True) if v in trail), target)
    return dotted(target) or str(constant(getattr(target, "slice", None)) or "")


def use(file: SourceFile, loader: DataLoader) -> str:
    """What a loader feeds: `training`, `evaluation`, or nothing that the file shows."""
    loops = list(_loops(file, loader))
    if any(file.passes.trains(loop) or _holds(file, loop) for loop in loops):
        return "training"
    if any(file.passes.evaluates(loop) is not None for loop in loops):
        return "evaluation"
    name = loader.name.rsplit(".", 1)[-1]
    if _EVALUATION.search(name):
        return "evaluation"
    dataset = dotted(loader.options.get("dataset"))
    if _TRAINING.search(name) or _TRAINING.search(dataset.rsplit(".", 1)[-1]):
        return "training"
    return "training" if constant(loader.options.get("shuffle")) is True and not _EVALUATION.search(dataset) else ""


def _holds(file: SourceFile, loop: Loop) -> bool:
    """Whether the passes of a loop train in an inner loop of their own: several steps a batch."""
    return any(file.tree.inside(item.backward, loop) for item in file.passes.training)


def _loops(file: SourceFile, loader: DataLoader) -> Iterator[Loop]:
    """The loops over a loader: over the call itself, over its name, over a parameter that gets it."""
    for loop in file.tree.for_loops:
        if any(node is loader.call for node in ast.walk(loop.iter)):
            yield loop
    names = _aliases(file, loader.name) if loader.name else set()
    for name in names:
        yield from _over(file, name, None)
        for call in _calls_with(file, name):
            yield from _in_function(file, call, name)


def _over(file: SourceFile, name: str, within: ast.AST | None) -> Iterator[Loop]:
    for loop in file.tree.for_loops:
        if within is not None and not file.tree.inside(loop, within):
            continue
        if any(isinstance(node, (ast.Name, ast.Attribute)) and dotted(node) == name for node in ast.walk(loop.iter)):
            yield loop


def _aliases(file: SourceFile, name: str) -> set[str]:
    """A loader's name and those of what wraps it: `MpDeviceLoader(loader, device)`, `accelerator.prepare(loader)`."""
    found = {name}
    wrappers = set(table()["marking_loaders"])
    for assign in file.tree.of(ast.Assign):
        value = assign.value
        if not isinstance(value, ast.Call) or not any(dotted(item) == name for item in value.args):
            continue
        prepares = isinstance(value.func, ast.Attribute) and value.func.attr in ("prepare", "setup_dataloaders")
        if not prepares and not file.names.is_any(value.func, wrappers):
            continue
        target = assign.targets[0]
        if isinstance(target, ast.Tuple) and len(target.elts) == len(value.args):
            place = [dotted(item) for item in value.args].index(name)
            found.add(dotted(target.elts[place]))
        else:
            found.add(dotted(target))
    return found - {""}


def _calls_with(file: SourceFile, name: str) -> Iterator[ast.Call]:
    for call in file.tree.of(ast.Call):
        if any(dotted(item) == name for item in (*call.args, *(k.value for k in call.keywords))):
            yield call


def _in_function(file: SourceFile, call: ast.Call, name: str) -> Iterator[Loop]:
    function = file.kinds.local_function(call.func)
    if function is None:
        return
    args = [*function.args.posonlyargs, *function.args.args]
    args = args[1:] if args and args[0].arg in ("self", "cls") else args
    for place, arg in enumerate(args):
        by_place = place < len(call.args) and dotted(call.args[place]) == name
        if by_place or any(k.arg == arg.arg and dotted(k.value) == name for k in call.keywords):
            yield from _over(file, arg.arg, function)


def is_ragged(file: SourceFile, loader: DataLoader) -> bool | None:
    """Whether the last batch is smaller than the others; None where the file does not say how many samples there are.

    A loader that drops it, has one sample a batch, or is batched by something else has none.
    """
    options, lengths = loader.options, Lengths(file)
    size = options.get("batch_size")
    dropped = options.get("drop_last")
    if dropped is not None and constant(dropped) is not False:
        return False
    if "batch_sampler" in options or size is None or (isinstance(size, ast.Constant) and size.value in (None, 1)):
        return False
    if (isinstance(size, ast.Call) and dotted(size.func) == "len") or _UNBOUNDED.search(_dataset_text(file, loader)):
        return False
    batch, count = lengths.number(size), lengths.length(options.get("dataset"))
    if batch is None or count is None or batch < 1:
        return False if batch == 1 else None
    return count % batch != 0


def uneven_step(file: SourceFile, loop: Loop) -> bool | None:
    """For `for i in range(0, n, size)`: True where `n` is no multiple of `size`, False where the file does not say,
    None for other loops, for exact multiples, and where `n` is cut to whole batches."""
    call = loop.iter if isinstance(loop, ast.For) else None
    if not isinstance(call, ast.Call) or dotted(call.func) not in ("range", "trange") or len(call.args) != 3:
        return None
    stop, size = call.args[1:]
    if isinstance(stop, ast.BinOp):
        return None
    lengths = Lengths(file)
    count, step = lengths.number(stop), lengths.number(size)
    if step == 1 or (count is not None and step and count % step == 0):
        return None
    return count is not None and bool(step)


def cuts_slices(file: SourceFile, loop: Loop) -> bool:
    """Whether the body takes `x[i : i + size]` by the loop's counter."""
    counter = dotted(loop.target) if isinstance(loop, ast.For) else ""
    return any(
        isinstance(node, ast.Slice) and dotted(node.lower) == counter and isinstance(node.upper, ast.BinOp)
        for statement in loop.body
        for node in ast.walk(statement)
    )


def in_tests(file: SourceFile) -> bool:
    """Whether the file holds tests: what its loaders go over is made for them, and small."""
    return file.path.replace("\\", "/").rsplit("/", 1)[-1].startswith("test_")


def _dataset_text(file: SourceFile, loader: DataLoader) -> str:
    """The names that a data set goes by: its own, its class's and that of the bases."""
    node = loader.options.get("dataset")
    names = [dotted(node)]
    if isinstance(node, ast.Name):
        _, bindings = file.scopes.lookup(node.id, node)
        node = next((b.value for b in bindings if isinstance(b.value, ast.Call)), node)
    if isinstance(node, ast.Call):
        names.append(dotted(node.func))
        owner = file.kinds.local_class(node.func)
        names += [dotted(base) for base in owner.bases] if owner is not None else []
        names += ["stream" for item in node.keywords if item.arg == "streaming"]
    return " ".join(names)
