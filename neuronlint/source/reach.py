"""How a place is reached: always, as an option decides, or only where a test finds what it needs."""

from __future__ import annotations

import ast
import re
from enum import IntEnum
from typing import TYPE_CHECKING

from neuronlint.source.tree import FUNCTIONS, Function, dotted

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

_FOUND = re.compile(
    r"is_\w*(available|installed|importable|enabled)|find_spec|\bhas_\w+|\bHAS_\w+|\w+_AVAILABLE\b|_is_package|import_utils"
    r"|RequirementCache|\w+_available\b|module_available",
)
"""The text of a test for an installed library."""
_OTHER_LIBRARY = re.compile(r"(^|\.)is_(?!torch|cuda|gpu|dist|neuron|accelerat|optimum)\w+_(available|enabled)$")
_CHECKS = re.compile(r"(check|require|assert|ensure|validate)\w*_cuda($|_)")
_REQUIRES = re.compile(r"(^|\.)(require_|skip)\w*")
"""The name of a decorator that leaves a test out where what it needs is missing."""
_IMPORT_ERRORS = ("ImportError", "ModuleNotFoundError", "Exception", "BaseException", "OSError", "RuntimeError", "")


class Reach(IntEnum):
    """How surely a place runs. `OFF` is left out where its library or CUDA is missing, `UNCALLED` lies in a function
    that the file never calls, `CAUGHT` may fail and the program goes on, `OPTIONAL` waits for an option or a call,
    `CERTAIN` runs whenever the file does."""

    OFF = 0
    UNCALLED = 1
    CAUGHT = 2
    OPTIONAL = 3
    CERTAIN = 4


def reach(file: SourceFile, node: ast.AST) -> Reach:
    """How a place of a file is reached, by what stands around it."""
    found = Reach.CERTAIN
    child: ast.AST = node
    for up in file.tree.ancestors(node):
        if isinstance(up, (ast.If, ast.IfExp)) and child is not up.test:
            found = min(found, _under(file, up))
        elif isinstance(up, ast.Try) and file.tree.holds(up.body, child) and _goes_on(up):
            found = min(found, Reach.CAUGHT)
        elif isinstance(up, FUNCTIONS) and up.name != "main":
            found = min(found, Reach.OPTIONAL if _is_called(file, up) else Reach.UNCALLED)
        child = up
    if file.guards.holding(node, "typing", "cuda", "other-device") is not None or _is_required(file, node):
        return Reach.OFF
    return found


def for_other_library(file: SourceFile, node: ast.AST) -> bool:
    """Whether a test for a library of another platform leaves a place to it: `if is_sagemaker_mp_enabled():`."""
    child: ast.AST = node
    for up in file.tree.ancestors(node):
        test = up.test if isinstance(up, ast.If) and file.tree.holds(up.body, child) else None
        if isinstance(test, ast.Call) and _OTHER_LIBRARY.search(dotted(test.func)):
            return True
        child = up
    return False


def after_check(file: SourceFile, node: ast.AST) -> bool:
    """Whether a call above a place in its function has made sure of CUDA: `_check_device_cuda(query)`."""
    function = file.tree.function(node)
    for statement in function.body if function is not None else ():
        if file.tree.inside(node, statement):
            return False
        call = statement.value if isinstance(statement, ast.Expr) else None
        if isinstance(call, ast.Call) and _CHECKS.search(dotted(call.func)):
            return True
    return False


def chosen(file: SourceFile, node: ast.AST) -> Reach:
    """Whether a test around a place within its function chooses it: `OPTIONAL` for an option of the program, `OFF` for
    one that finds what it needs, `CERTAIN` where nothing chooses."""
    child: ast.AST = node
    found = Reach.CERTAIN
    for up in file.tree.ancestors(node):
        if isinstance(up, (ast.If, ast.IfExp)) and child is not up.test:
            found = min(found, _under(file, up))
        elif isinstance(up, FUNCTIONS):
            break
        child = up
    return Reach.OFF if _is_required(file, node) else found


def _is_required(file: SourceFile, node: ast.AST) -> bool:
    """Whether a test is left out where what it needs is missing: `@require_bitsandbytes`, `@pytest.mark.skipif(…)`."""
    holders = [up for up in file.tree.ancestors(node) if isinstance(up, (*FUNCTIONS, ast.ClassDef))]
    marks = [mark for holder in holders for mark in holder.decorator_list]
    return any(_REQUIRES.search(dotted(mark.func if isinstance(mark, ast.Call) else mark)) for mark in marks)


def _under(file: SourceFile, test: ast.If | ast.IfExp) -> Reach:
    what, _ = file.guards.condition(test.test)
    if what == "main":
        return Reach.CERTAIN
    span = file.tree.span(test.test)
    text = " ".join(file.tree.lines[span.line - 1 : span.end_line])
    return Reach.OFF if _FOUND.search(text) else Reach.OPTIONAL


def _goes_on(node: ast.Try) -> bool:
    """Whether a failed import is caught and the program goes on without it."""
    for handler in node.handlers:
        caught = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
        if any(dotted(kind) in _IMPORT_ERRORS for kind in caught) and not _gives_up(handler):
            return True
    return False


def _gives_up(handler: ast.ExceptHandler) -> bool:
    last = handler.body[-1]
    if isinstance(last, ast.Raise):
        return True
    return isinstance(last, ast.Expr) and isinstance(last.value, ast.Call) and dotted(last.value.func).endswith("exit")


def _is_called(file: SourceFile, function: Function) -> bool:
    """Whether the file calls a function, or Python does: a method with a name of Python's or of a module's."""
    if file.tree.class_of(function) is not None:
        return function.name.startswith("__") or function.name == "forward" or bool(file.names.methods(function.name))
    return bool(file.names.calls(f".{function.name}"))
