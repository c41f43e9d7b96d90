"""Each row of `rules/errors/calls.toml` has one call that meets it and one that just does not."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from neuronlint.call import OperatorCall
from neuronlint.knowledge.predicate import matches
from neuronlint.stack import sdk_matches

ROOT = Path(__file__).parents[2]
ROWS = {row["id"]: row for row in tomllib.loads((ROOT / "rules/errors/calls.toml").read_text(encoding="utf-8"))["row"]}
CASES = tomllib.loads((ROOT / "fixtures/errors/cases.toml").read_text(encoding="utf-8"))["case"]


def speaks(row: dict[str, Any], case: dict[str, Any]) -> bool:
    """Whether a row applies to the stack, the operator and the arguments of one half of a case."""
    call = OperatorCall.from_json(case["call"])
    return (
        any(fnmatchcase(call.op, pattern) for pattern in row["ops"])
        and case["target"] in row.get("targets", [case["target"]])
        and case["frontend"] in row.get("frontends", [case["frontend"]])
        and case["execution"] in row.get("executions", [case["execution"]])
        and sdk_matches(row["sdk"], case["sdk"])
        and matches(row.get("when"), call)
    )


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["row"])
def test_the_call_meets_the_row(case: dict[str, Any]) -> None:
    row = ROWS[case["row"]]
    assert speaks(row, case["hit"])
    assert matches(row.get("report_when"), OperatorCall.from_json(case["hit"]["call"]))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["row"])
def test_the_near_miss_does_not(case: dict[str, Any]) -> None:
    assert not speaks(ROWS[case["row"]], case["miss"])


def test_every_row_has_its_case() -> None:
    assert {case["row"] for case in CASES} == set(ROWS)


def test_cases_survive_the_saved_form() -> None:
    for case in CASES:
        for half in ("hit", "miss"):
            call = OperatorCall.from_json(case[half]["call"])
            assert OperatorCall.from_json(call.to_json()) == call


def test_a_complex_chain_is_reported_where_it_starts() -> None:
    """The product of two complex tensors is refused too, but the finding belongs to the call that made them."""
    row = ROWS["complex-xla-before-2.32"]
    start = next(case["hit"]["call"] for case in CASES if case["row"] == row["id"])
    pair = {"dtype": "complex64", "shape": [4]}
    product = {"op": "aten.mul.Tensor", "arguments": {"self": pair, "other": pair}, "outputs": [pair]}
    assert matches(row["report_when"], OperatorCall.from_json(start))
    assert matches(row["when"], OperatorCall.from_json(product))
    assert not matches(row["report_when"], OperatorCall.from_json(product))
