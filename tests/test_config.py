"""Settings files: every mistake is one line with file and line; the nearest file wins."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from neuronlint.config import FAIL_ON, KEYS, SEVERITIES, IgnoreEntry, Settings, load, nearest
from neuronlint.errors import ConfigurationError
from neuronlint.stack import EXECUTIONS, FRONTENDS, MODES, TARGETS


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
        pytest.param(
            'severity = "warning"\n', "pyproject.toml:5: `severity` is a table, as in severity = {", id="severity"
        ),
        pytest.param(
            'fix = true\nseverity = { NRN701 = "fatal" }\n',
            "pyproject.toml:6: the severity of `NRN701` is one of error, warning, info, not 'fatal'",
            id="severity word",
        ),
        pytest.param('fix = "yes"\n', "pyproject.toml:5: `fix` is true or false", id="fix"),
        pytest.param("baseline = true\n", "pyproject.toml:5: `baseline` is a string", id="baseline"),
        pytest.param(
            "unsafe-fix = true\n", "pyproject.toml:5: unknown key `unsafe-fix`; did you mean `unsafe-fixes`?", id="near"
        ),
        pytest.param(
            "fix = true\ndiff = true\n",
            "pyproject.toml:6: `diff` is an option of the command line only; remove it here",
            id="command line",
        ),
        pytest.param(
            'per-file-ignores = { "tests/*" = ["NRN1"], "b.py" = 1 }\n',
            "pyproject.toml:5: `b.py` is a list of strings",
            id="inline table",
        ),
        pytest.param("models = 1\n", "pyproject.toml:5: `models` is a list of tables", id="models"),
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


def test_our_table_has_to_be_one(here: Path) -> None:
    (here / "pyproject.toml").write_text("[tool]\nneuronlint = 1\n")
    with pytest.raises(ConfigurationError, match=r"^pyproject.toml:2: `neuronlint` is a table"):
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


def test_where_keys_stand(here: Path) -> None:
    project(here, 'target = "inf2"\nfix = true\n\n[tool.neuronlint.severity]\nNRN701 = "info"\n')
    settings = load(here)
    assert settings.lines == {"target": 5, "fix": 6, "severity": 8}
    assert settings.where("fix") == "pyproject.toml:6"
    assert settings.where("watch") == "pyproject.toml"
    assert settings.severity == {"NRN701": "info"}


@pytest.mark.parametrize(
    ("after", "end"),
    [
        pytest.param("", 9, id="end of the file"),
        pytest.param("\n\n[tool.other]\nx = 1\n", 11, id="blank lines before another table"),
        pytest.param("\n# about the other\n[tool.other]\n", 10, id="a comment of another table"),
    ],
)
def test_the_lines_of_an_ignore_entry(after: str, end: int, here: Path) -> None:
    """What its fix removes: the table and the blank lines after it, and nothing that belongs to the next one."""
    project(here, f'[[tool.neuronlint.ignore]]\nrule = "NRN1"\nreason = "r"\nuntil = 2026-01-01\n{after}')
    [entry] = load(here).ignore_entries
    assert (entry.line, entry.end_line) == (5, end)


def test_an_ignore_entry_in_a_list_has_no_lines_of_its_own(here: Path) -> None:
    project(here, 'ignore = [{ rule = "NRN1", reason = "r" }]\n')
    assert [entry.end_line for entry in load(here).ignore_entries] == [0]


SCHEMA = json.loads((Path(__file__).parents[1] / "rules/schema/settings.schema.json").read_text(encoding="utf-8"))


def test_the_schema_knows_the_keys_and_words() -> None:
    rows = SCHEMA["properties"]
    assert sorted(rows) == sorted(KEYS)
    assert tuple(rows["target"]["enum"]) == TARGETS
    assert tuple(rows["frontend"]["enum"]) == FRONTENDS
    assert tuple(rows["mode"]["enum"]) == MODES
    assert set(rows["execution"]["enum"]) == {word for words in EXECUTIONS.values() for word in words}
    assert tuple(rows["fail-on"]["enum"]) == FAIL_ON
    assert tuple(rows["min-severity"]["enum"]) == tuple(rows["severity"]["additionalProperties"]["enum"]) == SEVERITIES


VALUES = ["NRN1", ["NRN1"], [1], [], 0, 2, 1.5, True, {}, {"NRN1": "info"}, {"a.py": ["NRN1"]}, [{"path": "a.py"}]]


@pytest.mark.parametrize("key", KEYS)
def test_the_schema_takes_what_the_reader_takes(key: str, here: Path) -> None:
    """Words of the stack, which another module reads, are left to it; `ignore` is told apart by its items."""
    validator = Draft202012Validator(SCHEMA)
    values = [*SCHEMA["properties"][key].get("enum", []), *VALUES]
    for value in values:
        (here / "neuronlint.toml").write_text(f"{key} = {_toml(value)}\n")
        try:
            load(here)
            taken = True
        except ConfigurationError:
            taken = False
        known = key not in ("target", "frontend", "execution", "format") or not isinstance(value, str)
        if known:
            assert validator.is_valid({key: value}) is taken, value


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value)


def test_an_overlay_that_is_not_there_is_named_with_its_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pyproject.toml").write_text('[tool.neuronlint]\nmode = "training"\noverlays = ["none.toml"]\n')
    with pytest.raises(ConfigurationError, match=r"^pyproject.toml:3: none.toml: no such overlay; .*knowledge harvest"):
        _ = load(tmp_path).overlay_paths
    (tmp_path / "none.toml").touch()
    assert load(tmp_path).overlay_paths == (Path("none.toml"),)
