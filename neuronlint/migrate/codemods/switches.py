"""Switches of cuDNN, TF32, inductor and attention kernels: they do nothing on the chip."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.codemods.statements import removed
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.spelling import is_statement
from neuronlint.source.file import SourceFile
from neuronlint.source.names import fits

_SET = ("torch.backends.cudnn.*", "torch.backends.cuda.*", "torch._inductor.config.*")
_CALLED = ("torch.backends.cuda.enable_*", "torch.set_float32_matmul_precision", "torch.backends.cudnn.set_flags")


def switches(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if "backends" not in file.text and "_inductor" not in file.text and "matmul_precision" not in file.text:
        return
    for statement in file.tree.of(ast.Assign):
        names = [name for target in statement.targets for name in file.names.of(target)]
        if names and len(statement.targets) == 1 and all(fits(name, _SET) for name in names) and _is_plain(statement):
            pattern = "CUDA010" if "cudnn" in names[0] else "CUDA011"
            yield Change(pattern, statement, "goes: it sets what only CUDA has", (removed(file, statement),))
    for call in file.names.calls_like(_CALLED):
        alone = is_statement(file, call)
        if alone is not None:
            yield Change("CUDA011", alone, "goes: it sets what only CUDA has", (removed(file, alone),))


def _is_plain(statement: ast.Assign) -> bool:
    """Whether nothing is lost with the value: it calls nothing."""
    return not any(isinstance(node, (ast.Call, ast.Await, ast.NamedExpr)) for node in ast.walk(statement.value))
