"""Settings files: every mistake is one line with file and line; the nearest file wins."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest

from neuronlint.config import IgnoreEntry, Settings, load, nearest
from neuronlint.errors import ConfigurationError


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def project(folder: Path, text: str) -> Path:
    path = folder / "pyproject.toml"
    path.write_text(f'[project]\nname = "x"\n\n[tool.neuronlint]\n{text}', encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            'targt = "trn2"\n', "pyproject.toml:5: unknown key `targt`; did you mean `target`?", id="misspelt"
        ),
        pytest.param(
            'mode = "inference"\nmin_severity = "info"\n',
            "pyproject.toml:6: unknown key `min_severity`; did you mean `min-severity`?",
            id="underscore",
        ),
        pytest.param("zzzzzz = 1\n", "pyproject.toml:5: unknown key `zzzzzz`; known are ", id="nothing near"),
        pytest.param(
            'fail-on = "fatal"\n',
            "pyproject.toml:5: `fail-on` is one of error, warning, info, never, not 'fatal'",
            id="choice",
        ),
        pytest.param("target = 2\n", "pyproject.toml:5: `target` is a string", id="type"),
        pytest.param('select = "NRN1"\n', "pyproject.toml:5: `select` is a list of strings", id="string for list"),
        pytest.param("ignore = [1]\n", "pyproject.toml:5: `ignore` is a list of strings", id="list of numbers"),
        pytest.param("observe = 1\n", "pyproject.toml:5: `observe` is true or false", id="number for flag"),
        pytest.param("jobs = true\n", "pyproject.toml:5: `jobs` is a whole number", id="flag for number"),
        pytest.param("timeout = 0\n", "pyproject.toml:5: `timeout` is more than zero", id="zero"),
        pytest.param(
            'per-file-ignores = ["a"]\n', "pyproject.toml:5: `per-file-ignores` is a table", id="per-file list"
        ),
        pytest.param(
            '[tool.neuronlint.per-file-ignores]\n"tests/*" = "NRN1"\n',
            "pyproject.toml:6: `tests/*` is a list of strings",
            id="per-file string",
        ),
        pytest.param(
            '[[tool.neuronlint.models]]\nfactory = "f"\n',
            "pyproject.toml:5: a model needs `path`",
            id="model without path",
        ),
        pytest.param(
            '[[tool.neuronlint.models]]\npath = "a.py"\nfactry = "f"\n',
            "pyproject.toml:7: unknown key `factry` in `models`; did you mean `factory`?",
            id="model key",
        ),
        pytest.param(
            '[[tool.neuronlint.ignore]]\nrule = "NRN101"\n',
            "pyproject.toml:5: an ignore entry needs `reason`",
            id="ignore without reason",
        ),
        pytest.param(
            '[[tool.neuronlint.ignore]]\nrule = "NRN101"\nreason = "r"\nuntil = "soon"\n',
            "pyproject.toml:8: `until` is a date",
            id="until",
        ),
    ],
)
def test_refused(text: str, message: str, here: Path) -> None:
    project(here, text)
    with pytest.raises(ConfigurationError) as caught:
        load(here)
    assert str(caught.value).startswith(message)


def test_a_key_of_another_tool_is_not_taken_for_ours(here: Path) -> None:
    """The line of an unknown key is looked for below our own header."""
    (here / "pyproject.toml").write_text('[tool.other]\nbogus = 1\n[tool.neuronlint]\nmode = "inference"\nbogus = 1\n')
    with pytest.raises(ConfigurationError, match=r"^pyproject.toml:5: "):
        load(here)


def test_broken_toml_names_the_file(here: Path) -> None:
    (here / "neuronlint.toml").write_text("target = \n")
    with pytest.raises(ConfigurationError, match=r"neuronlint.toml: not valid TOML: .*line 1"):
        load(here)


def test_a_missing_settings_file_is_refused(here: Path) -> None:
    with pytest.raises(ConfigurationError, match=r"no\.toml: cannot be read: No such file"):
        load(here, Path("no.toml"))


def test_without_a_file_nothing_is_set(here: Path) -> None:
    assert load(here) == Settings()


def test_a_project_without_our_table_is_passed_over(here: Path) -> None:
    project(here, 'target = "trn1"\n')
    inner = here / "inner"
    inner.mkdir()
    (inner / "pyproject.toml").write_text('[project]\nname = "inner"\n')
    assert load(inner).target == "trn1"


def test_the_nearest_file_wins_and_our_own_before_the_projects(here: Path) -> None:
    project(here, 'target = "trn1"\n')
    inner = here / "a" / "b"
    inner.mkdir(parents=True)
    assert nearest(inner) == here.resolve() / "pyproject.toml"
    (here / "a" / "neuronlint.toml").write_text('target = "inf2"\n')
    assert load(inner).target == "inf2"


@pytest.mark.parametrize("header", ["", "[tool.neuronlint]\n"])
def test_our_own_file_needs_no_header(header: str, here: Path) -> None:
    (here / "neuronlint.toml").write_text(f'{header}target = "inf2"\n')
    assert load(here).target == "inf2"


def test_everything(here: Path) -> None:
    project(
        here,
        """\
target = "inf2"
mode = "inference"
ignore = ["NRN104", "cpu-fallback"]
extend-select = ["NRN5"]
min-severity = "warning"
timeout = 60
memory-limit = 4.5
jobs = 2
no-exec = true

[tool.neuronlint.per-file-ignores]
"tests/*" = ["NRN1"]

[[tool.neuronlint.models]]
path = "net.py"
factory = "make"
inputs = ["float32[1,3]"]
kwargs = { width = 8 }
""",
    )
    settings = load(here)
    assert settings == Settings(
        path="pyproject.toml",
        target="inf2",
        mode="inference",
        ignore=("NRN104", "cpu-fallback"),
        extend_select=("NRN5",),
        min_severity="warning",
        timeout=60.0,
        memory_limit=4.5,
        jobs=2,
        no_exec=True,
        per_file_ignores={"tests/*": ("NRN1",)},
        models=({"path": "net.py", "factory": "make", "inputs": ["float32[1,3]"], "kwargs": {"width": 8}},),
    )


def test_ignore_entries(here: Path) -> None:
    project(
        here,
        '[[tool.neuronlint.ignore]]\nrule = "NRN301"\nreason = "ok"\n\n'
        '[[tool.neuronlint.ignore]]\nrule = "NRN1"\nop = "aten.sin*"\n'
        'module = "model.*"\nreason = "ok"\nuntil = 2027-03-01\n',
    )
    settings = load(here)
    assert settings.ignore == ()
    assert settings.ignore_entries == (
        IgnoreEntry("NRN301", "ok", line=5),
        IgnoreEntry("NRN1", "ok", "model.*", "aten.sin*", dt.date(2027, 3, 1), line=9),
    )
