"""Each row of `rules/errors/calls.toml` has one call that meets it and one that just does not.

So for the row's condition, and so for the judge, which knows what the frontend does with the call before the compiler
sees it.
"""

from __future__ import annotations

import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from neuronlint.call import OperatorCall
from neuronlint.finding import Confidence
from neuronlint.knowledge import Knowledge, Placement, Reason, Verdict
from neuronlint.knowledge.facts import Around
from neuronlint.knowledge.operators import OperatorRow, OperatorTable
from neuronlint.knowledge.predicate import matches
from neuronlint.stack import Stack, sdk_matches

ROOT = Path(__file__).parents[2]
ROWS = {row["id"]: row for row in tomllib.loads((ROOT / "rules/errors/calls.toml").read_text(encoding="utf-8"))["row"]}
CASES = tomllib.loads((ROOT / "fixtures/errors/cases.toml").read_text(encoding="utf-8"))["case"]
CODES = [
    row["code"]
    for row in tomllib.loads((ROOT / "rules/errors/codes.toml").read_text(encoding="utf-8"))["code"]
    if row["origin"] == "aten" and row["predictable"] == "yes"
]
CODED = [case for case in CASES if ROWS[case["row"]]["code"]]

BEHIND_THE_HOST = {
    "fft-xla": "torch_xla runs it on the host; the compiler meets it where an overlay says that a backend lowers it",
}
"""Rows whose call never reaches the compiler with the shipped tables, and why they stay."""


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


def judged(knowledge: Knowledge, case: dict[str, Any], row: dict[str, Any]) -> Verdict:
    """The verdict on one half of a case, in the surroundings that its row wants."""
    around = Around(row.get("scope") == "graph-output", frozenset(row.get("producer", {}).get("ops", ())))
    stack = Stack(case["target"], case["frontend"], case["sdk"], execution=case["execution"])
    return knowledge.judge(OperatorCall.from_json(case["call"]), stack, around)


def codes_of(verdict: Verdict) -> set[str | None]:
    return {verdict.compiler_code, *(advice.compiler_code for advice in verdict.advice)}


def facts_of(verdict: Verdict) -> set[str]:
    return {verdict.fact, *(advice.fact for advice in verdict.advice)}


def spoken_by(code: str, case: dict[str, Any]) -> set[str]:
    """The rows of a code that apply to one half of a case."""
    return {row_id for row_id, row in ROWS.items() if row["code"] == code and speaks(row, case)}


def reaching(row_id: str, case: dict[str, Any], knowledge: Knowledge) -> Knowledge:
    """The shipped tables; for a call that they keep on the host, with a backend beside them that lowers it."""
    if row_id not in BEHIND_THE_HOST:
        return knowledge
    op = case["call"]["op"]
    found = OperatorRow(op, Placement.NEURON, Reason.LOWERED, Confidence.HIGH)
    return Knowledge(knowledge.facts, knowledge.hlo, OperatorTable({op: (found,)}))


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return Knowledge.load()


@pytest.mark.parametrize("case", CODED, ids=lambda case: case["row"])
def test_the_judge_names_the_code(case: dict[str, Any], knowledge: Knowledge) -> None:
    """In the verdict or beside it, whether the compiler or the frontend is the first to stop."""
    row = ROWS[case["row"]]
    assert row["code"] in codes_of(judged(reaching(case["row"], case["hit"], knowledge), case["hit"], row))


@pytest.mark.parametrize("case", CODED, ids=lambda case: case["row"])
def test_the_judge_passes_the_near_miss(case: dict[str, Any], knowledge: Knowledge) -> None:
    """Of a code with several rows another one may speak of the near miss; then it does, and this one does not."""
    row = ROWS[case["row"]]
    verdict = judged(reaching(case["row"], case["miss"], knowledge), case["miss"], row)
    assert case["row"] not in facts_of(verdict)
    assert (row["code"] in codes_of(verdict)) == bool(spoken_by(row["code"], case["miss"]))


@pytest.mark.parametrize("code", CODES)
def test_every_predictable_code_has_a_clean_pair(code: str, knowledge: Knowledge) -> None:
    """One call that the judge gives the code to, and a near one without it."""
    pairs = [case for case in CODED if ROWS[case["row"]]["code"] == code and case["row"] not in BEHIND_THE_HOST]
    assert any(
        code in codes_of(judged(knowledge, case["hit"], ROWS[case["row"]]))
        and code not in codes_of(judged(knowledge, case["miss"], ROWS[case["row"]]))
        for case in pairs
    )


def test_what_stays_behind_the_host_does(knowledge: Knowledge) -> None:
    """An exception that is none any more has to go."""
    for case in CODED:
        if case["row"] in BEHIND_THE_HOST:
            row = ROWS[case["row"]]
            assert row["code"] not in codes_of(judged(knowledge, case["hit"], row))


def test_a_call_that_raises_is_told_by_its_cause(knowledge: Knowledge) -> None:
    """`view_as_complex` raises in torch_xla; that the type does not compile is what helps."""
    case = next(case for case in CASES if case["row"] == "complex-xla-before-2.32")
    verdict = judged(knowledge, case["hit"], ROWS[case["row"]])
    assert (verdict.placement, verdict.reason, verdict.family) == (Placement.FAILS, Reason.RAISES, "NRN303")
    assert {item.kind for item in verdict.evidence} == {"documented", "lowering"}
