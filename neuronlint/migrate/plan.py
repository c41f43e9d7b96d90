"""The plan of a migration: what changes by itself, what changes once the user agrees, what a person must decide."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Edit:
    """One change that is made. `line` is of the file as it was, and of its cell in a notebook."""

    line: int
    id: str
    message: str
    kind: str = "safe"
    cell: int = 0


@dataclass(frozen=True, slots=True)
class Note:
    """What is left to a person; `kind` is consent (`--unsafe-fixes` makes it), person or blocked."""

    line: int
    id: str
    message: str
    kind: str = "person"
    cell: int = 0


@dataclass(frozen=True, slots=True)
class FilePlan:
    """One file before and after. `problem` says in one line why it was left as it is."""

    path: str
    before: bytes
    after: bytes
    edits: tuple[Edit, ...] = ()
    notes: tuple[Note, ...] = ()
    errors: int = 0
    warnings: int = 0
    problem: str | None = None

    @property
    def changed(self) -> bool:
        return self.before != self.after


@dataclass(frozen=True, slots=True)
class Plan:
    """The files of a migration, by path. `stack` is what the code is to run on, in words."""

    to: str
    stack: str
    files: tuple[FilePlan, ...] = ()

    @property
    def changed(self) -> tuple[FilePlan, ...]:
        return tuple(file for file in self.files if file.changed)

    @property
    def errors(self) -> int:
        return sum(file.errors for file in self.files)

    @property
    def warnings(self) -> int:
        return sum(file.warnings for file in self.files)

    def notes(self, *kinds: str) -> Iterator[tuple[FilePlan, Note]]:
        """The notes of these kinds, all without any, with their files."""
        for file in self.files:
            for note in file.notes:
                if not kinds or note.kind in kinds:
                    yield file, note

    def to_json(self) -> dict[str, Any]:
        """`migrate --format json`, as the contract has it."""
        return {
            "schema_version": 1,
            "to": self.to,
            "files": [
                {
                    "path": file.path,
                    "changed": file.changed,
                    "edits": [{"id": e.id, "line": e.line, "kind": e.kind, "message": e.message} for e in file.edits],
                    "notes": [{"id": n.id, "line": n.line, "message": n.message, "kind": n.kind} for n in file.notes],
                }
                for file in self.files
            ],
            "after": {"errors": self.errors, "warnings": self.warnings},
        }
