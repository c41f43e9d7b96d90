"""How a file spells things: the name that torch has in it, and the text of its expressions."""

from __future__ import annotations

import ast

from neuronlint.migrate.operations import AddImport, Operation
from neuronlint.source.file import SourceFile
from neuronlint.source.tree import position


def text_of(file: SourceFile, node: ast.AST) -> str:
    """A node's own text, whole: its lines, comments between them and all."""
    span = file.tree.span(node)
    lines = list(file.tree.lines[span.line - 1 : span.end_line])
    lines[-1] = lines[-1][: span.end_column - 1]
    lines[0] = lines[0][span.column - 1 :]
    return "\n".join(lines)


def torch_in(file: SourceFile) -> tuple[str, tuple[Operation, ...]]:
    """The name that a file has for torch, and the import that it lacks for it."""
    return module_in(file, "torch", "torch", "import torch")


def module_in(file: SourceFile, module: str, name: str, statement: str) -> tuple[str, tuple[Operation, ...]]:
    """The name that a file has for a module: one that it imports at its top, else `name` with the import for it."""
    for node in file.module.body:
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == module and (alias.asname or "." not in module):
                    return alias.asname or alias.name, ()
        parent, _, last = module.rpartition(".")
        if isinstance(node, ast.ImportFrom) and node.module == parent and not node.level:
            for alias in node.names:
                if alias.name == last:
                    return alias.asname or alias.name, ()
    return name, (AddImport(statement),)


def torch_xla_in(file: SourceFile) -> tuple[str, tuple[Operation, ...]]:
    return module_in(file, "torch_xla", "torch_xla", "import torch_xla")


def xla_model_in(file: SourceFile) -> tuple[str, tuple[Operation, ...]]:
    return module_in(file, "torch_xla.core.xla_model", "xm", "import torch_xla.core.xla_model as xm")


def grouped(text: str, node: ast.expr) -> str:
    """The text of an expression, fit to stand where only a primary may: in front of a dot or a bracket."""
    plain = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant, ast.Tuple, ast.List, ast.Dict)
    return text if isinstance(node, plain) and not _is_bare(text, node) else f"({text})"


def _is_bare(text: str, node: ast.expr) -> bool:
    return isinstance(node, ast.Tuple) and not text.startswith("(")


def in_order(nodes: list[ast.Call]) -> list[ast.Call]:
    return sorted(set(nodes), key=position)


def is_statement(file: SourceFile, node: ast.AST) -> ast.Expr | None:
    """The statement that an expression is all of."""
    up = file.tree.parent(node)
    return up if isinstance(up, ast.Expr) else None
