"""The end of a step on PyTorch/XLA: `torch_xla.sync()` after the last work of a pass, before the host reads."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.migrate.change import Change, Remark
from neuronlint.migrate.journey import Journey
from neuronlint.migrate.operations import After
from neuronlint.migrate.spelling import torch_xla_in
from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from neuronlint.source.lazy import runs_lazily
from neuronlint.source.roles import Loop
from neuronlint.source.rules.lbfgs_closure import is_lbfgs_step
from neuronlint.source.rules.missing_step_marker import markers_of
from neuronlint.source.tree import dotted

_LAZY = ("step", "zero_grad", "backward", "detach", "clip_grad_norm_", "clip_grad_value_")


def step_markers(file: SourceFile, journey: Journey) -> Iterator[Change | Remark]:
    if journey.is_native or file.roles.step_is_owned or file.roles.has_marking_loader or stays_on_host(file):
        return
    marked: set[ast.AST] = set()
    for item in file.passes.training:
        if not item.steps or markers_of(file, item):
            continue
        if any(is_lbfgs_step(file, step) for step in item.steps):
            what = "L-BFGS runs its closure many times a step: put `torch_xla.sync()` into the closure"
            yield Remark("OPT005", item.steps[-1], what)
            continue
        for loop in (item.micro, item.loop):
            if loop is not None and loop not in marked:
                marked.add(loop)
                sites = [item.backward] if loop is item.micro else _work_of(file, loop)
                yield from _marked(file, loop, sites, "STEP001")
    if not runs_lazily(file, journey.stack):
        return
    for loop, call in file.passes.evaluating:
        if loop not in marked and not file.passes.markers(loop) and _is_plain(file, loop, call):
            marked.add(loop)
            yield from _marked(file, loop, [call], "STEP002")


def _work_of(file: SourceFile, loop: Loop) -> list[ast.Call]:
    """The steps and gradients of everything that a loop trains."""
    calls = [*file.roles.backward_calls, *file.roles.optimizer_steps]
    return [call for call in calls if _place_in(file, loop, call) is not None]


def _is_plain(file: SourceFile, loop: Loop, call: ast.Call) -> bool:
    """Whether a loop runs a model on one batch after the other: no sampling, no module's own loop."""
    if isinstance(call.func, ast.Attribute) and call.func.attr == "generate":
        return False
    return not isinstance(loop, ast.While) and not file.kinds.is_module_class(file.tree.class_of(loop))


def _marked(file: SourceFile, loop: Loop, sites: list[ast.Call], pattern: str) -> Iterator[Change | Remark]:
    places = [place for site in sites if (place := _place_in(file, loop, site)) is not None]
    if not places:
        what = "the end of the step is out of sight here: put `torch_xla.sync()` at the end of the pass"
        yield Remark(pattern, sites[0], what)
        return
    last = max(places)
    skips = [node for node in file.tree.of(ast.Continue) if next(file.tree.loops(node), None) is loop]
    if any((place := _place_in(file, loop, node)) is not None and place >= min(places) for node in skips):
        yield Remark(pattern, skips[-1], "a pass that ends here has no marker: put `torch_xla.sync()` before it")
    while last + 1 < len(loop.body) and _stays_lazy(file, loop.body[last + 1]):
        last += 1
    statement = loop.body[last]
    if isinstance(statement, (ast.Return, ast.Continue, ast.Break)):
        yield Remark(pattern, statement, "a pass that ends here has no marker: put `torch_xla.sync()` before it")
        return
    xla, imports = torch_xla_in(file)
    what = "the graph of a step ends here"
    yield Change(pattern, statement, what, (After(statement, f"{xla}.sync()"), *imports))


def _place_in(file: SourceFile, loop: Loop, site: ast.AST) -> int | None:
    """Which statement of a loop runs a piece of code, by itself or through the functions that lead to it."""
    nodes = [site, *(at for other, at, _ in file.passes.chain(site) if other is loop)]
    for node in nodes:
        for place, statement in enumerate(loop.body):
            if file.tree.inside(node, statement):
                return place
    return None


def _stays_lazy(file: SourceFile, statement: ast.stmt) -> bool:
    """Whether a statement behind the step only adds to the graph: schedulers, averages, gradients set to zero."""
    if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Return, ast.Continue, ast.Break)):
        return False
    if any(file.tree.inside(read.node, statement) for read in file.reads):
        return False
    calls = [node for node in ast.walk(statement) if isinstance(node, ast.Call)]
    names = [dotted(call.func).rpartition(".")[2] for call in calls]
    if isinstance(statement, ast.AugAssign) and "detach" in names:
        return True
    if isinstance(statement, ast.Expr) and calls:
        return names[0] in _LAZY or (names[0] == "update" and _is_average(dotted(calls[0].func)))
    return False


def _is_average(name: str) -> bool:
    return any(word in name.lower() for word in ("ema", "average", "swa", "sched"))
