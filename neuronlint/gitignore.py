"""Which paths of a walk git would ignore. A tree without patterns costs nothing, and pathspec is imported only for one.

It judges a path by itself, as git does, and trusts the walk not to enter what is ignored: so a folder that is given
by name is checked although an ignored folder holds it. The user's global excludes are not read: what is checked must
not depend on the machine.
"""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

NAME = ".gitignore"
_ANY_FOLDER = "^(?:.+/)?"  # how pathspec begins a pattern that holds at every depth
_GROUP_NAME = re.compile(r"\(\?P<\w+>")


@dataclass(frozen=True, slots=True)
class _Pattern:
    regex: re.Pattern[str]
    ignores: bool
    folders_only: bool

    def matches(self, path: str, is_dir: bool) -> bool:
        """Whether it names the path itself: pathspec also matches what lies below, and marks that by a group."""
        if self.folders_only and not is_dir:
            return False
        match = self.regex.search(path)
        return match is not None and not any(match.groups())


@dataclass(frozen=True, slots=True)
class _Layer:
    """The patterns of one file, last first. `prefix` and `cut` turn a path of the walk into one seen from it."""

    prefix: str
    cut: int
    patterns: tuple[_Pattern, ...]
    quick: re.Pattern[str]

    def verdict(self, path: str, is_dir: bool) -> bool | None:
        seen = self.prefix + path[self.cut :]
        if self.quick.search(seen) is None:
            return None
        return next((pattern.ignores for pattern in self.patterns if pattern.matches(seen, is_dir)), None)


@dataclass(frozen=True, slots=True)
class Ignores:
    """What holds in one folder of a walk. Paths are relative to the root of the walk, with `/`; the root is `""`."""

    root: str
    layers: tuple[_Layer, ...] = ()

    @classmethod
    def at(cls, root: str | Path) -> Ignores:
        """What holds above the root of a walk: the files from the repository down to its parent, and `info/exclude`.

        `enter` reads the file of the root itself. Outside a repository, nothing above the root counts.
        """
        here = Path(root).resolve()
        repository = next((folder for folder in (here, *here.parents) if (folder / ".git").exists()), None)
        if repository is None:
            return cls(str(here))
        above = [folder for folder in here.parents if folder == repository or repository in folder.parents]
        layers = [_layer(folder / NAME, prefix=_prefix(here, folder)) for folder in above]
        layers.append(_layer(_exclude_file(repository), prefix=_prefix(here, repository)))
        return cls(str(here), tuple(layer for layer in layers if layer))

    def enter(self, folder: str, names: Container[str]) -> Ignores:
        """What holds in a folder with these names in it; the same object where it adds nothing."""
        layers, cut = self.layers, len(folder) + 1 if folder else 0
        if folder and ".git" in names:  # a repository of its own, so the patterns outside do not reach into it
            exclude = _layer(_exclude_file(Path(self.root, folder)), cut=cut)
            layers = (exclude,) if exclude else ()
        if NAME in names and (own := _layer(Path(self.root, folder, NAME), cut=cut)):
            layers = (own, *layers)
        return self if layers is self.layers else Ignores(self.root, layers)

    def ignored(self, path: str, is_dir: bool = False) -> bool:
        """Whether git ignores this path of the folder; the nearest file that names it decides."""
        for layer in self.layers:
            if (verdict := layer.verdict(path, is_dir)) is not None:
                return verdict
        return False


def _prefix(root: Path, folder: Path) -> str:
    relative = root.relative_to(folder).as_posix()
    return "" if relative == "." else relative + "/"


def _exclude_file(repository: Path) -> Path:
    """`info/exclude`; in a submodule or a further work tree, `.git` is a file that says where it lies."""
    git = repository / ".git"
    if git.is_file():
        git = repository / _pointer(git).removeprefix("gitdir:").strip()
        git = git / _pointer(git / "commondir").strip()
    return git / "info" / "exclude"


def _pointer(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return ""


def _layer(path: Path, prefix: str = "", cut: int = 0) -> _Layer | None:
    """The patterns of a file; None where it has none, or cannot be read."""
    try:
        text = path.read_bytes().removeprefix(b"\xef\xbb\xbf").decode(errors="surrogateescape")
    except OSError:
        return None
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    lines = [line for line in lines if line.strip(" ") and not line.startswith("#")]
    patterns = tuple(_patterns(reversed(lines))) if lines else ()
    return _Layer(prefix, cut, patterns, _quick(patterns)) if patterns else None


def _patterns(lines: Iterable[str]) -> Iterator[_Pattern]:
    from pathspec.patterns.gitignore.spec import GitIgnoreSpecPattern

    for line in lines:
        text = _without_end_spaces(line)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # re on sets such as [[a]
                pattern = GitIgnoreSpecPattern(text.removesuffix("/"))
        except (ValueError, re.error):
            continue  # git, too, goes on after a pattern that it cannot read
        if pattern.regex is not None and pattern.include is not None:
            yield _Pattern(pattern.regex, pattern.include, folders_only=text.endswith("/"))


def _without_end_spaces(line: str) -> str:
    """Git drops the spaces at the end, save one behind a backslash."""
    kept = line.rstrip(" ")
    slashes = len(kept) - len(kept.rstrip("\\"))
    return kept + " " if slashes % 2 and kept != line else kept


def _quick(patterns: Iterable[_Pattern]) -> re.Pattern[str]:
    """One expression that finds at least what any of the patterns does: most paths are done after it."""
    sources = [_GROUP_NAME.sub("(?:", pattern.regex.pattern) for pattern in patterns]
    anywhere = [text.removeprefix(_ANY_FOLDER) for text in sources if text.startswith(_ANY_FOLDER)]
    rest = [f"(?:{text})" for text in sources if not text.startswith(_ANY_FOLDER)]
    return re.compile("|".join(rest + ([f"{_ANY_FOLDER}(?:{'|'.join(anywhere)})"] if anywhere else [])))
