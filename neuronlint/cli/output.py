"""What commands write: reports to a stream or a file, and progress on a terminal."""

from __future__ import annotations

import os
import sys
import threading
from typing import TYPE_CHECKING

from neuronlint.errors import ConfigurationError
from neuronlint.render import View

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType


def view(
    quiet: bool, verbose: bool, output: Path | None, exit_code: int | None = None, unsafe_fixes: bool = False
) -> View:
    """How to render: colours and a width only for a terminal, as NO_COLOR and FORCE_COLOR allow."""
    terminal = output is None and sys.stdout.isatty()
    forced = output is None and bool(os.environ.get("FORCE_COLOR"))
    colour = (terminal or forced) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    width = _columns() if terminal else None
    return View(quiet, verbose, colour, width, exit_code, unsafe_fixes)


def write(text: str, output: Path | None) -> None:
    """Writes a report. Raises `ConfigurationError` where the file cannot be written."""
    try:
        if output is None:
            encoding = sys.stdout.encoding or "utf-8"
            sys.stdout.write(text.encode(encoding, "backslashreplace").decode(encoding))
            sys.stdout.flush()
        else:
            output.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    except BrokenPipeError:
        raise
    except OSError as error:
        where = output or "stdout"
        raise ConfigurationError(
            f"{where}: cannot be written: {error.strerror}; name another file with --output"
        ) from None


def _columns() -> int:
    """The width of the terminal."""
    import shutil

    return shutil.get_terminal_size().columns


class ProgressLine:
    """One line on stderr that says what is being captured; nothing where stderr is no terminal."""

    def __init__(self, enabled: bool = True) -> None:
        self._on = enabled and sys.stderr.isatty()
        self._lock = threading.Lock()
        self._shown = False

    def __enter__(self) -> ProgressLine:
        return self

    def __call__(self, done: int, total: int, what: str) -> None:
        if not self._on:
            return
        width = max(20, _columns() - 1)
        with self._lock:
            sys.stderr.write("\r\x1b[K" + f"capturing {done + 1} of {total}: {what}"[:width])
            sys.stderr.flush()
            self._shown = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
