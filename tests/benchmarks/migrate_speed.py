"""How long a migration of real code takes, against one libcst codemod with qualified names over the same files.

    python tests/benchmarks/migrate_speed.py FOLDER [--to native|xla]

Both run in this process, one after the other, over the same bytes; the ratio is what counts.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import libcst as cst
from libcst.metadata import MetadataWrapper, QualifiedNameProvider

from neuronlint.migrate import Journey, migrate
from neuronlint.stack import resolve

TARGETS = {"native": "trn2", "xla": "trn1"}


class Renaming(cst.CSTTransformer):
    """The smallest codemod that knows what a call is of: it renames none."""

    METADATA_DEPENDENCIES = (QualifiedNameProvider,)

    def leave_Call(self, original_node: cst.Call, updated_node: cst.Call) -> cst.Call:
        names = self.get_metadata(QualifiedNameProvider, original_node.func, set())
        found = any(name.name == "torch.cuda.is_available" for name in names)
        return updated_node.with_changes(func=cst.Name("available")) if found else updated_node


def codemod(files: dict[str, bytes]) -> float:
    """Seconds."""
    start = time.perf_counter()
    for data in files.values():
        try:
            MetadataWrapper(cst.parse_module(data)).visit(Renaming())
        except cst.ParserSyntaxError:
            continue
    return time.perf_counter() - start


def migration(files: dict[str, bytes], to: str, packages: set[str]) -> float:
    """Seconds."""
    journey = Journey(to, resolve(TARGETS[to], to, mode="training").stack)
    start = time.perf_counter()
    migrate(files, journey, packages)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--to", choices=sorted(TARGETS), default="native")
    given = parser.parse_args()
    files = {path.as_posix(): path.read_bytes() for path in sorted(given.folder.rglob("*.py"))}
    packages = {path.parent.as_posix() for path in given.folder.rglob("__init__.py")}
    migration(dict(list(files.items())[:1]), given.to, packages)  # what is imported and read once
    ours, theirs = migration(files, given.to, packages), codemod(files)
    lines = sum(data.count(b"\n") for data in files.values())
    print(f"{len(files)} files, {lines} lines: migration {ours:.1f} s, one codemod {theirs:.1f} s")
    print(f"{theirs / ours:.1f} times sooner")


if __name__ == "__main__":
    main()
