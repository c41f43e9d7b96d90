"""Runs the source lane over thousands of files that are real, damaged, deep or long, and fails on any misbehaviour.

    python tests/fuzz/source_files.py [--site SITE_PACKAGES] [--files N] [--changes N] [--keep FOLDER]

The corpus is the standard library with its test suite, and the packages of --site. Every file is checked as it is, and
in --changes other forms drawn with a fixed seed; then come the deep and the long ones. All of it goes through
`neuronlint check` as a user runs it, in child processes with bounds on memory and time: whole folders at once, and
file by file where a folder fails. It fails on an exit code other than 0 and 1, on a traceback, on a hang, on memory
above the bound, and where a file that Python cannot parse, or a notebook cell, gives more or fewer findings than one.
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import sys
import sysconfig
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.fuzz.child import Bounds, Ended, run
from tests.fuzz.variants import CHANGES, changed, deep, long

SEED = 20261130
CHECK = (
    *(sys.executable, "-m", "neuronlint", "check", "--source-only", "--no-exec", "--no-cache", "--jobs", "1"),
    *("--fail-on", "never", "--quiet", "--format", "json", "--output", "report.json"),
)
PARSE = """
import ast, sys, warnings
sys.path.insert(0, {root!r})
warnings.simplefilter("ignore")
from neuronlint.text import decode
for path in sys.argv[1:]:
    try:
        with open(path, "rb") as file:
            ast.parse(decode(file.read()))
        print("yes", path)
    except Exception:
        print("no", path)
"""


@dataclass
class Tally:
    """What a run has seen."""

    files: Counter[str] = field(default_factory=Counter)
    unparsed: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    findings: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    peak_gib: float = 0.0
    slowest: float = 0.0


@dataclass(frozen=True)
class Item:
    """A file to check, under a name that tells its kind and origin."""

    kind: str
    origin: str
    data: bytes

    @property
    def suffix(self) -> str:
        return ".ipynb" if "notebook" in self.kind else ".py"


class Fuzzer:
    """Checks batches of items, each in a scratch folder of its own."""

    def __init__(self, bounds: Bounds, keep: Path | None, check: Sequence[str] = CHECK) -> None:
        self.bounds, self.keep, self.check, self.tally = bounds, keep, tuple(check), Tally()

    def batch(self, items: Sequence[Item]) -> None:
        """Together first; where that ends badly, one by one to name the file."""
        self.tally.files.update(item.kind for item in items)
        with tempfile.TemporaryDirectory() as folder:
            paths = self._written(items, Path(folder))
            ended = run((*self.check, "files"), Path(folder), self.bounds.for_files(len(items)))
            self._measured(ended)
            if ended.fault is None:
                self._judge(items, paths, Path(folder))
                return
        if len(items) == 1:
            self._fail(items[0], ended.fault)
            return
        before = len(self.tally.failures)
        self.tally.files.subtract(item.kind for item in items)
        for item in items:
            self.batch([item])
        if len(self.tally.failures) == before:
            self.tally.failures.append(f"{len(items)} files from {items[0].origin} on, only together: {ended.fault}")

    def _written(self, items: Sequence[Item], folder: Path) -> list[str]:
        (folder / "files").mkdir()
        paths = [f"files/{number:05}{item.suffix}" for number, item in enumerate(items)]
        for path, item in zip(paths, items, strict=True):
            (folder / path).write_bytes(item.data)
        return paths

    def _measured(self, ended: Ended) -> None:
        self.tally.peak_gib = max(self.tally.peak_gib, ended.peak_gib)
        self.tally.slowest = max(self.tally.slowest, ended.seconds)

    def _judge(self, items: Sequence[Item], paths: Sequence[str], folder: Path) -> None:
        """Holds the report against what Python itself can parse."""
        report = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        found = Counter((finding["path"], finding.get("cell") or 0) for finding in report["findings"])
        bad = Counter((f["path"], f.get("cell") or 0) for f in report["findings"] if f["code"] == "NRN901")
        parsed = parses([path for path in paths if path.endswith(".py")], folder, self.bounds)
        for item, path in zip(items, paths, strict=True):
            here = [place for place in found if place[0] == path]
            unread = sum(bad[place] for place in here)
            self.tally.findings[item.kind] += sum(found[place] for place in here) - unread
            self.tally.unparsed[item.kind] += parsed.get(path) is False
            if any(bad[place] not in (0, found[place]) for place in here):
                self._fail(item, "findings beside the one that it is unreadable")
            elif any(bad[place] > 1 for place in here) or (parsed.get(path) is False and unread != 1):
                self._fail(item, f"{unread} findings that it is unreadable, instead of one")
            elif unread and (parsed.get(path) or item.kind == "notebook"):
                self.tally.refused[item.kind] += 1
                if item.kind not in ("deep", "long"):
                    self._fail(item, "Python can parse it, and it is called unreadable")

    def _fail(self, item: Item, fault: str | None) -> None:
        self.tally.failures.append(f"{item.kind}: {item.origin}: {fault}")
        if self.keep:
            self.keep.mkdir(parents=True, exist_ok=True)
            (self.keep / f"{len(self.tally.failures):03}{item.suffix}").write_bytes(item.data)


def parses(paths: Sequence[str], folder: Path, bounds: Bounds) -> dict[str, bool]:
    """What the parser of this Python says of each file, asked in a child; a file that ends the child is left out."""
    said: dict[str, bool] = {}
    todo = list(paths)
    while todo:
        program = [sys.executable, "-c", PARSE.format(root=str(Path(__file__).parents[2])), *todo]
        ended = run(program, folder, bounds.for_files(len(todo)))
        lines = [line.split(" ", 1) for line in ended.out.splitlines()]
        said |= {path: word == "yes" for word, path in lines}
        todo = todo[len(lines) + 1 :] if ended.fault else []
    return said


def corpus(site: Path | None) -> list[Path]:
    """The standard library with its tests, and installed packages."""
    library = Path(sysconfig.get_paths()["stdlib"])
    paths = [path for path in library.rglob("*.py") if "site-packages" not in path.parts]
    return sorted(paths) + sorted(site.rglob("*.py") if site else ())


def real(paths: Sequence[Path], changes: int, chance: random.Random) -> Iterator[Item]:
    others = [name for name in CHANGES if name != "as it is"]
    for path in paths:
        data = path.read_bytes()
        for kind, text in changed(data, chance, ["as it is", *chance.sample(others, changes)]):
            yield Item(kind, str(path), text)


def made() -> Iterator[Item]:
    for kind, texts in (("deep", deep()), ("long", long())):
        for name, text in texts:
            yield Item(kind, name, text.encode())


def table(tally: Tally) -> Iterator[str]:
    yield f"{'kind':22} {'files':>7} {'unparsed':>9} {'refused':>8} {'findings':>9}"
    for kind, files in tally.files.items():
        yield f"{kind:22} {files:7} {tally.unparsed[kind]:9} {tally.refused[kind]:8} {tally.findings[kind]:9}"
    yield f"{'all':22} {tally.files.total():7} {tally.unparsed.total():9} {tally.refused.total():8} "
    yield f"peak {tally.peak_gib:.2f} GiB, slowest run {tally.slowest:.1f} s, {len(tally.failures)} failures"
    yield from (f"FAILED {failure}" for failure in tally.failures)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--site", type=Path, help="a site-packages folder, whose files come after the library's")
    parser.add_argument("--files", type=int, default=0, help="draw that many files of the corpus  [default: all]")
    parser.add_argument("--changes", type=int, default=1, help="other forms of each file")
    parser.add_argument("--batch", type=int, default=200)
    parser.add_argument("--memory", type=float, default=1.0, help="GiB")
    parser.add_argument("--seconds", type=float, default=60.0, help="for one file by itself")
    parser.add_argument("--keep", type=Path, help="copy the files that fail there")
    parser.add_argument("--no-made", action="store_true", help="only real files, no deep or long ones")
    return parser.parse_args()


def main() -> int:
    given = arguments()
    chance = random.Random(SEED)  # noqa: S311 - a sample, no secret
    paths = corpus(given.site)
    if given.files:
        paths = sorted(chance.sample(paths, min(given.files, len(paths))))
    if given.keep:
        shutil.rmtree(given.keep, ignore_errors=True)
    fuzzer = Fuzzer(Bounds(given.memory, given.seconds), given.keep)
    for item in () if given.no_made else made():
        fuzzer.batch([item])
    waiting: list[Item] = []
    for item in real(paths, given.changes, chance):
        waiting.append(item)
        if len(waiting) >= given.batch:
            fuzzer.batch(waiting)
            waiting = []
            print(f"\r{fuzzer.tally.files.total()} files", end="", file=sys.stderr, flush=True)
    if waiting:
        fuzzer.batch(waiting)
    print("\n".join(table(fuzzer.tally)))
    return 1 if fuzzer.tally.failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
