"""`neuronlint migrate`: the plan and the diff, written when asked for."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from neuronlint.cli.app import BROKEN, FOUND, OK, complain
from neuronlint.edits import Document
from neuronlint.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuronlint.migrate.plan import FilePlan


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@click.option("--to", type=click.Choice(["native", "xla"]), default="native", show_default=True)
@click.option("--from", "origin", type=click.Choice(["cuda", "xla"]), help="[default: whatever is found]")
@click.option("--write", "writes", is_flag=True, help="change the files")
@click.option("--check", "checks", is_flag=True, help="show no diff; exit with 1 where a file would change")
@click.option(
    "--output", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="write changed files there"
)
@click.option("--interactive", "asks", is_flag=True, help="ask for each hunk, then change the files")
@click.option("--annotate", is_flag=True, help="put what a person must decide into the code, as comments")
@click.option("--unsafe-fixes", is_flag=True, help="also change what alters the data seen or the numerics")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(
    paths: tuple[str, ...], to: str, origin: str | None, writes: bool, checks: bool, output: Path | None,
    asks: bool, annotate: bool, unsafe_fixes: bool, form: str,
) -> int:  # fmt: skip
    """Rewrite scripts for CUDA, or for PyTorch/XLA, so that they run on the chip: a plan first, then the diff.

    Safe changes are made by themselves; what alters the data or the numerics beyond what the chip forces waits for
    --unsafe-fixes, and what a person must decide is a note of the plan. Nothing of the scripts is run. Exit code: 0
    nothing is left to change, 1 something would change (or, with --write, a person must decide), 2 usage error.
    """
    from neuronlint.migration import Options, run
    from neuronlint.render.migration import diff_of, plan_text

    if sum((writes, checks, asks, output is not None)) > 1:
        raise ConfigurationError(
            "--write, --check, --interactive and --output each say what is done with the result; choose one"
        )
    outcome = run(Options(paths, to, origin or "", unsafe=unsafe_fixes, annotate=annotate))
    for problem in outcome.problems:
        complain(problem)
    plan = outcome.plan
    if form == "json":
        click.echo(json.dumps(plan.to_json(), indent=2, ensure_ascii=False))
    else:
        click.echo(plan_text(plan), nl=False)
        if not (writes or checks or asks or output is not None):
            click.echo("".join(diff_of(file) for file in plan.changed), nl=False)
    changed = [_asked(file) for file in plan.changed] if asks else list(plan.changed)
    failed = _write(changed, output) if writes or asks or output is not None else False
    if outcome.problems or failed:
        return BROKEN
    if writes or asks or output is not None:
        return FOUND if any(plan.notes("person", "blocked")) else OK
    return FOUND if plan.changed else OK


def _asked(file: FilePlan) -> FilePlan:
    """The file with those hunks that the user agrees to; a notebook is agreed to as a whole."""
    from dataclasses import replace

    from neuronlint.fixes import is_notebook
    from neuronlint.migrate.hunks import chosen, hunks
    from neuronlint.render.migration import diff_of

    if is_notebook(file.path):
        click.echo(diff_of(file), nl=False)
        return file if click.confirm(f"{file.path}: make these changes?") else replace(file, after=file.before)
    document = Document.read(file.before)
    before, after = document.text, file.after.decode(document.encoding)
    found = hunks(before, after)
    wanted: list[bool] = []
    for number, hunk in enumerate(found, 1):
        click.echo(hunk.text)
        answer = click.prompt(
            f"{file.path} ({number}/{len(found)}): make this change? yes, no, all that follow, quit",
            type=click.Choice(["y", "n", "a", "q"]),
            default="y",
        )
        wanted.append(answer in ("y", "a"))
        if answer in ("a", "q"):
            wanted += [answer == "a"] * (len(found) - number)
            break
    text = chosen(before, after, wanted)
    try:
        ast.parse(text)
    except SyntaxError as error:
        complain(f"{file.path}: without the others these changes leave no Python ({error.msg}); left as it was")
        return replace(file, after=file.before)
    return replace(file, after=text.encode(document.encoding))


def _write(files: Iterable[FilePlan], output: Path | None) -> bool:
    """Writes what has changed, in place or below a folder; whether something could not be written."""
    from neuronlint.edits import write_atomically

    failed = False
    for file in files:
        if not file.changed:
            continue
        target = Path(file.path) if output is None else output / _inner(file.path)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, file.after)
        except OSError as error:
            complain(f"{target.as_posix()}: cannot be written: {error.strerror}; the file is as it was")
            failed = True
    return failed


def _inner(path: str) -> Path:
    """A path below a folder of ours: relative, and never above it."""
    parts = [part for part in Path(path).parts if part not in ("..", Path(path).anchor)]
    return Path(*parts)
