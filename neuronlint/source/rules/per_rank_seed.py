"""Seeds that differ between ranks where nothing makes the replicas equal."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.stack import Stack

_RANK = re.compile(r"(^|[^a-z])(get_)?(local_|global_)?(rank|ordinal)\b", re.I)


class PerRankSeed(SourceRule):
    code = "NRN738"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if not file.holds(("rank", "ordinal", "spawn", "launch")) or file.names.calls(
            *words("distributed", "seeds", "broadcasting")
        ):
            return
        wrapped = bool(file.names.calls(*words("distributed", "seeds", "wrappers")))
        reducing = bool(file.names.calls(*words("distributed", "seeds", "reducing")))
        for call in file.names.calls(*words("distributed", "seeds", "calls")) if wrapped or reducing else ():
            if call.args and _depends_on_rank(file, call.args[0]) and _builds_after(file, call):
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.INFO if wrapped else None,
                    confidence=Confidence.MEDIUM,
                    then=table("distributed")["seeds"]["wrapped"] if wrapped else None,
                    call=file.tree.brief(call, 50),
                )


def _depends_on_rank(file: SourceFile, node: ast.expr) -> bool:
    """Whether a seed is another on each rank, by its own text or by what the file binds to it."""
    if _RANK.search(file.tree.segment(node, 200)) or _holds_index(file, node):
        return True
    if isinstance(node, ast.Name):
        _, bindings = file.scopes.lookup(node.id, node)
        values = [binding.value for binding in bindings if binding.value is not None]
        return any(_RANK.search(file.tree.segment(value, 200)) for value in values)
    return False


def _holds_index(file: SourceFile, node: ast.expr) -> bool:
    """Whether an expression holds the first parameter of a function that workers start with: their number."""
    function = file.tree.function(node)
    launches = file.names.calls(*words("distributed", "spawn", "xla"), *words("distributed", "spawn", "calls"))
    args = function.args.args if function is not None else []
    if not args or not any(call.args and file.kinds.local_function(call.args[0]) is function for call in launches):
        return False
    return any(isinstance(part, ast.Name) and part.id == args[0].arg for part in ast.walk(node))


def _builds_after(file: SourceFile, call: ast.Call) -> bool:
    """Whether a module is built below the seed in the same function, and no other seed stands between."""
    function = file.tree.function(call)
    seeds = [
        seed.lineno
        for seed in file.names.calls(*words("distributed", "seeds", "calls"))
        if seed.lineno > call.lineno and file.tree.function(seed) is function
    ]
    for assign in file.tree.of(ast.Assign):
        built = assign.lineno > call.lineno and file.tree.function(assign) is function
        if built and isinstance(assign.value, ast.Call) and file.kinds.of(assign.value) & Kind.MODULE:
            return not seeds or min(seeds) > assign.lineno
    return False
