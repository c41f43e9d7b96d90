"""Runs again when a file changes: told by the system where watchfiles is installed, else found by looking."""

from __future__ import annotations

import os
import sys
import threading
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.discovery import EXCLUDED, PROGRAMS, SUFFIXES, TEXTS, excluded, shown
from neuronlint.errors import NeuronlintError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

INTERVAL = 0.5
"""Seconds between two looks at the files, without watchfiles."""

_READY_MS = 100
_QUIET_MS = 50
_SUFFIXES = (*SUFFIXES, *PROGRAMS, *TEXTS)
_SETTINGS = ("pyproject.toml", "neuronlint.toml")
_CLEAR = "\x1b[2J\x1b[3J\x1b[H"


def loop(
    run: Callable[[], int],
    paths: Sequence[str],
    exclude: Sequence[str] = (),
    stop: threading.Event | None = None,
) -> int:
    """Runs once, and again at every change, until Ctrl-C or `stop`; 0, as findings are no failure here."""
    stop = stop or threading.Event()
    try:
        for changed in watch(paths, exclude, stop):
            if sys.stdout.isatty():
                sys.stdout.write(_CLEAR)
                sys.stdout.flush()
            _say(_what(changed) if changed else "first run")
            _run(run)
            _say("waiting for changes; Ctrl-C ends")
            if stop.is_set():
                break
    except KeyboardInterrupt:
        pass
    return 0


def _run(run: Callable[[], int]) -> None:
    """One run; settings or files that are wrong for a moment, half saved or moved, end it and not the loop."""
    try:
        run()
    except NeuronlintError as error:
        _say(str(error))
    except OSError as error:
        _say(f"{error.filename or 'a file'}: {error.strerror or error}")
    sys.stdout.flush()


def _what(changed: set[str]) -> str:
    first, *rest = sorted(changed)
    return f"changed: {first}" + (f" and {len(rest)} more" if rest else "")


def _say(text: str) -> None:
    print(f"[{time.strftime('%H:%M:%S')}] {text}", file=sys.stderr, flush=True)


def watch(paths: Sequence[str], exclude: Sequence[str], stop: threading.Event) -> Iterator[set[str]]:
    """The paths that changed, as reports show them, in groups that belong together.

    The first group is empty and comes once changes are seen, so that none is lost during the first run.
    """
    wanted = partial(_wanted, roots=paths, exclude=exclude)
    try:
        import watchfiles  # noqa: F401
    except ImportError:
        _say(f"watching by a look every {INTERVAL} s; pip install 'neuronlint[watch]' makes it quicker")
        return _polled(paths, wanted, stop)
    _say("watching with watchfiles")
    return _notified(paths, wanted, stop)


def _wanted(path: str, roots: Sequence[str], exclude: Sequence[str]) -> bool:
    """Whether a change of this path can change the outcome."""
    inner = [_inner(path, root) for root in roots]
    return "." in inner or (any(map(_counts, inner)) and not excluded(shown(path), exclude))


def _inner(path: str, root: str) -> str:
    """The path as seen from a root of the watch; `.` is the root itself."""
    try:
        return os.path.relpath(path, root).replace(os.sep, "/")
    except ValueError:  # another drive
        return ".."


def _counts(inner: str) -> bool:
    *folders, name = inner.split("/")
    if ".." in folders or name == "..":
        return False
    mine = name.endswith(_SUFFIXES) or name in _SETTINGS
    return mine and not any(folder in EXCLUDED for folder in folders)


def _notified(paths: Sequence[str], wanted: Callable[[str], bool], stop: threading.Event) -> Iterator[set[str]]:
    """By the system's own notices. A file is watched through its folder, as editors save by replacing it."""
    import watchfiles

    folders = {path if Path(path).is_dir() else str(Path(path).parent) for path in paths}
    only_files = not any(Path(path).is_dir() for path in paths)
    changes = watchfiles.watch(
        *sorted(folders),
        watch_filter=lambda _, path: wanted(path),
        step=_QUIET_MS,
        stop_event=stop,
        rust_timeout=_READY_MS,
        yield_on_timeout=True,
        recursive=not only_files,
    )
    ready = False
    try:
        for group in changes:
            if group or not ready:
                ready = True
                yield {shown(path) for _, path in group}
    except (OSError, RuntimeError) as error:  # no watches left, a network drive
        if ready:
            raise
        _say(f"watching by a look every {INTERVAL} s: {error}")
        yield from _polled(paths, wanted, stop)


def _polled(
    paths: Sequence[str], wanted: Callable[[str], bool], stop: threading.Event, interval: float = INTERVAL
) -> Iterator[set[str]]:
    """By comparing times and sizes; a group ends with the first look that finds nothing new."""
    seen = _looks(paths, wanted)
    group: set[str] = set()
    yield set(group)
    while not stop.wait(interval / 5 if group else interval):
        now = _looks(paths, wanted)
        fresh = {path for path in seen.keys() | now.keys() if seen.get(path) != now.get(path)}
        seen = now
        if group and not fresh:
            yield group
            group = set()
        group |= fresh


def _looks(paths: Iterable[str], wanted: Callable[[str], bool]) -> dict[str, tuple[int, int]]:
    """The time and size of every wanted file; what vanishes meanwhile is not there."""
    found = {}
    for path in paths:
        for file in _files(path) if Path(path).is_dir() else [Path(path)]:
            try:
                state = file.stat()
            except OSError:
                continue
            if wanted(str(file)):
                found[shown(file)] = (state.st_mtime_ns, state.st_size)
    return found


def _files(root: str) -> Iterator[Path]:
    for folder, names, files in os.walk(root):
        names[:] = [name for name in names if name not in EXCLUDED]
        yield from (Path(folder, name) for name in files if name.endswith(_SUFFIXES) or name in _SETTINGS)
