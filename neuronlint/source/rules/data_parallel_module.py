"""nn.DataParallel, which splits a batch over the GPUs of one process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Severity
from neuronlint.source.apis import Api, ApiRule
from neuronlint.source.cuda_tests import availability, values
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import in_test


class DataParallelModule(ApiRule):
    code = "NRN718"
    table = "devices"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        return in_test(file, node)

    def _limited(self, file: SourceFile, node: ast.AST, finding: Finding, row: Api) -> Finding:
        """Where several GPUs are asked for, the chip has none to count."""
        for test in _tests(file, node):
            if _counts_gpus(file, test):
                return replace(finding, severity=Severity.INFO, then=f"it never runs there: {file.tree.brief(test)}")
        return super()._limited(file, node, finding, row)


def _tests(file: SourceFile, node: ast.AST) -> Iterator[ast.expr]:
    """The tests that all hold where a node runs."""
    child = node
    for up in file.tree.ancestors(node):
        if isinstance(up, ast.If) and file.tree.holds(up.body, child):
            every = isinstance(up.test, ast.BoolOp) and isinstance(up.test.op, ast.And)
            yield from up.test.values if every and isinstance(up.test, ast.BoolOp) else (up.test,)
        child = up


def _counts_gpus(file: SourceFile, test: ast.expr) -> bool:
    """`n_gpu > 1`, where that is what CUDA counts."""
    left = test.left if isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.GtE)) else None
    if isinstance(left, ast.Attribute) and left.attr == "n_gpu" and not file.holds(("--n_gpu",)):
        return True  # the field that Hugging Face's arguments work out themselves
    counts = values(file, left) if isinstance(left, (ast.Name, ast.Attribute)) else []
    return any(isinstance(part, ast.Call) and availability(file, part) for count in counts for part in ast.walk(count))
