"""Float16 outside autocast: bfloat16 has other numerics, so it waits for consent."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.autocast import HALF
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import Replace
from neuronlint.migrate.spelling import grouped, in_order, text_of, torch_in
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind

_WHAT = "computes in bfloat16, the chip's type: three digits fewer, and the range of float32"
_TAKEN = ("dtype", "torch_dtype", "param_dtype", "compute_dtype")


def half_precision(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    """`model.half()`, and `dtype=torch.float16` where a model or tensor is made or moved."""
    torch, imports = torch_in(file)
    for call in in_order(file.names.methods("half")):
        owner = call.func.value if isinstance(call.func, ast.Attribute) else None
        if owner is not None and not call.args and file.kinds.of(owner) & (Kind.MODULE | Kind.TENSOR):
            new = f"{grouped(text_of(file, owner), owner)}.to({torch}.bfloat16)"
            yield Change("AMP003", call, _WHAT, (Replace(call, new), *imports), safe=False)
    for given in file.tree.of(ast.keyword):
        if given.arg in _TAKEN and file.names.is_any(given.value, HALF):
            new = f"{torch}.bfloat16"
            yield Change("AMP003", given.value, _WHAT, (Replace(given.value, new), *imports), safe=False)
