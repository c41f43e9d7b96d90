"""Whether the last batch is smaller than the others: of a loader, or of slices that a loop cuts by hand."""

from __future__ import annotations

import ast
import re
from typing import TYPE_CHECKING

from neuronlint.source.lengths import Lengths
from neuronlint.source.loaders import DataLoader
from neuronlint.source.roles import Loop
from neuronlint.source.tree import constant, dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_UNBOUNDED = re.compile(r"iterable|iterator|webdataset|stream|infinite", re.I)


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
