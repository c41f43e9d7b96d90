"""`neuronlint rules`."""

from __future__ import annotations

import click

from neuronlint.knowledge import checks


@click.command()
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def command(form: str) -> None:
    """List all rules, one a line or as JSON."""
    found = [checks.check(code) for code in checks.codes()]
    if form == "json":
        import json

        click.echo(json.dumps([as_json(rule) for rule in found], indent=2))
        return
    for rule in found:
        click.echo(f"{rule.code}  {rule.severity:<7}  {rule.lane:<6}  {rule.name}")


def as_json(rule: checks.Check) -> dict[str, object]:
    return {
        "code": rule.code,
        "name": rule.name,
        "lane": rule.lane,
        "severity": str(rule.severity),
        "severity_on": [dict(row) for row in rule.severity_on],
        "headline": rule.headline,
        "then": dict(rule.then),
        "help": list(rule.help),
        "bad": list(rule.bad),
        "good": list(rule.good),
        "evidence": [{"kind": str(e.kind), "source": e.source, "sdk": e.sdk, "note": e.note} for e in rule.evidence],
        "compiler_code": rule.compiler_code,
        "url": rule.url,
    }
