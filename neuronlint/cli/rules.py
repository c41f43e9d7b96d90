"""`neuronlint rules`."""

from __future__ import annotations

from pathlib import Path

import click

from neuronlint.knowledge import checks


@click.group(invoke_without_command=True)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.pass_context
def command(ctx: click.Context, form: str) -> None:
    """List all rules, one a line or as JSON; `rules new` starts another one."""
    if ctx.invoked_subcommand is not None:
        return
    found = [checks.check(code) for code in checks.codes()]
    if form == "json":
        import json

        click.echo(json.dumps([as_json(rule) for rule in found], indent=2))
        return
    for rule in found:
        click.echo(f"{rule.code}  {rule.severity:<7}  {rule.lane:<6}  {rule.name}")


@command.command()
@click.argument("code")
@click.argument("name")
@click.option("--lane", type=click.Choice(["source", "graph"]), required=True, help="what it looks at")
@click.option(
    "--root",
    type=click.Path(path_type=Path, file_okay=False),
    default=Path(),
    metavar="FOLDER",
    help="the checkout of neuronlint  [default: the working directory]",
)
def new(code: str, name: str, lane: str, root: Path) -> None:
    """Start a rule: its texts, its module and its test, to be filled in. NAME is a kebab-case name."""
    from neuronlint.cli.new_rule import scaffold

    for path in scaffold(root, code.upper(), name, lane):
        click.echo(path.as_posix())
    index = " (its words are in neuronlint/source/rules/index.py)" if lane == "source" else ""
    click.echo(f"fill in what is marked TODO{index}, then run `make docs` and the tests", err=True)


def as_json(rule: checks.Check) -> dict[str, object]:
    """All that is known of a rule. `fixable` is null where only a finding can tell."""
    from neuronlint.render.rule_page import family

    return {
        "code": rule.code,
        "name": rule.name,
        "family": family(rule.code),
        "lane": rule.lane,
        "severity": str(rule.severity),
        "severity_on": [dict(row) for row in rule.severity_on],
        "stacks": [dict(row) for row in rule.stacks],
        "headline": rule.headline,
        "then": dict(rule.then),
        "help": list(rule.help),
        "help_on": dict(rule.advice),
        "fixable": None,
        "bad": list(rule.bad),
        "good": list(rule.good),
        "evidence": [{"kind": str(e.kind), "source": e.source, "sdk": e.sdk, "note": e.note} for e in rule.evidence],
        "compiler_code": rule.compiler_code,
        "url": rule.url,
    }
