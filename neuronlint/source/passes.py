"""What runs on each pass of a loop that trains, evaluates or samples, and how often it does."""

from __future__ import annotations

import ast
import re
from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from neuronlint.source.kinds import Kind, Kinds
from neuronlint.source.often import EACH, Often
from neuronlint.source.roles import Loop, Roles
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, Function, SourceTree, dotted, position

if TYPE_CHECKING:
    from neuronlint.source.names import Names
    from neuronlint.source.scopes import Scopes

_DEPTH = 3
_CALLS = 6
"""How many calls of a function, and ways to a node, are followed."""
Step = tuple[Loop, ast.AST, int]
"""A loop, the node in it by which it runs the code, and how often that is."""
_NO_GRADIENTS = ("no_grad", "inference_mode", ".eval(")


@dataclass(frozen=True, slots=True)
class Pass:
    """The loop that runs a piece of code, and the node in the loop's own function by which it does: the code itself,
    or the call that leads to it."""

    loop: Loop
    site: ast.AST
    trains: bool
    how_often: int


@dataclass(frozen=True, slots=True)
class TrainingLoop:
    """A loop with `backward` and an optimizer's step in its passes. `micro` is the inner loop around `backward`, where
    gradients of several batches are added up."""

    loop: Loop
    backward: ast.Call
    steps: tuple[ast.Call, ...]
    micro: Loop | None = None


class Passes:
    """The passes of the loops of one file, worked out when asked for."""

    def __init__(self, tree: SourceTree, scopes: Scopes, names: Names, kinds: Kinds, roles: Roles) -> None:
        self._tree, self._scopes, self._names, self._kinds, self._roles = tree, scopes, names, kinds, roles
        self._callings: dict[tuple[Function, int], list[tuple[Step, ...]]] = {}
        self._chains: dict[ast.AST, list[Step]] = {}
        self._often = Often(tree, scopes, names)
        self._evaluates: dict[Loop, ast.Call | None] = {}

    def of(self, node: ast.AST) -> Pass | None:
        """The innermost pass that runs a node, through the callers of its function; None where no loop of the file
        that trains or runs a model does."""
        for loop, site, how_often in self.chain(node):
            if self.trains(loop):
                return Pass(loop, site, True, how_often)
            if self.evaluates(loop) is not None:
                return Pass(loop, site, False, how_often)
        return None

    def chain(self, node: ast.AST) -> list[Step]:
        """The loops that run a node, innermost first: those around it, then those around the calls of its function."""
        known = self._chains.get(node)
        if known is None:
            known = self._chains[node] = list(dict.fromkeys(step for path in self.paths(node) for step in path))
        return known

    def paths(self, node: ast.AST, depth: int = _DEPTH) -> list[tuple[Step, ...]]:
        """The same for each way that leads to a node: one for each call of its function that loops run."""
        own = tuple((loop, node, self.how_often(node, loop)) for loop in self._tree.loops(node))
        function = self._tree.function(node)
        if function is None or depth < 0 or isinstance(self._tree.parent(node), ast.Lambda):
            return [own] if own else []
        inside = self.how_often(node, function)
        outer = [tuple((loop, at, min(inside, often)) for loop, at, often in p) for p in self._callers(function, depth)]
        return [(*own, *path) for path in outer] or ([own] if own else [])

    def _callers(self, function: Function, depth: int) -> list[tuple[Step, ...]]:
        known = self._callings.get((function, depth))
        if known is None:
            self._callings[function, depth] = []
            known = [path for call in self._calls(function)[:_CALLS] for path in self.paths(call, depth - 1)][:_CALLS]
            self._callings[function, depth] = known
        return known

    def _calls(self, function: Function) -> list[ast.AST]:
        """The calls of a function; for a closure that calls `backward`, its own definition."""
        calls: list[ast.AST] = list(self._roles.calls_of(function))
        inner = self._tree.function(function) is not None or next(self._tree.loops(function), None) is not None
        if not calls and inner and function in self._with_backward:
            calls.append(function)
        return calls

    @cached_property
    def _with_backward(self) -> set[ast.AST]:
        """What holds a call of `backward`."""
        return {up for call in self._roles.backward_calls for up in self._tree.ancestors(call)}

    # training

    @cached_property
    def training(self) -> list[TrainingLoop]:
        """The loops of the file that train, one for each place of a step."""
        return list(self._training_loops())

    def trains(self, loop: Loop) -> bool:
        return loop in self._trains

    @cached_property
    def _trains(self) -> set[Loop]:
        return {loop for item in self.training for loop in (item.loop, item.micro) if loop is not None}

    def _training_loops(self) -> Iterator[TrainingLoop]:
        steps: dict[Loop, list[ast.Call]] = {}
        for step in (*self._roles.optimizer_steps, *self._scaled):
            for loop in self._innermost(step):
                steps.setdefault(loop, []).append(step)
        seen: set[ast.AST] = set()
        for backward in (*self._roles.backward_calls, *self._scaled):
            for path in self.paths(backward):
                inner, *around = [loop for loop, _, _ in path]
                outer = next((loop for loop in around[:2] if loop in steps), None)
                key, micro = (inner, None) if inner in steps or outer is None else (outer, inner)
                if key not in seen:
                    seen.add(key)
                    yield TrainingLoop(key, backward, tuple(sorted(steps.get(key, ()), key=position)), micro)

    def _innermost(self, node: ast.AST) -> set[Loop]:
        """The innermost loop of each way to a node."""
        return {path[0][0] for path in self.paths(node)}

    @cached_property
    def _scaled(self) -> list[ast.Call]:
        """The calls `loss_scaler(loss, optimizer, …)` of objects that do both, as timm and its heirs have them."""
        if "scaler(" not in self._tree.text:
            return []
        named = [
            call
            for call in self._tree.of(ast.Call)
            if len(call.args) > 1 and dotted(call.func).lower().endswith("scaler")
        ]
        return [call for call in named if self._kinds.of(call.args[1]) & Kind.OPTIMIZER]

    # evaluation and sampling

    def evaluates(self, loop: Loop) -> ast.Call | None:
        """The call of a model in a loop that runs it without gradients and does not train, None for other loops."""
        if not any(word in self._tree.text for word in _NO_GRADIENTS):
            return None
        if loop not in self._evaluates:
            self._evaluates[loop] = None if loop in self._around_training else self._model_call(loop)
        return self._evaluates[loop]

    @property
    def evaluating(self) -> list[tuple[Loop, ast.Call]]:
        """The loops that run a model without gradients, each with the call."""
        loops = [*self._tree.for_loops, *self._tree.of(ast.While)]
        return [(loop, call) for loop in loops if (call := self.evaluates(loop)) is not None]

    @cached_property
    def _around_training(self) -> set[Loop]:
        """The loops that train, and those around them."""
        chains = ([item.loop, *(other for other, _, _ in self.chain(item.backward))] for item in self.training)
        return {other for chain in chains for other in chain}

    def _model_call(self, loop: Loop) -> ast.Call | None:
        if self._roles.forward_of(loop) is not None:
            return None
        target = ast.walk(loop.target) if not isinstance(loop, ast.While) else ()
        targets = {node.id for node in target if isinstance(node, ast.Name)}
        for node in _within(loop):
            if isinstance(node, ast.Call) and self.runs_module(node) and self._without_gradients(node):
                root = dotted(node.func).split(".")[0]
                own = next(self._tree.loops(node), None) is loop and self.how_often(node, loop) == EACH
                if own and root not in targets:
                    return node
        return None

    def runs_module(self, call: ast.Call) -> bool:
        """Whether a call runs a module: `model(x)`, `model.forward(x)`, `model.generate(x)`."""
        if self._kinds.of(call.func) & Kind.MODULE:
            return not self._is_loss(call)
        func = call.func
        return (
            isinstance(func, ast.Attribute)
            and func.attr in ("forward", "generate")
            and bool(self._kinds.of(func.value) & Kind.MODULE)
        )

    def _is_loss(self, call: ast.Call) -> bool:
        """Whether what is called goes by the name of a loss: it runs on what a model gave, and is none itself."""
        return bool(re.search(r"loss|criterion|metric", dotted(call.func), re.I))

    def _without_gradients(self, node: ast.Call) -> bool:
        names = table("roles")["no_grad"]
        for up in self._tree.ancestors(node):
            if isinstance(up, (ast.With, ast.AsyncWith)):
                if any(self._names.is_any(_called(item.context_expr), names) for item in up.items):
                    return True
            elif isinstance(up, FUNCTIONS):
                if any(self._names.is_any(_called(item), names) for item in up.decorator_list):
                    return True
                return self._is_in_eval_mode(node, up)
        return False

    def _is_in_eval_mode(self, node: ast.Call, function: Function) -> bool:
        """Whether `model.eval()` stands above a call of the model in a function that does not train."""
        first = self._evals.get((dotted(node.func), function))
        return first is not None and first < position(node)

    @cached_property
    def _evals(self) -> dict[tuple[str, Function | None], tuple[int, int]]:
        """Where each function first puts what goes by a name into evaluation mode."""
        found: dict[tuple[str, Function | None], tuple[int, int]] = {}
        for call in self._names.methods("eval"):
            if isinstance(call.func, ast.Attribute):
                key = (dotted(call.func.value), self._tree.function(call))
                found[key] = min(position(call), found.get(key, position(call)))
        return found

    def how_often(self, node: ast.AST, top: ast.AST) -> int:
        """How often a node runs within a loop or function: `EACH` pass, `RARELY`, or `ONCE`."""
        return self._often.of(node, top)

    def is_seldom(self, test: ast.expr) -> bool:
        """Whether a test holds on few passes."""
        return self._often.is_seldom(test)

    # order within a pass

    @cached_property
    def work(self) -> list[ast.Call]:
        """The calls that put work on the device, in source order: models, `backward`, optimizer steps."""
        return [call for call in self._tree.of(ast.Call) if self.is_work(call)]

    def is_work(self, call: ast.Call) -> bool:
        """Whether a call puts work on the device."""
        return call in self._steps or self.runs_module(call)

    @cached_property
    def _steps(self) -> set[ast.Call]:
        return {*self._roles.backward_calls, *self._roles.optimizer_steps, *self._scaled}

    def markers(self, loop: Loop) -> list[tuple[ast.Call, int]]:
        """The markers that run in the passes of a loop, each with how often it does."""
        return self._marked.get(loop, [])

    @cached_property
    def _marked(self) -> dict[Loop, list[tuple[ast.Call, int]]]:
        found: dict[Loop, list[tuple[ast.Call, int]]] = {}
        for marker in self._roles.markers:
            for around, _, how_often in self.chain(marker):
                found.setdefault(around, []).append((marker, how_often))
        return found

    def after_marker(self, node: ast.AST, run: Pass) -> bool:
        """Whether a marker stands before a node in its pass, with no device work in between."""
        if self._follows(node, self._tree.function(node)):
            return True
        return run.site is not node and self._follows(run.site, None)

    def _follows(self, node: ast.AST, function: Function | None) -> bool:
        scope = next(self._tree.loops(node), None) or function
        if scope is None:
            return False
        here = position(node)
        for marker in self._roles.markers:
            end = self._end(marker)
            if marker is node or end > here or not self._tree.inside(marker, scope):
                continue
            next_work = bisect_right(self._work_at, end)
            if next_work == len(self._work_at) or self._work_at[next_work] >= here:
                return True
        return False

    @cached_property
    def _work_at(self) -> list[tuple[int, int]]:
        return sorted(position(call) for call in self.work)

    def _end(self, marker: ast.Call) -> tuple[int, int]:
        """Where a marker has done its work: past the block of `with torch_xla.step():`."""
        item = self._tree.parent(marker)
        node = self._tree.parent(item) if isinstance(item, ast.withitem) else marker
        return (getattr(node, "end_lineno", 0), getattr(node, "end_col_offset", 0))


def _called(node: ast.expr) -> ast.expr:
    return node.func if isinstance(node, ast.Call) else node


def _within(loop: Loop) -> Iterator[ast.AST]:
    """The nodes of a loop's body, those of functions defined in it left out."""
    todo: deque[ast.AST] = deque(loop.body)
    while todo:
        node = todo.popleft()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.Lambda, ast.ClassDef)):
            todo.extend(ast.iter_child_nodes(node))
