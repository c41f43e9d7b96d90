"""Migrates checkouts of real repositories in memory and writes what came of it to `docs/migration.md`.

    python -m tests.accuracy.migrate_table FOLDER

FOLDER holds one checkout a repository, named `owner+name`; a file `COMMITS` in it has a line `owner+name commit` each.
Nothing of the repositories is run or written.
"""

from __future__ import annotations

import argparse
import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuronlint.edits import write_atomically
from neuronlint.migrate import Journey, migrate
from neuronlint.migrate.plan import FilePlan
from neuronlint.stack import resolve

PAGE = Path(__file__).parents[2] / "docs" / "migration.md"
TARGETS = {"native": "trn2", "xla": "trn1"}
_CUDA = re.compile(r"(^|[.])cuda(\.|$)|GradScaler$|nccl$")
_LITERAL = re.compile(r"(cuda(:\d+)?|nccl)$")


@dataclass(frozen=True, slots=True)
class Row:
    """One repository on one frontend."""

    repository: str
    to: str
    files: int
    changed: int
    edits: int
    consent: int
    person: int
    constructs: int
    covered: int
    errors: int
    unstable: int


def constructs(text: str) -> set[int]:
    """The lines with names, literals or calls of CUDA, outside of texts and comments."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return set()
    lines = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _CUDA.search(ast.unparse(node)):
            lines.add(node.end_lineno or node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and _LITERAL.match(node.value):
            lines.add(node.lineno)
    return lines


def covered(plan: FilePlan) -> tuple[int, int]:
    """How many lines of a file hold CUDA constructs, and how many of them are rewritten or noted."""
    before, after = (data.decode(errors="replace") for data in (plan.before, plan.after))
    lines = before.split("\n")
    left = {line.strip() for line in after.split("\n")}
    known = {edit.line for edit in plan.edits} | {note.line for note in plan.notes}
    wanted = constructs(before)
    return len(wanted), sum(line in known or lines[line - 1].strip() not in left for line in wanted)


def row(repository: Path, to: str) -> Row:
    files = {path.as_posix(): path.read_bytes() for path in sorted(repository.rglob("*.py")) if path.is_file()}
    packages = {path.parent.as_posix() for path in repository.rglob("__init__.py")}
    journey = Journey(to, resolve(TARGETS[to], to, mode="training").stack)
    plans = [plan for plan in migrate(files, journey, packages) if plan.problem is None]
    for plan in plans:
        if plan.changed:
            ast.parse(plan.after)
    again = migrate({plan.path: plan.after for plan in plans}, journey, packages)
    counts = [covered(plan) for plan in plans]
    notes = [note for plan in plans for note in plan.notes]
    return Row(
        repository.name.replace("+", "/"),
        to,
        len(files),
        sum(plan.changed for plan in plans),
        sum(len(plan.edits) for plan in plans),
        sum(note.kind == "consent" for note in notes),
        sum(note.kind != "consent" for note in notes),
        sum(number for number, _ in counts),
        sum(number for _, number in counts),
        sum(plan.errors for plan in plans),
        sum(plan.changed for plan in again),
    )


def page(rows: Sequence[Row], commits: dict[str, str]) -> Iterator[str]:
    total, known = sum(r.constructs for r in rows), sum(r.covered for r in rows)
    yield "<!-- Written by tests/accuracy/migrate_table.py: run that, do not edit. -->"
    yield ""
    yield "# Migration of real repositories"
    yield ""
    yield "Every Python file of each repository, migrated in memory to both frontends. All results parse."
    yield "*Constructs* are lines with a name, a literal or a call of CUDA; *covered* are those that were rewritten or"
    yield "have a note. *Changed again* counts files that a second migration would change. *Errors left* are findings"
    yield "of `neuronlint check` at error level on the result; each stands in the plan."
    yield ""
    yield f"{known} of {total} constructs are covered ({known / max(total, 1):.1%})."
    yield ""
    heads = (
        "repository", "commit", "to", "files", "changed", "edits", "with you", "a person", "constructs", "covered",
        "errors left", "changed again",
    )  # fmt: skip
    yield f"| {' | '.join(heads)} |"
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|"
    for r in rows:
        commit = commits.get(r.repository.replace("/", "+"), "")[:10]
        yield (
            f"| {r.repository} | {commit} | {r.to} | {r.files} | {r.changed} | {r.edits} | {r.consent} | {r.person} "
            f"| {r.constructs} | {r.covered} | {r.errors} | {r.unstable} |"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    folder: Path = parser.parse_args().folder
    given = folder / "COMMITS"
    commits = dict(line.split() for line in given.read_text().splitlines()) if given.is_file() else {}
    repositories = sorted(path for path in folder.iterdir() if path.is_dir())
    rows = [row(repository, to) for repository in repositories for to in TARGETS]
    write_atomically(PAGE, ("\n".join(page(rows, commits)) + "\n").encode())
    for r in rows:
        print(r)


if __name__ == "__main__":
    main()
