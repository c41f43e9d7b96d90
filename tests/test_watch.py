"""Watching a real folder, by both ways: what is no change first, then one, then the loop around it."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from neuronlint import watch as module
from neuronlint.errors import ConfigurationError
from neuronlint.watch import loop, watch


@pytest.fixture(params=["watchfiles", "polling"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "polling":
        monkeypatch.setitem(sys.modules, "watchfiles", None)
        monkeypatch.setattr(module, "_polled", _quick(module._polled))
    return str(request.param)


def _quick(polled: Callable[..., Iterator[set[str]]]) -> Callable[..., Iterator[set[str]]]:
    return lambda paths, wanted, stop: polled(paths, wanted, stop, interval=0.02)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "src" / "build").mkdir(parents=True)
    (tmp_path / "src" / "a.py").write_text("x = 1\n")
    (tmp_path / "src" / "b.py").write_text("x = 1\n")
    return tmp_path / "src"


def first_change(paths: list[str], change: Callable[[], object], exclude: tuple[str, ...] = ()) -> set[str]:
    """What is seen first of a change made once watching has begun."""
    stop = threading.Event()
    groups = watch(paths, exclude, stop)
    assert next(groups) == set()
    change()
    seen = next(groups)
    stop.set()
    assert list(groups) == []
    return seen


def test_what_does_not_matter_is_no_change(folder: Path, way: str) -> None:
    def change() -> None:
        (folder / "notes.txt").write_text("x")
        (folder / "build" / "a.py").write_text("x")
        (folder / "skipped.py").write_text("x")
        (folder / "a.py").write_text("x = 22\n")

    assert first_change(["src"], change, exclude=("skipped.py",)) == {"src/a.py"}


def test_new_changed_and_lost_files_are_one_group(folder: Path, way: str) -> None:
    def change() -> None:
        (folder / "a.py").write_text("x = 22\n")
        (folder / "b.py").unlink()
        (folder / "c.ipynb").write_text("{}")
        (folder / "pyproject.toml").write_text("")

    changed = {"src/a.py", "src/b.py", "src/c.ipynb", "src/pyproject.toml"}
    assert first_change(["src"], change) == changed


def test_a_file_that_is_replaced_is_still_watched(folder: Path, way: str) -> None:
    def replace() -> None:
        (folder / "b.py").write_text("x = 22\n")
        (folder / "new").write_text("x = 333\n")
        (folder / "new").replace(folder / "a.py")

    assert first_change(["src/a.py"], replace) == {"src/a.py"}
    assert first_change(["src/a.py"], replace) == {"src/a.py"}


def test_a_file_in_an_excluded_folder_is_watched_when_named(folder: Path, way: str) -> None:
    (folder / "build" / "a.txt").write_text("x")
    assert first_change(["src/build/a.txt"], lambda: (folder / "build" / "a.txt").write_text("xx")) == {
        "src/build/a.txt"
    }
    assert first_change(["src/build"], lambda: (folder / "build" / "a.py").write_text("x")) == {"src/build/a.py"}


def test_a_folder_above_the_working_directory_is_watched(
    folder: Path, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder / "build")
    assert first_change([".."], lambda: (folder / "a.py").write_text("xx")) == {"../a.py"}
    assert first_change(["."], lambda: (folder / "build" / "c.py").write_text("xx")) == {"c.py"}


def test_a_path_that_is_not_there_yet_is_seen_when_it_comes(folder: Path, way: str) -> None:
    assert first_change(["later.py"], lambda: (folder.parent / "later.py").write_text("x")) == {"later.py"}
    assert first_change(["none/later.py", "src"], lambda: (folder / "a.py").write_text("xx")) == {"src/a.py"}


def test_the_way_is_said_in_one_line(folder: Path, way: str, capsys: pytest.CaptureFixture[str]) -> None:
    watch(["src"], (), threading.Event())
    told = {
        "watchfiles": "watching with watchfiles\n",
        "polling": "watching by a look every 0.5 s; pip install 'neuronlint[watch]' makes it quicker\n",
    }
    out, err = capsys.readouterr()
    assert out == ""
    assert err.partition("] ")[2] == told[way]


def test_the_loop_runs_again_at_a_change_and_survives_errors(
    folder: Path, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stop, runs = threading.Event(), 0

    def run() -> int:
        nonlocal runs
        runs += 1
        if runs == 4:
            stop.set()
            return 1
        (folder / "a.py").write_text("x" * runs * 10)
        if runs == 1:
            raise ConfigurationError("pyproject.toml:3: unknown key")
        if runs == 2:
            raise FileNotFoundError(2, "No such file or directory", "src/b.py")
        return 1

    assert loop(run, ["src"], stop=stop) == 0
    assert runs == 4
    out, err = capsys.readouterr()
    assert out == ""
    told = [line.partition("] ")[2] for line in err.splitlines()][1:]
    waiting = "waiting for changes; Ctrl-C ends"
    changed = "changed: src/a.py"
    assert told == [
        "first run",
        "pyproject.toml:3: unknown key",
        waiting,
        changed,
        "src/b.py: No such file or directory",
        waiting,
        changed,
        waiting,
        changed,
        waiting,
    ]


def test_other_errors_are_not_swallowed(folder: Path, way: str) -> None:
    def run() -> int:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        loop(run, ["src"])


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_only_a_terminal_is_cleared(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stop, terminal = threading.Event(), Terminal()

    def run() -> int:
        stop.set()
        print("result")
        return 0

    monkeypatch.setattr(sys, "stdout", terminal)
    assert loop(run, ["src"], stop=stop) == 0
    assert terminal.getvalue() == "\x1b[2J\x1b[3J\x1b[Hresult\n"


def test_many_changes_are_said_shortly() -> None:
    assert module._what({"b.py", "a.py", "c.py"}) == "changed: a.py and 2 more"


def test_without_watches_left_it_looks_by_itself(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    watchfiles = pytest.importorskip("watchfiles")
    monkeypatch.setattr(module, "_polled", _quick(module._polled))

    def refuse(*_: object, **__: object) -> Iterator[object]:
        raise OSError("OS file watch limit reached")
        yield

    monkeypatch.setattr(watchfiles, "watch", refuse)
    assert first_change(["src"], lambda: (folder / "a.py").write_text("xx")) == {"src/a.py"}
    assert "watching by a look every 0.5 s: OS file watch limit reached" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Ctrl-C is no signal to one process there")
@pytest.mark.parametrize("hidden", [True, False])
def test_ctrl_c_ends_with_0(folder: Path, hidden: bool) -> None:
    code = f"""if True:
        import signal, sys
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is given it ignored
        if {hidden}:
            sys.modules["watchfiles"] = None
        from neuronlint.watch import loop
        sys.exit(loop(lambda: 1, ["src"]))
    """
    with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if "waiting for changes" in line:
                process.send_signal(signal.SIGINT)
        assert process.wait() == 0
