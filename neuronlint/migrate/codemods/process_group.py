"""The backend of a process group, by its name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import AddImport, Operation, Replace
from neuronlint.migrate.spelling import text_of
from neuronlint.source.file import SourceFile

_BACKEND = "import torch_xla.distributed.xla_backend"


def backend(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if "nccl" not in file.text:
        return
    makes = any(call.func for call in file.names.calls("torch.distributed.init_process_group"))
    for literal in file.tree.of(ast.Constant):
        if not isinstance(literal.value, str) or "nccl" not in literal.value or _is_text(file, literal):
            continue
        text = text_of(file, literal)
        new = text.replace("cuda:nccl", f"{journey.device}:{journey.device}").replace("nccl", journey.device)
        imports: tuple[Operation, ...] = (AddImport(_BACKEND),) if makes and not journey.is_native else ()
        yield Change("DIST001", literal, f"is `{new}`", (Replace(literal, new), *imports))


def _is_text(file: SourceFile, literal: ast.Constant) -> bool:
    """Whether a string is prose, or part of a longer one."""
    value = str(literal.value)
    if isinstance(file.tree.parent(literal), (ast.Expr, ast.JoinedStr)):
        return True
    return value not in ("nccl", "cuda:nccl") and not value.startswith(("cpu:", "cuda:"))
