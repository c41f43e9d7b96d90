"""Work that every rank has to do, under a test that lets one rank in."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Confidence, Finding, Severity
from neuronlint.source.file import SourceFile
from neuronlint.source.guards import Guard
from neuronlint.source.kinds import Kind
from neuronlint.source.rules.base import SourceRule
from neuronlint.source.tables import table, words
from neuronlint.source.tree import Function, keyword
from neuronlint.stack import Stack


class RankGuarded(SourceRule):
    """Collectives on both stacks, by themselves or in a function of the file; on xla pending work too."""

    code = "NRN811"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        if file.roles.step_is_owned or not file.holds(("distributed", "torch_xla", "dist.")):
            return
        seen = set[ast.AST]()
        for call, inner in _collectives(file):
            guard = _rank_guard(file, call)
            if guard is not None and guard.node not in seen and not _is_met(file, call, guard):
                seen.add(guard.node)
                yield self._told(file, call, stack, guard, inner)
        if stack.frontend == "xla":
            yield from self._pending(file, stack)
            yield from self._runs(file, stack, seen)

    def _told(self, file: SourceFile, call: ast.Call, stack: Stack, guard: Guard, inner: ast.Call | None) -> Finding:
        texts = table("distributed")["guarded"]
        then = texts["called"].replace("{inner}", file.tree.segment(inner.func, 40)) if inner is not None else None
        return self.at(
            file,
            call,
            stack,
            confidence=Confidence.MEDIUM if inner is not None else Confidence.HIGH,
            then=then,
            call=file.tree.segment(call.func, 40),
            test=file.tree.segment(guard.node, 30),
        )

    def _pending(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        """Reads of the device before the marker of a training loop: the graphs of the ranks part."""
        texts = table("distributed")["guarded"]
        for call in file.names.methods(*words("distributed", "collectives", "host_reads")):
            owner = call.func.value if isinstance(call.func, ast.Attribute) else call.func
            kind = file.kinds.of(owner)
            if not kind & Kind.TENSOR or kind & Kind.HOST:
                continue
            guard = _rank_guard(file, call)
            run = file.passes.of(call) if guard is not None else None
            marker = file.roles.marker_in(run.loop) if run is not None and run.trains else None
            if guard is not None and marker is not None and call.lineno < marker.lineno:
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    then=texts["pending"],
                    advice=texts["pending_help"],
                    call=file.tree.segment(call, 40),
                    test=file.tree.segment(guard.node, 30),
                )

    def _runs(self, file: SourceFile, stack: Stack, told: set[ast.AST]) -> Iterator[Finding]:
        """A model that one rank runs in a data-parallel script: its graphs are none of the others'."""
        known = words("distributed", "seeds", "wrappers", "reducing") | words("distributed", "groups", "starters")
        if not file.names.calls(*known):
            return
        texts = table("distributed")["guarded"]
        for call in file.tree.of(ast.Call):
            guard = _rank_guard(file, call) if _runs_module(file, call) else None
            if guard is not None and guard.holds and guard.node not in told and not _is_unwrapped(file, call):
                told.add(guard.node)
                yield self.at(
                    file,
                    call,
                    stack,
                    severity=Severity.WARNING,
                    confidence=Confidence.MEDIUM,
                    then=texts["runs"],
                    advice=texts["runs_help"],
                    call=file.tree.segment(call.func, 40),
                    test=file.tree.segment(guard.node, 30),
                )


def _every_rank() -> frozenset[str]:
    return words("distributed", "collectives", "every_rank", "every_rank_xla")


def _collectives(file: SourceFile) -> Iterator[tuple[ast.Call, ast.Call | None]]:
    """The collectives of the default group, and the calls of functions of the file that hold one on every way."""
    direct = [call for call in file.names.calls(*_every_rank()) if keyword(call, "group") is None]
    direct = [call for call in direct if not any(item.arg == "process_group" for item in call.keywords)]
    yield from ((call, None) for call in direct)
    told = set[Function]()
    for call in direct:
        function = file.tree.function(call)
        if function is not None and function not in told and _always_comes_to(file, call, function):
            told.add(function)
            yield from ((use, call) for use in file.roles.calls_of(function))


def _always_comes_to(file: SourceFile, call: ast.Call, function: Function) -> bool:
    """Whether a function comes to a collective under no test of its own, nor after an early return."""
    for up in file.tree.ancestors(call):
        if up is function:
            break
        if isinstance(up, (ast.If, ast.IfExp, ast.Try)):
            return False
    return not any(
        isinstance(item, ast.If) and isinstance(item.body[-1], (ast.Return, ast.Raise)) and item.lineno < call.lineno
        for item in function.body
    )


def _rank_guard(file: SourceFile, node: ast.AST) -> Guard | None:
    """The test of the rank around a node, in its own function."""
    function = file.tree.function(node)
    for guard in file.guards.of(node):
        if isinstance(guard.node, ast.BoolOp) and isinstance(guard.node.op, ast.And):
            continue  # `if not sharded and rank: return` lets every rank past where it is sharded
        if guard.what == "rank" and (function is None or file.tree.inside(guard.node, function)):
            return guard
    return None


def _is_met(file: SourceFile, call: ast.Call, guard: Guard) -> bool:
    """Whether the other ranks come to the same collective elsewhere: in the other arm, or under the opposite test."""
    names = _names_of(file, call)
    function = file.tree.function(call)
    for other in file.tree.of(ast.Call):
        if other is call or file.tree.function(other) is not function or not names & _names_of(file, other):
            continue
        tests = [up.test for up in file.tree.ancestors(other) if isinstance(up, (ast.If, ast.IfExp))]
        same = [test for test in tests if test is guard.node or file.tree.inside(guard.node, test)]
        opposite = any(g.what == "rank" and g.holds != guard.holds for g in file.guards.of(other))
        if opposite or any(test not in same and "rank" in file.tree.segment(test, 200) for test in tests):
            return True
    return False


def _names_of(file: SourceFile, call: ast.Call) -> set[str]:
    return set(file.names.of(call.func)) or {file.tree.segment(call.func)}


def _is_unwrapped(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call gets a model out of its wrapper, which is meant for one rank: nothing in it waits for others."""
    given = [call, *(value for arg in call.args if isinstance(arg, ast.Name) for value in _values(file, arg))]
    return any(isinstance(node, ast.Attribute) and node.attr == "module" for item in given for node in ast.walk(item))


def _values(file: SourceFile, name: ast.Name) -> list[ast.expr]:
    return [binding.value for binding in file.scopes.lookup(name.id, name)[1] if binding.value is not None]


def _runs_module(file: SourceFile, call: ast.Call) -> bool:
    """Whether a call runs a model, by itself or in a function of the file."""
    if file.kinds.of(call.func) & Kind.MODULE and not file.kinds.local_class(call.func):
        return True
    function = file.kinds.local_function(call.func)
    inner = (item for item in ast.walk(function) if isinstance(item, ast.Call)) if function is not None else ()
    return any(file.kinds.of(item.func) & Kind.MODULE and not file.kinds.local_class(item.func) for item in inner)
