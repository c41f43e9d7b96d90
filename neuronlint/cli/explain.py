"""`neuronlint explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from neuronlint.knowledge import checks

if TYPE_CHECKING:
    from collections.abc import Iterator


@click.command()
@click.argument("rule", metavar="CODE")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(rule: str, form: str) -> None:
    """Show a rule's page: what it reports, what happens, what to do, and how that is known. CODE may be a name."""
    found = checks.find(rule)
    if form == "json":
        import json

        from neuronlint.cli.rules import as_json

        click.echo(json.dumps(as_json(found), indent=2))
        return
    click.echo("\n".join(page(found)))


def page(rule: checks.Check) -> Iterator[str]:
    """The page, line by line."""
    yield f"{rule.code} {rule.name}"
    yield ""
    yield f"  reports   {rule.headline}"
    yield f"  severity  {'; '.join(_severities(rule))}"
    for number, (stack, text) in enumerate(rule.then.items()):
        yield f"  {'then' if not number else '':<8}  {text if stack == '*' else f'{stack}: {text}'}"
    for number, text in enumerate(rule.help):
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


def _severities(rule: checks.Check) -> Iterator[str]:
    yield str(rule.severity)
    for row in rule.severity_on:
        where = ", ".join(
            f"{value}" if key != "sdk" else f"SDK {value}" for key, value in row.items() if key != "severity"
        )
        yield f"{row['severity']} on {where}"
