"""`neuronlint explain`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from neuronlint.cli.completion import complete_rules
from neuronlint.errors import ConfigurationError
from neuronlint.knowledge import checks

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from neuronlint.knowledge.checks import Check

FORMATS = ("text", "markdown", "json")


@click.command()
@click.argument("rule", metavar="[CODE]", required=False, shell_complete=complete_rules)
@click.option("--all", "everything", is_flag=True, help="every rule")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", show_default=True)
@click.option(
    "--output",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="write it there; for --all --format markdown a folder, with one page a rule and an index",
)
def command(rule: str | None, everything: bool, form: str, output: Path | None) -> None:
    """Show a rule's page: what it reports, what happens, what to do, and how that is known. CODE may be a name."""
    if bool(rule) == everything:
        raise click.UsageError("give one CODE, or --all", click.get_current_context())
    from neuronlint.cli.output import write

    found = [checks.check(code) for code in checks.codes()] if rule is None else [checks.find(rule)]
    if everything and form == "markdown" and output is not None:
        _write_pages(found, output)
        return
    write(_shown(found, form, everything), output)


def _shown(rules: list[Check], form: str, everything: bool) -> str:
    if form == "json":
        import json

        from neuronlint.cli.rules import as_json

        rows = [as_json(rule) for rule in rules]
        return json.dumps(rows if everything else rows[0], indent=2) + "\n"
    if form == "markdown":
        from neuronlint.render.rule_names import looked_for
        from neuronlint.render.rule_page import markdown

        return "\n".join(markdown(rule, looked_for(rule.code)) for rule in rules)
    return "\n\n".join("\n".join(page(rule)) for rule in rules) + "\n"


def pages(rules: list[Check]) -> dict[str, str]:
    """The text of every page, and of the index, by file name."""
    from neuronlint.render.rule_names import looked_for
    from neuronlint.render.rule_page import index, markdown

    return {f"{rule.code}.md": markdown(rule, looked_for(rule.code)) for rule in rules} | {"README.md": index(rules)}


def _write_pages(rules: list[Check], folder: Path) -> None:
    """One page a rule and the index; pages of rules that are gone are removed, files of other hands kept.

    Raises `ConfigurationError` where the folder cannot be written, or holds a file of that name that is not ours.
    """
    from neuronlint.render.rule_page import MARK

    wanted = pages(rules)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        there = {path.name: path.read_text(encoding="utf-8", errors="replace") for path in folder.glob("*.md")}
        ours = {name for name, text in there.items() if text.startswith(MARK)}
        for name in sorted(wanted.keys() & there.keys() - ours):
            raise ConfigurationError(f"{folder / name}: not written by neuronlint; move it, or name another folder")
        for name in sorted(ours - wanted.keys()):
            (folder / name).unlink()
        for name, text in wanted.items():
            if there.get(name) != text:
                _replace(folder / name, text)
    except OSError as error:
        raise ConfigurationError(f"{folder}: {error.strerror}; name another folder with --output") from None


def _replace(path: Path, text: str) -> None:
    """Writes a file as a whole or not at all."""
    half = path.with_name(f".{path.name}.part")
    half.write_text(text, encoding="utf-8", newline="\n")
    half.replace(path)


def page(rule: Check) -> Iterator[str]:
    """The page for a terminal, line by line."""
    yield f"{rule.code} {rule.name}"
    yield ""
    yield f"  reports   {rule.headline}"
    yield f"  severity  {'; '.join(_severities(rule))}"
    if rule.stacks:
        yield f"  only on   {'; '.join(map(_where, rule.stacks))}"
    for number, (stack, text) in enumerate(rule.then.items()):
        yield f"  {'then' if not number else '':<8}  {text if stack == '*' else f'{stack}: {text}'}"
    advice = [text if stack == "*" else f"{stack}: {text}" for stack, text in rule.advice.items()]
    for number, text in enumerate([*rule.help, *advice]):
        yield f"  {'help' if not number else '':<8}  {text}"
    for number, item in enumerate(rule.evidence):
        sdk = f", SDK {item.sdk}" if item.sdk not in ("", "*") else ""
        note = f": {item.note}" if item.note else ""
        yield f"  {'why' if not number else '':<8}  {item.kind} ({item.source}{sdk}){note}"
    for title, snippets in (("reported", rule.bad), ("not reported", rule.good)):
        for snippet in snippets:
            yield ""
            yield f"  {title}:"
            yield from (f"    {line}".rstrip() for line in snippet.rstrip().split("\n"))
    yield ""
    yield f"  suppress one with  # neuronlint: ignore[{rule.code}] reason"


def _severities(rule: Check) -> Iterator[str]:
    yield str(rule.severity)
    yield from (f"{row['severity']} on {_where(row)}" for row in rule.severity_on)


def _where(row: Mapping[str, str]) -> str:
    """The part of a stack that a row speaks of."""
    return ", ".join(f"SDK {value}" if key == "sdk" else value for key, value in row.items() if key != "severity")
