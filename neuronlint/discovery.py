"""From paths to Python files, without reading them. Fast enough for trees of thousands."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from neuronlint.gitignore import Ignores

EXCLUDED = frozenset({
    ".eggs", ".git", ".hg", ".ipynb_checkpoints", ".mypy_cache", ".neuronlint_cache", ".nox", ".pytest_cache",
    ".ruff_cache", ".svn", ".tox", ".venv", "__pycache__", "build", "dist", "node_modules", "site-packages", "venv",
})  # fmt: skip
"""Folders that are never walked into; a path given by name is checked all the same."""

SUFFIXES = (".py", ".pyw", ".ipynb")
_GIVEN = ("", ".pyi", *SUFFIXES)
PROGRAMS = (".pt2",)
"""Exported programs: read by torch, in a process of their own."""
TEXTS = (".hlo", ".hlo.txt", ".mlir", ".stablehlo")
"""Compiled programs as text: read without torch, and without running anything."""

Stamp = tuple[int, int]
"""A file's time of change in nanoseconds, and its size: the same stamp is taken for the same content."""


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A Python file or notebook, as shown to users; `stamp` is None where it could not be asked for."""

    path: str
    stamp: Stamp | None = None


@dataclass(frozen=True, slots=True)
class Discovery:
    """The files of a run, sorted, the folders among theirs that are packages, and one line for each path without.

    `artefacts` are exported and compiled programs; they are taken where they are named, not looked for in folders.
    """

    files: tuple[FoundFile, ...]
    packages: frozenset[str] = frozenset()
    problems: tuple[str, ...] = ()
    artefacts: tuple[str, ...] = ()


def discover(paths: Sequence[str], exclude: Sequence[str] = (), *, force_exclude: bool = False) -> Discovery:
    """Every Python file and notebook of the paths, once. A path that gives none is a problem, not an exception.

    `force_exclude` applies `exclude` to files that are given by name too, as pre-commit gives them.
    """
    found: dict[str, FoundFile] = {}
    problems = []
    for path in paths:
        try:
            files = python_files(path, exclude)
        except ConfigurationError as error:
            problems.append(str(error))
            continue
        kept = [f for f in files if not excluded(f.path, exclude)] if force_exclude else files
        found.update({file.path: file for file in kept})
    artefacts = tuple(path for path in sorted(found) if is_artefact(path))
    files = [found[path] for path in sorted(found) if path not in artefacts]
    folders = {file.path.rpartition("/")[0] for file in files if file.path.endswith("__init__.py")}
    return Discovery(tuple(files), frozenset(folders), tuple(problems), artefacts)


def is_artefact(path: str) -> bool:
    """Whether a file holds a program that was exported or compiled, by its name."""
    return path.endswith(PROGRAMS + TEXTS)


def is_text_artefact(path: str) -> bool:
    """Whether an artefact is text, which needs no torch and runs nothing."""
    return path.endswith(TEXTS)


def python_files(path: str, exclude: Sequence[str] = ()) -> list[FoundFile]:
    """The Python files and notebooks of one path, or the artefact that it names, relative to the working directory.

    Raises `ConfigurationError` where the path is missing, is no such file, or holds none.
    """
    try:
        status = Path(path).stat()
    except (OSError, ValueError) as error:
        reason = "no such file or directory" if isinstance(error, FileNotFoundError) else "cannot be reached"
        raise ConfigurationError(f"{path}: {reason}; check the spelling, or the directory you are in") from None
    if Path(path).is_dir():
        files = list(_walk(path, exclude))
        if not files:
            raise ConfigurationError(f"{path}: no Python files in this directory; give a file, or another directory")
        return files
    if Path(path).suffix not in _GIVEN and not is_artefact(path):
        raise ConfigurationError(
            f"{path}: not a Python file; give a .py file, a notebook or a directory of them, or an artefact "
            f"({', '.join(PROGRAMS + TEXTS)})"
        )
    return [FoundFile(shown(path), (status.st_mtime_ns, status.st_size))]


def shown(path: str | Path) -> str:
    """A path as reports show it: relative to the working directory where that is possible, with `/`."""
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        relative = str(path)
    return relative.replace(os.sep, "/")


def excluded(path: str, patterns: Iterable[str]) -> bool:
    """Whether a glob names this path, one of its folders or its file name."""
    globs = tuple(patterns)
    if not globs:
        return False
    parts = path.split("/")
    heads = ["/".join(parts[: n + 1]) for n in range(len(parts))]
    matches = _matcher(globs).match
    return any(matches(name) for name in (*parts, *heads))


@cache
def _matcher(globs: tuple[str, ...]) -> re.Pattern[str]:
    from fnmatch import translate

    return re.compile("|".join(translate(os.path.normcase(glob.rstrip("/"))) for glob in globs))


def _walk(root: str, exclude: Sequence[str]) -> Iterator[FoundFile]:
    """In no order; folders that are links are not followed."""
    from neuronlint.gitignore import Ignores

    top = shown(root)
    todo = [("", Ignores.at(root))]
    while todo:
        folder, above = todo.pop()
        entries = _entries(f"{root}/{folder}" if folder else root)
        ignores = above.enter(folder, {entry.name for entry in entries if entry.name.startswith(".git")})
        for entry in entries:
            name = entry.name
            inner = f"{folder}/{name}" if folder else name
            path = f"{top}/{inner}" if top != "." else inner
            if entry.is_dir(follow_symlinks=False):
                if not (
                    name in EXCLUDED or name.endswith(".egg-info") or _left_out(path, inner, True, ignores, exclude)
                ):
                    todo.append((inner, ignores))
            elif name.endswith(SUFFIXES) and not entry.is_dir() and not _left_out(path, inner, False, ignores, exclude):
                yield FoundFile(path, _stamp(entry))


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []  # a folder that may not be read holds nothing for us


def _left_out(path: str, inner: str, is_dir: bool, ignores: Ignores, exclude: Sequence[str]) -> bool:
    return (bool(exclude) and excluded(path, exclude)) or (bool(ignores.layers) and ignores.ignored(inner, is_dir))


def _stamp(entry: os.DirEntry[str]) -> Stamp | None:
    try:
        status = entry.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
