"""The source lane against TorchFix, Fixit, ruff and a bare interpreter, in one run on the same installed packages.

    python tests/benchmarks/source_speed.py --site SITE_PACKAGES [--venv DIR] [--json FILE]

Copies the Python files of the packages into a scratch folder, so that no settings of theirs play a part, and installs
the rivals into the environment of --venv. Cold, by CPU seconds of the process and its children: neuronlint over the
whole tree, the slow rivals over a sample drawn with a fixed seed, less the time that they take to start; the ratios
are of files a CPU second, and of lines, since sampled files differ in length. Warm, by wall time, each the best of
--rounds run in turn. Prints a table; exits 1 where a target is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

RIVALS = ("fixit==2.2.1", "ruff==0.17.6", "torchfix==0.7.0")
SEED = 20261130
SMALL = "import torch\n\n\ndef main() -> None:\n    model = torch.nn.Linear(2, 2)\n    print(model(torch.ones(2)))\n"
NEURONLINT = [sys.executable, "-m", "neuronlint"]
CHECK = [*NEURONLINT, "check", "--source-only", "--no-exec", "--quiet", "--format", "concise"]
PASS = [sys.executable, "-c", "pass"]


@dataclass(frozen=True)
class Usage:
    wall: float
    cpu: float


@dataclass(frozen=True)
class Tree:
    """Python files in a folder, and how many lines they have."""

    folder: Path
    files: int
    lines: int


@dataclass(frozen=True)
class Row:
    """One comparison: `ours` and `theirs` in `unit`, and their ratio against the bound."""

    what: str
    unit: str
    ours: float
    theirs: float
    ratio: float
    least: float | None = None
    most: float | None = None

    @property
    def met(self) -> bool:
        return self.ratio >= (self.least or 0) and self.ratio <= (self.most or float("inf"))

    @property
    def bound(self) -> str:
        if self.least is None and self.most is None:
            return "for information"
        sign, bound = (">=", self.least) if self.least is not None else ("<=", self.most)
        return f"{sign} {bound:g}: {'met' if self.met else 'MISSED'}"


def measure(command: Sequence[str | Path], cwd: Path) -> Usage:
    """Wall and CPU seconds of a command and its children. Ends the run where it breaks (exit code above 1)."""
    started = time.perf_counter()
    process = subprocess.Popen(command, cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    wall = time.perf_counter() - started
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    if process.returncode not in (0, 1):
        raise SystemExit(f"{command} ended with {process.returncode}:\n{said.decode(errors='replace')[-2000:]}")
    return Usage(wall, usage.ru_utime + usage.ru_stime)


def best(commands: Sequence[Sequence[str | Path]], cwd: Path, rounds: int) -> list[float]:
    """The least wall time of each command, all of them run in turn so that a busy machine strikes all alike."""
    times = [[measure(command, cwd).wall for command in commands] for _ in range(rounds)]
    return [min(column) for column in zip(*times, strict=True)]


def rivals(folder: Path) -> Path:
    """The programs of the rivals' environment, made where it lacks one."""
    programs = folder / "bin"
    if not all((programs / rival.split("==")[0]).exists() for rival in RIVALS):
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        subprocess.run([str(programs / "pip"), "install", "--quiet", *RIVALS], check=True)
    return programs


def copied(site: Path, packages: Sequence[str], to: Path) -> Tree:
    for package in packages:
        if not (site / package).is_dir():
            raise SystemExit(f"{site / package}: no such package; name another with --packages, or --site")
        for path in sorted((site / package).rglob("*.py")):
            target = to / path.relative_to(site)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return tree(to)


def sampled(whole: Tree, number: int, to: Path) -> Tree:
    paths = sorted(whole.folder.rglob("*.py"))
    for path in random.Random(SEED).sample(paths, min(number, len(paths))):  # noqa: S311 - a sample, no secret
        target = to / path.relative_to(whole.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, target)
    return tree(to)


def tree(folder: Path) -> Tree:
    paths = list(folder.rglob("*.py"))
    return Tree(folder, len(paths), sum(path.read_bytes().count(b"\n") for path in paths))


def cold(work: Path, whole: Tree, sample: Tree, programs: Path) -> Iterator[Row]:
    """Files and lines a CPU second: ours with its start, theirs without."""
    ours = measure([*CHECK, "--no-cache", "--jobs", "1", whole.folder.name], work).cpu
    commands: dict[str, list[str | Path]] = {"TorchFix": [programs / "torchfix"], "Fixit": [programs / "fixit", "lint"]}
    for name, command in commands.items():
        start = measure([*command, "small.py"], work).cpu
        theirs = max(measure([*command, sample.folder.name], work).cpu - start, 0.001)
        files = whole.files / ours, sample.files / theirs
        lines = whole.lines / ours, sample.lines / theirs
        yield Row(f"cold, {name}", "files/CPU s", *files, files[0] / files[1], least=40)
        yield Row(f"cold, {name}", "lines/CPU s", *lines, lines[0] / lines[1])


def warm(work: Path, whole: Tree, programs: Path, rounds: int) -> Iterator[Row]:
    ruff: list[str | Path] = [programs / "ruff", "check", "--isolated", "--select", "F401", "--exit-zero", "-q"]
    pairs: list[Sequence[str | Path]] = [[*CHECK, whole.folder.name], [*ruff, whole.folder.name]]
    best(pairs, work, 1)  # primes both caches
    ours, theirs = best(pairs, work, rounds)
    yield Row("warm cache, ruff", "s", ours, theirs, ours / theirs, most=3)


def start(work: Path, rounds: int) -> Iterator[Row]:
    commands: list[Sequence[str | Path]] = [[*NEURONLINT, "--version"], [*CHECK, "--no-cache", "small.py"], PASS]
    version, small, bare = best(commands, work, 5 * rounds)
    yield Row("--version, python -c pass", "s", version, bare, version / bare, most=4)
    yield Row("one small file, python -c pass", "s", small, bare, small / bare, most=12)


def table(rows: Sequence[Row]) -> Iterator[str]:
    yield f"{'':31} {'unit':12} {'neuronlint':>11} {'other':>11} {'ratio':>8}  target"
    for row in rows:
        yield f"{row.what:31} {row.unit:12} {row.ours:11.3f} {row.theirs:11.3f} {row.ratio:8.2f}  {row.bound}"


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, required=True, help="the site-packages that holds the packages")
    parser.add_argument("--packages", nargs="+", default=["transformers", "timm", "diffusers"])
    parser.add_argument("--venv", type=Path, default=Path(tempfile.gettempdir(), "neuronlint-rivals"))
    parser.add_argument("--sample", type=int, default=150, help="files for the slow rivals")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=Path, help="write the rows there too")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    programs = rivals(given.venv.resolve())
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        (work / "small.py").write_text(SMALL)
        whole = copied(given.site, given.packages, work / "tree")
        sample = sampled(whole, given.sample, work / "sample")
        print(f"{whole.files} files of {whole.lines} lines; a sample of {sample.files} files of {sample.lines} lines")
        rows = [*start(work, given.rounds), *warm(work, whole, programs, given.rounds)]
        rows += cold(work, whole, sample, programs)
    print("\n".join(table(rows)))
    if given.json:
        given.json.write_text(json.dumps([asdict(row) | {"met": row.met} for row in rows], indent=2) + "\n")
    return 0 if all(row.met for row in rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
