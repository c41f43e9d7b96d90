"""What the shell offers behind options that take rules."""

from __future__ import annotations

import pytest
from click.shell_completion import BashComplete, ZshComplete

from neuronlint.cli.app import cli
from neuronlint.knowledge import checks


def offered(arguments: list[str], word: str) -> list[str]:
    shell = BashComplete(cli, {}, "neuronlint", "_NEURONLINT_COMPLETE")
    return [item.value for item in shell.get_completions(arguments, word)]


@pytest.mark.parametrize("word", ["zz", "NRN999", "NRN1,zz", "no-such-"])
def test_nothing_goes_on_from_this(word: str) -> None:
    assert offered(["check", "--select"], word) == []


@pytest.mark.parametrize("option", ["--select", "--extend-select", "--ignore"])
def test_codes(option: str) -> None:
    assert offered(["check", option], "") == list(checks.codes())
    assert offered(["check", option], "nrn90") == [code for code in checks.codes() if code.startswith("NRN90")]


def test_names_and_the_next_of_a_list() -> None:
    assert offered(["check", "--ignore"], "cpu-f") == ["cpu-fallback"]
    assert offered(["check", "--ignore"], "NRN901,NRN902")[0] == "NRN901,NRN902"


def test_commands_and_options() -> None:
    assert offered([], "che") == ["check"]
    assert offered(["check"], "--stat") == ["--statistics"]
    assert offered(["check", "--fail-on"], "w") == ["warning"]


def test_each_comes_with_its_headline() -> None:
    [item] = ZshComplete(cli, {}, "neuronlint", "_NEURONLINT_COMPLETE").get_completions(["check", "--select"], "NRN902")
    assert item.help == checks.check("NRN902").headline


def test_a_broken_installation_offers_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "check", _fail)
    assert offered(["check", "--select"], "NRN") == []


def _fail(code: str) -> None:
    from neuronlint.errors import KnowledgeError

    raise KnowledgeError("broken")
