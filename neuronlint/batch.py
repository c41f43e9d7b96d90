"""The source lane over many files: from the cache where it holds them, in several processes where they are many."""

from __future__ import annotations

import gc
import os
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.analysis import Analysis, analyse
from neuronlint.collecting import paused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from neuronlint.cache import Cache
    from neuronlint.discovery import FoundFile
    from neuronlint.stack import Stack

_WORTH_PROCESSES = 128
"""Fewer files than this are checked sooner than a second process starts."""
_CHUNK = 32


def analyses(
    files: Sequence[FoundFile], stack: Stack, *, cache: Cache | None = None, jobs: int | None = None
) -> dict[str, Analysis]:
    """The analysis of each file by its path, in the order of the files."""
    known = {file.path: found for file in files if (found := cache.get(file))} if cache is not None else {}
    rest = [file for file in files if file.path not in known]
    one = partial(_one, stack=stack, kept=cache is not None)
    for file, (found, content) in zip(rest, _checked([file.path for file in rest], one, jobs), strict=True):
        known[file.path] = found
        if cache is not None:
            cache.put(file, found, content)
    if cache is not None:
        cache.save()
    return {file.path: known[file.path] for file in files}


def _checked(
    paths: Sequence[str], one: Callable[[str], tuple[Analysis, str]], jobs: int | None
) -> Iterable[tuple[Analysis, str]]:
    workers = min(jobs or os.cpu_count() or 1, -(-len(paths) // _CHUNK))
    if workers <= 1 or len(paths) < _WORTH_PROCESSES:
        with paused(), warnings.catch_warnings():  # not file by file: each end of a pause has a price
            warnings.simplefilter("ignore")  # those that Python's parser has for the user's code
            yield from map(one, paths)
        return
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
    with ProcessPoolExecutor(workers, context, initializer=_prepare) as pool:
        yield from pool.map(one, paths, chunksize=_CHUNK)


def _prepare() -> None:
    """Sets a process up that does nothing but check files."""
    warnings.simplefilter("ignore")
    gc.disable()


def _one(path: str, stack: Stack, kept: bool) -> tuple[Analysis, str]:
    """An analysis and, where it is to be kept, the digest of what it was made from."""
    if not kept:
        return analyse(path, stack), ""
    from neuronlint.cache import digest

    try:
        data = Path(path).read_bytes()
    except OSError:
        return analyse(path, stack), ""
    return analyse(path, stack, data), digest(data)
