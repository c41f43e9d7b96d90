"""Workers started from within a script, without the environment that the chip's runtime reads."""

from __future__ import annotations

import ast

from neuronlint.source.apis import ApiRule
from neuronlint.source.file import SourceFile


class SpawnLaunch(ApiRule):
    code = "NRN736"
    table = "distributed"

    def passes(self, file: SourceFile, node: ast.AST, name: str) -> bool:
        """A script that sets the variables itself is in order, one that never leaves the CPU too."""
        if file.holds(("LOCAL_RANK",)) and file.holds(("environ",)):
            return _sets_local_rank(file)
        return not file.holds(("cuda", "nccl", "neuron", "xla", "accelerator"))


def _sets_local_rank(file: SourceFile) -> bool:
    for assign in file.tree.of(ast.Assign):
        for target in assign.targets:
            if isinstance(target, ast.Subscript) and "LOCAL_RANK" in file.tree.segment(target):
                return True
    return any(
        keyword.arg == "LOCAL_RANK" for call in file.names.calls("os.environ.update") for keyword in call.keywords
    )
