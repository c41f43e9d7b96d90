"""From paths to Python files, and a quick look at which of them hold models, without running anything."""

from __future__ import annotations

import ast
import io
import os
import tokenize
import warnings
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.errors import ConfigurationError
from neuronlint.finding import Finding, Span
from neuronlint.own import own_finding

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

EXCLUDED = (
    ".eggs", ".git", ".hg", ".mypy_cache", ".nox", ".pytest_cache", ".ruff_cache", ".svn", ".tox", ".venv",
    "__pycache__", "build", "dist", "node_modules", "site-packages", "venv",
)  # fmt: skip
"""Folders that are never walked into; a path given by name is checked all the same."""

_TORCH_LIBRARIES = frozenset(
    {"torch", "torchvision", "torchaudio", "timm", "transformers", "diffusers", "lightning", "pytorch_lightning"}
)
_MODEL_BASES = ("Module", "LightningModule", "PreTrainedModel", "ModelMixin")
_FACTORIES = ("build", "get_model")


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A Python file as read. `problem` is the finding of a file that cannot be read or parsed, with no lines then
    if it could not even be decoded."""

    path: str
    lines: tuple[str, ...] = ()
    has_models: bool = False
    is_script: bool = False
    problem: Finding | None = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files of a run, and one line for each path that gave none."""

    files: tuple[SourceFile, ...]
    problems: tuple[str, ...] = ()


def discover(paths: Sequence[str], exclude: Sequence[str] = ()) -> Discovery:
    """Reads every Python file of the paths once, sorted. A path that gives none is a problem, not an exception."""
    found: dict[str, None] = {}
    problems = []
    for path in paths:
        try:
            found.update(dict.fromkeys(python_files(path, exclude)))
        except ConfigurationError as error:
            problems.append(str(error))
    return Discovery(tuple(read(path) for path in sorted(found)), tuple(problems))


def python_files(path: str, exclude: Sequence[str] = ()) -> list[str]:
    """The Python files of one path, shown relative to the working directory.

    Raises `ConfigurationError` where the path is missing, is no Python file, or holds none.
    """
    if not Path(path).exists():
        raise ConfigurationError(f"{path}: no such file or directory; check the spelling, or the directory you are in")
    if Path(path).is_dir():
        files = list(_walk(Path(path), exclude))
        if not files:
            raise ConfigurationError(f"{path}: no Python files in this directory; give a file, or another directory")
        return files
    if Path(path).suffix not in ("", ".py", ".pyw"):
        raise ConfigurationError(f"{path}: not a Python file; give a .py file or a directory of them")
    return [shown(path)]


def shown(path: str | Path) -> str:
    """A path as reports show it: relative to the working directory where that is possible, with `/`."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        relative = str(path)
    return relative.replace(os.sep, "/")


def excluded(path: str, patterns: Iterable[str]) -> bool:
    """Whether a glob names this path, one of its folders or its file name."""
    parts = path.split("/")
    heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    return any(fnmatch(name, pattern.rstrip("/")) for pattern in patterns for name in (*parts, *heads))


def _walk(root: Path, exclude: Sequence[str]) -> Iterator[str]:
    for folder, names, files in os.walk(root):
        kept = [n for n in sorted(names) if n not in EXCLUDED and not n.endswith(".egg-info")]
        names[:] = [n for n in kept if not excluded(shown(Path(folder, n)), exclude)]
        for name in sorted(files):
            path = shown(Path(folder, name))
            if name.endswith((".py", ".pyw")) and not excluded(path, exclude):
                yield path


def read(path: str) -> SourceFile:
    """Reads and parses one file; what goes wrong becomes its `problem`."""
    try:
        data = Path(path).read_bytes()
        text = decode(data)
    except OSError as error:
        return SourceFile(path, problem=_unreadable(path, f"the file cannot be read: {error.strerror or error}"))
    except (SyntaxError, UnicodeDecodeError, LookupError) as error:
        return SourceFile(path, problem=_undecodable(path, data, error))
    lines = tuple(text.split("\n"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, path)
    except SyntaxError as error:
        return SourceFile(path, lines, problem=_syntax_error(path, error))
    except (ValueError, RecursionError, MemoryError) as error:
        return SourceFile(path, lines, problem=_unreadable(path, f"the file cannot be parsed: {_one_line(error)}"))
    return SourceFile(path, lines, has_models=holds_models(tree), is_script=_is_script(tree))


def decode(data: bytes) -> str:
    """Python source as text, by its encoding line or mark, line ends made `\\n`."""
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()


def holds_models(tree: ast.Module) -> bool:
    """Whether capture has something to do in this file: a module class, or a factory that the contract names."""
    functions = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    if "neuronlint_models" in functions:
        return True
    if not _imports_torch(tree):
        return False
    classes = [node for node in tree.body if isinstance(node, ast.ClassDef)]
    return not functions.isdisjoint(_FACTORIES) or any(_is_model(node) for node in classes)


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


def _is_script(tree: ast.Module) -> bool:
    """Whether running the file does something that `--observe` could watch."""
    passive = (
        ast.FunctionDef,
        ast.AsyncFunctionDef,
        ast.ClassDef,
        ast.Import,
        ast.ImportFrom,
        ast.Assign,
        ast.AnnAssign,
    )
    return _imports_torch(tree) and any(
        not isinstance(node, passive) and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        for node in tree.body
    )


def _syntax_error(path: str, error: SyntaxError) -> Finding:
    line = error.lineno or 1
    span = Span(path, line, max(error.offset or 1, 1))
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
