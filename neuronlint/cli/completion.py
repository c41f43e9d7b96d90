"""What the shell offers behind an option: rule codes and names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click
    from click.shell_completion import CompletionItem


def complete_rules(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Codes and names that go on from what is typed, each with the rule's headline; after a comma, the next one."""
    from click.shell_completion import CompletionItem

    from neuronlint.errors import NeuronlintError
    from neuronlint.knowledge import checks

    done, comma, word = incomplete.rpartition(",")
    try:
        rules = [checks.check(code) for code in checks.codes()]
    except NeuronlintError:
        return []  # a broken installation is told by the command itself, not in the middle of a prompt
    by_code = [(rule.code, rule) for rule in rules if rule.code.startswith(word.upper())]
    by_name = [(rule.name, rule) for rule in rules if word and rule.name.startswith(word.lower())]
    return [CompletionItem(f"{done}{comma}{text}", help=rule.headline) for text, rule in by_code or by_name]
