"""The settings in force: the command line over the file over the defaults, and where each comes from."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from neuronlint.cli.check import command
from neuronlint.config import COMMAND_LINE_ONLY, KEYS

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def shown(run: Run) -> Callable[..., dict[str, Any]]:
    def show(*arguments: str) -> dict[str, Any]:
        code, out, err = run("check", "--show-settings", "--format", "json", *arguments)
        assert (code, err) == (0, "")
        settings: dict[str, Any] = json.loads(out)["settings"]
        return settings

    return show


def test_every_option_has_its_key_or_is_of_the_command_line_only() -> None:
    options = {option.lstrip("-") for parameter in command.params for option in parameter.opts if option[:2] == "--"}
    of_settings_only = {"models", "overlays", "per-file-ignores", "severity"}
    assert options == (set(KEYS) - of_settings_only) | set(COMMAND_LINE_ONLY)


def test_defaults(shown: Callable[..., dict[str, Any]]) -> None:
    settings = shown()
    assert sorted(settings) == sorted(KEYS)
    assert {row["from"] for key, row in settings.items() if key != "format"} == {"default"}
    assert settings["frontend"]["value"] == "native"
    assert settings["timeout"]["value"] == 300


def test_the_command_line_wins(shown: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "neuronlint.toml").write_text('fail-on = "info"\nfix = true\ntimeout = 5\nselect = ["NRN1"]\n')
    settings = shown("--fail-on", "error", "--no-fix", "--select", "NRN2,NRN3")
    assert settings["fail-on"] == {"value": "error", "from": "command line"}
    assert settings["fix"] == {"value": False, "from": "command line"}
    assert settings["select"] == {"value": ["NRN2", "NRN3"], "from": "command line"}
    assert settings["timeout"] == {"value": 5.0, "from": "neuronlint.toml:3"}


def test_lists_add_up(shown: Callable[..., dict[str, Any]], tmp_path: Path) -> None:
    (tmp_path / "neuronlint.toml").write_text('ignore = ["NRN1"]\nexclude = ["a,b"]\n')
    settings = shown("--ignore", "NRN2", "--exclude", "c,d")
    assert settings["ignore"] == {"value": ["NRN2", "NRN1"], "from": "command line and neuronlint.toml:1"}
    assert settings["exclude"]["value"] == ["c,d", "a,b"]


def test_a_lane_of_the_command_line_wins_over_the_other_of_the_settings(
    shown: Callable[..., dict[str, Any]], run: Run, tmp_path: Path
) -> None:
    (tmp_path / "neuronlint.toml").write_text("source-only = true\n")
    settings = shown("--graph-only")
    assert (settings["source-only"]["value"], settings["graph-only"]["value"]) == (False, True)
    (tmp_path / "neuronlint.toml").write_text("source-only = true\ngraph-only = true\n")
    assert run("check", "--show-settings")[0] == 2


def test_as_text(run: Run, tmp_path: Path) -> None:
    (tmp_path / "neuronlint.toml").write_text(
        'severity = { NRN701 = "info" }\nper-file-ignores = { "t/*" = ["NRN1", "NRN2"] }\nmemory-limit = 4.5\n'
    )
    rows = [" ".join(line.split()) for line in run("check", "--show-settings")[1].split("\n")]
    assert rows[0] == "settings file neuronlint.toml"
    assert "severity NRN701: info neuronlint.toml:1" in rows
    assert "per-file-ignores t/*: NRN1, NRN2 neuronlint.toml:2" in rows
    assert "memory-limit 4.5 GiB neuronlint.toml:3" in rows
    assert "fix false default" in rows
    assert "jobs the number of cores default" in rows


def test_show_settings_does_not_wait_for_stdin(run: Run) -> None:
    assert run("check", "-", "--show-settings")[0] == 0
