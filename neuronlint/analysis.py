"""One file read, parsed and checked by the source lane, and what the other lanes want to know of it."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.collecting import paused
from neuronlint.finding import Finding, Span
from neuronlint.own import own_finding
from neuronlint.text import decode

if TYPE_CHECKING:
    from neuronlint.stack import Stack

_TORCH_LIBRARIES = frozenset(
    {"torch", "torchvision", "torchaudio", "timm", "transformers", "diffusers", "lightning", "pytorch_lightning"}
)
_MODEL_BASES = ("Module", "LightningModule", "PreTrainedModel", "ModelMixin")
_FACTORIES = ("build", "get_model")
_SUPPRESSION = re.compile(r"#\s*neuronlint\s*:|#\s*noqa\s*:[^\n]*\bNRN", re.IGNORECASE)
_PASSIVE = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign)


@dataclass(frozen=True, slots=True)
class Analysis:
    """What one file gives by itself, whatever is selected or suppressed.

    `findings` are those of the source lane, or the one that says why the file cannot be read or parsed (`parsed` is
    False then). `has_models` and `is_script` say whether capture has something to do; `comments` whether the file may
    hold suppressions; `rests_on` are the other files that the findings rest on; `crash` is a traceback where neuronlint
    itself broke.
    """

    findings: tuple[Finding, ...] = ()
    marks: frozenset[str] = frozenset()
    has_models: bool = False
    is_script: bool = False
    comments: bool = False
    parsed: bool = True
    rests_on: tuple[str, ...] = ()
    crash: str | None = None


def analyse(path: str, stack: Stack, data: bytes | None = None) -> Analysis:
    """Checks one file, or the data given for it. What goes wrong is in the result: nothing is raised."""
    if data is None:
        try:
            data = Path(path).read_bytes()
        except OSError as error:
            return _broken(_unreadable(path, f"the file cannot be read: {error.strerror or error}"))
    try:
        with paused():
            return _notebook(path, data, stack) if path.endswith(".ipynb") else _file(path, data, stack)
    except Exception:  # a bug of ours in one file is told with the rest, and ends no run
        import traceback

        return Analysis(crash=f"{path}:\n{traceback.format_exc()}")


def _file(path: str, data: bytes, stack: Stack) -> Analysis:
    try:
        text = decode(data)
    except (SyntaxError, UnicodeDecodeError, LookupError, ValueError) as error:
        return _broken(_undecodable(path, data, error))
    try:
        tree = ast.parse(text, path)
    except SyntaxError as error:
        return _broken(_syntax_error(path, error), text)
    except (ValueError, RecursionError, MemoryError) as error:
        return _broken(_unreadable(path, f"the file cannot be parsed: {_one_line(error)}"), text)
    return _checked(path, text, tree, stack)


def _checked(path: str, text: str, tree: ast.Module, stack: Stack) -> Analysis:
    from neuronlint.source.project import from_disk
    from neuronlint.source_lane import check_tree

    result = check_tree(path, text, tree, stack, from_disk)
    return Analysis(
        result.findings,
        result.marks,
        has_models=holds_models(tree),
        is_script=is_script(tree),
        comments=_SUPPRESSION.search(text) is not None,
        rests_on=result.rests_on,
    )


def _notebook(path: str, data: bytes, stack: Stack) -> Analysis:
    """Cells that do not parse are findings of their own; the rest is checked as one file. Models are not looked for:
    a notebook is no module that capture could import."""
    from neuronlint.notebook import NotebookError, read_notebook

    try:
        notebook = read_notebook(data)
        tree = ast.parse(notebook.text, path)
    except (NotebookError, SyntaxError) as error:
        return _broken(_unreadable(path, _one_line(error)))
    except (ValueError, RecursionError, MemoryError) as error:
        return _broken(_unreadable(path, f"the notebook cannot be parsed: {_one_line(error)}"))
    result = _checked(path, notebook.text, tree, stack)
    placed = tuple(notebook.place_finding(finding) for finding in result.findings)
    broken = tuple(
        own_finding("NRN901", Span(path, item.line, cell=item.cell), reason=item.message) for item in notebook.problems
    )
    comments = any(_SUPPRESSION.search(line) for source in notebook.sources for line in source)
    return Analysis(placed + broken, result.marks, comments=comments, parsed=not broken, rests_on=result.rests_on)


def lines_of(path: str) -> tuple[str, ...]:
    """The lines of a file; none where it cannot be read."""
    try:
        return tuple(decode(Path(path).read_bytes()).split("\n"))
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError, ValueError):
        return ()


def cells_of(path: str) -> dict[int, tuple[str, ...]]:
    """The lines of each Python cell of a notebook; none where it cannot be read."""
    from neuronlint.notebook import NotebookError, read_notebook

    try:
        notebook = read_notebook(Path(path).read_bytes())
    except (OSError, NotebookError):
        return {}
    return dict(zip(notebook.cells, notebook.sources, strict=True))


def holds_models(tree: ast.Module) -> bool:
    """Whether capture has something to do in this file: a module class, or a factory that the contract names."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "neuronlint_models" in functions:
        return True
    wanted = not functions.isdisjoint(_FACTORIES) or any(
        isinstance(n, ast.ClassDef) and _is_model(n) for n in tree.body
    )
    return wanted and _imports_torch(tree)


def is_script(tree: ast.Module) -> bool:
    """Whether running the file does something that `--observe` could watch."""
    active = any(
        not isinstance(node, _PASSIVE) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )
    return active and _imports_torch(tree)


def _imports_torch(tree: ast.Module) -> bool:
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        if any(name.split(".")[0] in _TORCH_LIBRARIES for name in names):
            return True
    return False


def _is_model(node: ast.ClassDef) -> bool:
    """A base that reads like a module, or a forward method (the base may be a class of another file)."""
    for base in node.bases:
        target = base.value if isinstance(base, ast.Subscript) else base
        name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
        if name.endswith(_MODEL_BASES):
            return True
    return any(isinstance(item, ast.FunctionDef) and item.name == "forward" for item in node.body)


def _broken(problem: Finding, text: str = "") -> Analysis:
    return Analysis((problem,), comments=_SUPPRESSION.search(text) is not None, parsed=False)


def _syntax_error(path: str, error: SyntaxError) -> Finding:
    span = Span(path, error.lineno or 1, max(error.offset or 1, 1))
    return own_finding("NRN901", span, reason=f"syntax error: {error.msg}")


def _unreadable(path: str, reason: str) -> Finding:
    return own_finding("NRN901", Span(path, 1), reason=reason)


def _undecodable(path: str, data: bytes, error: Exception) -> Finding:
    """At the line of the first byte that is not UTF-8, where that is the cause."""
    try:
        data.decode()
    except UnicodeDecodeError as wrong:
        line = data.count(b"\n", 0, wrong.start) + 1
        byte = f"byte 0x{data[wrong.start]:02x} is not UTF-8; save it as UTF-8, or name its encoding in the first line"
        return own_finding("NRN901", Span(path, line), reason=f"the file cannot be decoded: {byte}")
    return _unreadable(path, f"the file cannot be decoded: {_one_line(error)}")


def _one_line(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
