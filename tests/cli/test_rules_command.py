"""`neuronlint rules` and `rules new`, and `explain` with its formats."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from neuronlint.cli import app
from neuronlint.knowledge import checks
from neuronlint.render.rule_page import FAMILIES, MARK, index, markdown

ROOT = Path(__file__).parents[2]
Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Runs a command in an empty folder: exit code, stdout, stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, str, str]:
        code = app.main(arguments)
        out, err = capsys.readouterr()
        return code, out, err

    return call


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """What a scaffold needs of a checkout."""
    for name in ("rules/checks", "neuronlint/source/rules", "neuronlint/graph/rules"):
        (tmp_path / name).mkdir(parents=True)
    return tmp_path


def new(code: str, name: str, lane: str = "source") -> list[str]:
    return ["rules", "new", code, name, "--lane", lane]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(["explain"], "give one CODE, or --all", id="nothing to explain"),
        pytest.param(["explain", "NRN101", "--all"], "give one CODE, or --all", id="both"),
        pytest.param(["explain", "NRN101", "--output", "no/where.md"], "no/where.md: cannot be written", id="output"),
        pytest.param(["explain", "NRN101", "--format", "html"], "'html' is not one of", id="format"),
        pytest.param(["rules", "nwe"], "No such command 'nwe'", id="subcommand"),
        pytest.param(["rules", "new", "NRN799", "a-rule"], "Missing option '--lane'", id="no lane"),
        pytest.param(new("NRN77", "a-rule"), "`NRN77` is no code for a source rule", id="short code"),
        pytest.param(new("NRN101", "a-rule"), "they are NRN2xx, NRN3xx", id="family of the other lane"),
        pytest.param(new("NRN999", "a-rule", "graph"), "is no code for a graph rule", id="own family"),
        pytest.param(new("NRN799", "A_Rule"), "`A_Rule` is no kebab-case name", id="name"),
        pytest.param(new("NRN704", "a-rule"), "NRN704 is taken; the next free one is NRN7", id="taken"),
        pytest.param(new("NRN799", "cpu-fallback"), "the name `cpu-fallback` is taken by NRN101", id="taken name"),
    ],
)
def test_a_usage_error_writes_nothing(arguments: list[str], message: str, run: Run, checkout: Path) -> None:
    code, out, err = run(*arguments)
    assert (code, out) == (2, "")
    assert message in err
    assert not [path for path in checkout.rglob("*") if path.is_file()]


def test_a_rule_is_only_started_in_a_checkout(run: Run, tmp_path: Path) -> None:
    code, _, err = run(*new("NRN799", "a-rule"))
    assert code == 2
    assert "no checkout of neuronlint; go to one, or name it with --root" in err
    assert list(tmp_path.iterdir()) == []


def test_no_file_is_written_over(run: Run, checkout: Path) -> None:
    """Not the one that is there, and none of the others."""
    there = checkout / "neuronlint" / "source" / "rules" / "a_rule.py"
    there.write_text("mine")
    code, _, err = run(*new("NRN799", "a-rule"))
    assert code == 2
    assert "a_rule.py: there is such a file already" in err
    assert [path for path in checkout.rglob("*") if path.is_file()] == [there]
    assert there.read_text() == "mine"


@pytest.mark.parametrize("lane", ["source", "graph"])
def test_a_started_rule_works(run: Run, tmp_path: Path, lane: str) -> None:
    """Its texts fit the schema, it is found by being there, its test passes, and ruff has nothing to say."""
    clone = tmp_path / "clone"
    for name in ("neuronlint", "rules", "tests/graph"):
        shutil.copytree(ROOT / name, clone / name, ignore=shutil.ignore_patterns("__pycache__", "test_*"))
    shutil.copy(ROOT / "pyproject.toml", clone)
    code, out, _ = run(*new("nrn699", "odd-thing", lane), "--root", str(clone))
    assert code == 0
    texts, module, test = (Path(line) for line in out.splitlines())
    assert module.name == "odd_thing.py"
    schema = json.loads((ROOT / "rules" / "schema" / "checks.schema.json").read_text(encoding="utf-8"))
    row = tomllib.loads(texts.read_text(encoding="utf-8"))
    assert [error.message for error in Draft202012Validator(schema).iter_errors(row)] == []
    for command in (["pytest", "-q", str(test)], ["ruff", "check", str(module), str(test)]):
        done = subprocess.run([sys.executable, "-m", *command], cwd=clone, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_rules_as_json_hold_what_a_page_is_made_of(run: Run) -> None:
    rules = {rule["code"]: rule for rule in json.loads(run("rules", "--format", "json")[1])}
    fallback = rules["NRN101"]
    assert fallback["name"] == "cpu-fallback"
    assert fallback["family"] == "operator support"
    assert (fallback["lane"], fallback["severity"]) == ("graph", "warning")
    assert fallback["severity_on"] == [{"frontend": "xla", "execution": "trace", "severity": "error"}]
    assert fallback["url"] == checks.rule_url("NRN101")
    assert fallback["fixable"] is None
    assert {item["kind"] for item in fallback["evidence"]} == {"lowering", "documented"}
    assert {rule["family"] for rule in rules.values()} <= set(FAMILIES.values())


def test_rules_as_text_is_one_a_line(run: Run) -> None:
    lines = run("rules")[1].splitlines()
    assert len(lines) == len(checks.codes())
    assert "NRN101  warning  graph   cpu-fallback" in lines


def test_explain_in_each_format(run: Run, tmp_path: Path) -> None:
    assert run("explain", "cpu-fallback", "--format", "markdown")[1] == markdown(checks.check("NRN101"))
    assert json.loads(run("explain", "NRN101", "--format", "json")[1])["code"] == "NRN101"
    assert run("explain", "NRN101", "--output", "page.txt") == (0, "", "")
    assert (tmp_path / "page.txt").read_text(encoding="utf-8") == run("explain", "NRN101")[1]


def test_explain_all(run: Run) -> None:
    """Every rule, in every format."""
    everything = json.loads(run("explain", "--all", "--format", "json")[1])
    assert [rule["code"] for rule in everything] == list(checks.codes())
    pages = run("explain", "--all", "--format", "markdown")[1]
    assert pages.count(MARK) == len(checks.codes())
    text = run("explain", "--all")[1]
    assert all(f"\n{code} " in f"\n{text}" for code in checks.codes())


def test_pages_replace_and_remove_only_their_own(run: Run, tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "NRN000.md").write_text(f"{MARK}\nold")
    (docs / "NRN101.md").write_text(f"{MARK}\nold")
    (docs / "guide.md").write_text("by hand")
    assert run("explain", "--all", "--format", "markdown", "--output", "docs") == (0, "", "")
    assert {path.name for path in docs.iterdir()} == {
        "guide.md",
        "README.md",
        *(f"{code}.md" for code in checks.codes()),
    }
    assert (docs / "NRN101.md").read_text(encoding="utf-8") == markdown(checks.check("NRN101"))
    assert (docs / "guide.md").read_text() == "by hand"
    (docs / "README.md").write_text("by hand")
    code, _, err = run("explain", "--all", "--format", "markdown", "--output", "docs")
    assert code == 2
    assert "docs/README.md: not written by neuronlint" in err
    assert (docs / "README.md").read_text() == "by hand"


def made(**fields: object) -> checks.Check:
    """A rule with what a test is about."""
    shipped = checks.check("NRN101")
    kept = {name: getattr(shipped, name) for name in shipped.__slots__}
    return checks.Check(**{**kept, "severity_on": (), "then": {}, "stacks": (), **fields})


def section(page: str, title: str) -> str:
    return page.partition(f"## {title}\n")[2].partition("\n## ")[0].strip()


def test_a_page_leaves_out_stacks_that_the_rule_never_speaks_of() -> None:
    rule = made(stacks=({"frontend": "xla"},), then={"xla/trace": "it stops", "*": "it waits"})
    assert section(markdown(rule), "What happens") == (
        "Reported only on xla.\n\n| stack | severity | what happens |\n|---|---|---|\n"
        "| xla trace | warning | it stops |\n| xla lazy | warning | it waits |"
    )


def test_a_page_says_once_what_holds_everywhere() -> None:
    assert section(markdown(made(then={"*": "it waits"})), "What happens") == "Severity: warning. It waits."


def test_a_page_tells_modes_and_parts_of_a_stack_apart() -> None:
    rows = ({"target": "trn1", "severity": "error"}, {"mode": "training", "severity": "info"})
    told = section(markdown(made(severity_on=rows, stacks=({"execution": "lazy", "frontend": "xla"},))), "What happens")
    assert "| xla lazy inference | warning; error on trn1 |  |" in told
    assert "| xla lazy training | info; error on trn1 |  |" in told


def test_a_page_escapes_what_markdown_would_take_for_markup() -> None:
    page = markdown(made(headline="`a|b` and <c> of *d* in __init__", then={"native": "x | y", "*": "z"}))
    assert "\n`a|b` and \\<c> of \\*d\\* in \\_\\_init\\_\\_.\n" in page
    assert "| native compile | warning | x \\| y |" in page


def test_the_index_lists_every_rule_once_under_its_family() -> None:
    page = index([checks.check(code) for code in checks.codes()])
    for code in checks.codes():
        assert page.count(f"| [{code}]({code}.md) |") == 1
    assert page.index("## NRN1xx: operator support") < page.index("[NRN101]") < page.index("## NRN2xx")
