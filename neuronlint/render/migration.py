"""The plan of a migration as text, and its diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neuronlint import fixes
from neuronlint.render.words import count

if TYPE_CHECKING:
    from neuronlint.migrate.plan import Edit, FilePlan, Note, Plan

_NAMED = 4
"""How many edits the line of the plan names."""


def plan_text(plan: Plan) -> str:
    """What changes by itself, what changes with you, what a person decides, and what remains."""
    return "\n".join(_lines(plan)) + "\n"


def _lines(plan: Plan) -> Iterator[str]:
    edits = [(file, edit) for file in plan.files for edit in file.edits]
    names = [file.path for file in plan.files if file.changed or file.notes]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    yield f"{', '.join(names[:3]) or 'nothing to migrate'}{more} -> {plan.to} ({plan.stack})"
    consent, person = list(plan.notes("consent")), list(plan.notes("person", "blocked"))
    yield f"  by itself   {count(len(edits), 'edit')}{_named(edits)}"
    if consent:
        yield f"  with you    {count(len(consent), 'edit')}   --unsafe-fixes"
        yield from (f"    {_place(file, note)}  {note.message} [{note.id}]" for file, note in consent)
    if person:
        yield f"  a person    {count(len(person), 'point')}"
        for number, (file, note) in enumerate(person, 1):
            blocked = "blocked: " if note.kind == "blocked" else ""
            yield f"    {number}. {_place(file, note)}  {blocked}{note.message} [{note.id}]"
    effort = "automatic" if not consent and not person else "to review"
    effort = "blocked" if any(plan.notes("blocked")) else effort
    remain = f"{count(plan.errors, 'error')}, {count(plan.warnings, 'warning')} remain"
    yield f"  afterwards  {remain}; effort: {effort}"


def _named(edits: list[tuple[FilePlan, Edit]]) -> str:
    shown = ", ".join(f"{edit.id} ({_place(file, edit)})" for file, edit in edits[:_NAMED])
    return f"   {shown}{', …' if len(edits) > _NAMED else ''}" if shown else ""


def _place(file: FilePlan, item: Edit | Note) -> str:
    return f"{file.path}:cell {item.cell}:{item.line}" if item.cell else f"{file.path}:{item.line}"


def diff_of(file: FilePlan) -> str:
    """The change of one file as a unified diff."""
    return fixes.diff(fixes.Change(file.path, file.before, file.after, ()))
