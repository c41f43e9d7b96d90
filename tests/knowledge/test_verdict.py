"""Verdicts of single calls: which table decides, and what each stack makes of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from neuronlint.call import OperatorCall
from neuronlint.errors import KnowledgeError
from neuronlint.finding import Confidence, EvidenceKind, Severity
from neuronlint.knowledge import Consequence, Knowledge, Placement, Reason, Verdict
from neuronlint.knowledge.attributes import named_arguments
from neuronlint.knowledge.facts import Around, Facts, shipped_facts
from neuronlint.knowledge.hlo import HloTable, shipped_hlo
from neuronlint.knowledge.operators import OperatorTable, read_table
from neuronlint.stack import Stack
from tests.graph.graphs import EAGER, NATIVE, XLA_LAZY, XLA_TRACE, call, tensor

LOWERED: dict[str, Any] = {"placement": "neuron", "reason": "lowered"}
ON_HOST: dict[str, Any] = {"placement": "cpu", "reason": "no-lowering"}
STOPS: dict[str, Any] = {"placement": "fails", "reason": "no-lowering"}
RAISES: dict[str, Any] = {"placement": "fails", "reason": "functionalization", "functionalization": "off"}
DILATED = {"when": "any(d != 1 for d in dilation)", "reason": "attribute", "host": ["aten::pool"]}

ROWS: dict[str, list[dict[str, Any]]] = {
    "xla": [
        {"op": "aten.pool.default", **ON_HOST, **DILATED},
        {"op": "aten.pool.default", **LOWERED, "lowers_to": ["reduce-window"]},
        {"op": "aten.hostop.default", **ON_HOST, "samples": 3, "error": "counter aten::hostop"},
        {"op": "aten.viewop.default", **RAISES},
        {"op": "aten.viewop.default", **LOWERED, "functionalization": "on"},
        {"op": "aten.solve.default", **LOWERED, "lowers_to": ["triangular-solve"]},
        {"op": "aten.sortish.default", **LOWERED, "lowers_to": ["sort"]},
        {"op": "aten.qrish.default", **LOWERED, "custom_calls": ["Qr"]},
        {"op": "aten.gelu.default", **LOWERED, "lowers_to": ["erf"]},
        {"op": "aten.mm.default", **LOWERED, "lowers_to": ["dot"]},
        {"op": "aten.view_as_complex.default", **LOWERED},
        {"op": "aten.embedding.default", **LOWERED},
    ],
    "native": [
        {"op": "aten.pool.default", **LOWERED},
        {"op": "aten.hostop.default", **STOPS, "stage": "stablehlo"},
        {"op": "aten.onlymlir.default", **STOPS},
        {"op": "aten.solve.default", **LOWERED, "lowers_to": ["stablehlo.triangular_solve"]},
    ],
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> dict[str, OperatorTable]:
    return {name: table(tmp_path_factory.mktemp(name) / "table.jsonl", rows) for name, rows in ROWS.items()}


@pytest.fixture(scope="module")
def knowledge(tables: dict[str, OperatorTable]) -> Knowledge:
    return Knowledge(shipped_facts(), shipped_hlo(), tables=tables)


def table(path: Path, rows: list[dict[str, Any]]) -> OperatorTable:
    path.write_text("\n".join(json.dumps({"with": "torch_xla 2.9.0", "made_by": "lower.py", **row}) for row in rows))
    return read_table(path)


def judge(knowledge: Knowledge, op: str, stack: dict[str, str], **arguments: Any) -> Verdict:
    out = arguments.pop("out", tensor(4, 4))
    return knowledge.judge(call(op, out, **{"self": tensor(4, 4), **arguments}), Stack(**stack))  # type: ignore[arg-type]


def test_the_first_row_whose_condition_holds_decides(knowledge: Knowledge) -> None:
    dilated = judge(knowledge, "aten.pool.default", XLA_TRACE, dilation=(2, 2))
    assert (dilated.placement, dilated.family, dilated.host) == (Placement.CPU, "NRN103", ("aten::pool",))
    assert judge(knowledge, "aten.pool.default", XLA_TRACE, dilation=(1, 1)).placement is Placement.NEURON


def test_a_fallback_stops_a_trace_and_slows_a_lazy_run(knowledge: Knowledge) -> None:
    trace, lazy = (judge(knowledge, "aten.hostop.default", stack) for stack in (XLA_TRACE, XLA_LAZY))
    assert (trace.consequence, trace.family) == (Consequence.TRACE_ERROR, "NRN101")
    assert lazy.consequence is Consequence.HOST_COPY
    assert trace.evidence[0].kind is EvidenceKind.LOWERING
    assert trace.evidence[0].note == "3 samples; counter aten::hostop"


def test_functionalization_is_off_unless_said_otherwise(knowledge: Knowledge) -> None:
    off = judge(knowledge, "aten.viewop.default", XLA_TRACE)
    assert (off.placement, off.reason, off.family) == (Placement.FAILS, Reason.FUNCTIONALIZATION, "NRN102")
    on = knowledge.judge(call("aten.viewop.default", tensor(4)), Stack(**XLA_TRACE, functionalization=True))
    assert on.placement is Placement.NEURON


def test_the_compiler_refuses_what_lowers(knowledge: Knowledge) -> None:
    solve = judge(knowledge, "aten.solve.default", XLA_TRACE)
    assert (solve.placement, solve.reason, solve.compiler_code) == (Placement.FAILS, Reason.COMPILER, "NCC_EVRF001")
    assert {evidence.kind for evidence in solve.evidence} >= {EvidenceKind.LOWERING}
    assert judge(knowledge, "aten.qrish.default", XLA_TRACE).reason is Reason.CUSTOM_CALL
    assert judge(knowledge, "aten.solve.default", NATIVE).placement is Placement.FAILS


def test_sort_depends_on_target_and_release(knowledge: Knowledge) -> None:
    assert judge(knowledge, "aten.sortish.default", XLA_TRACE).placement is Placement.NEURON
    assert judge(knowledge, "aten.sortish.default", {**XLA_TRACE, "sdk": "2.22"}).placement is Placement.FAILS
    assert judge(knowledge, "aten.sortish.default", {**XLA_TRACE, "target": "trn2"}).placement is Placement.FAILS


def test_torch_neuronx_replaces_measured_lowerings(knowledge: Knowledge) -> None:
    """torch_xla's erf would be refused on inf2; torch-neuronx makes it the Gelu call."""
    gelu = judge(knowledge, "aten.gelu.default", XLA_TRACE, approximate="none")
    assert (gelu.placement, gelu.lowers_to) == (Placement.NEURON, ("AwsNeuronGelu",))


def test_native_measurements_carry_less(knowledge: Knowledge) -> None:
    """A lowering is medium evidence, a failure alone low, and two measurements together medium."""
    assert judge(knowledge, "aten.pool.default", NATIVE, dilation=(1, 1)).confidence is Confidence.MEDIUM
    alone = judge(knowledge, "aten.onlymlir.default", NATIVE)
    assert (alone.placement, alone.confidence) == (Placement.FAILS, Confidence.LOW)
    both = judge(knowledge, "aten.hostop.default", NATIVE)
    assert (both.confidence, len(both.evidence)) == (Confidence.MEDIUM, 2)


def test_a_document_outranks_an_upstream_failure(knowledge: Knowledge) -> None:
    """TorchNeuron decomposes complex arithmetic, upstream torch-mlir does not."""
    turned = tensor(4, dtype="complex64")
    verdict = judge(knowledge, "aten.onlymlir.default", NATIVE, self=turned, out=turned)
    assert (verdict.placement, verdict.confidence) == (Placement.NEURON, Confidence.MEDIUM)


def test_eager_falls_back_to_the_host(knowledge: Knowledge) -> None:
    both = judge(knowledge, "aten.hostop.default", EAGER)
    assert (both.placement, both.consequence, both.severity) == (Placement.CPU, Consequence.HOST_COPY, None)
    assert judge(knowledge, "aten.onlymlir.default", EAGER).severity is Severity.INFO


def test_what_no_backend_sees_is_trivial(knowledge: Knowledge) -> None:
    for stack in (XLA_TRACE, NATIVE, EAGER):
        assert judge(knowledge, "aten.detach.default", stack).reason is Reason.METADATA


def test_an_operator_of_nobody_is_custom(knowledge: Knowledge) -> None:
    verdict = judge(knowledge, "audiokit.compand.default", NATIVE)
    assert (verdict.placement, verdict.family, verdict.confidence) == (Placement.FAILS, "NRN401", Confidence.MEDIUM)


def test_nothing_known_is_unknown(knowledge: Knowledge) -> None:
    verdict = judge(knowledge, "aten._no_such_operator.default", NATIVE)
    assert (verdict.placement, verdict.family, verdict.evidence) == (Placement.UNKNOWN, "NRN104", ())


def test_the_registry_speaks_where_nothing_was_measured() -> None:
    bare = Knowledge(Facts(), HloTable(), tables={"xla": OperatorTable({"x": ()})})
    known = judge(bare, "aten.tanh_backward.default", XLA_LAZY)
    assert (known.placement, known.reason, known.confidence) == (Placement.NEURON, Reason.REGISTERED, Confidence.MEDIUM)
    assert judge(bare, "aten.grid_sampler_2d_backward.default", XLA_LAZY).placement is Placement.CPU


@pytest.mark.parametrize("op", ["aten.nonzero.default", "aten._unique2.default", "aten.masked_select.default"])
def test_shapes_that_depend_on_data(knowledge: Knowledge, op: str) -> None:
    for stack, severity in ((XLA_TRACE, "error"), (XLA_LAZY, "error"), (NATIVE, "warning"), (EAGER, "warning")):
        verdict = judge(knowledge, op, stack, out=tensor("u0", 1))
        assert (verdict.family, verdict.severity) == ("NRN201", Severity(severity))


def test_an_index_selects_by_value_only_as_a_mask(knowledge: Knowledge) -> None:
    masked = judge(knowledge, "aten.index_put_.default", XLA_TRACE, indices=(None, tensor(4, dtype="bool")))
    assert masked.family == "NRN201"
    counted = judge(knowledge, "aten.index_put_.default", XLA_TRACE, indices=(tensor(4, dtype="int64"),))
    assert counted.family != "NRN201"


def test_the_split_of_a_matrix_is_wrong_on_some_releases(knowledge: Knowledge) -> None:
    arguments = {"split_sizes": (3, 1), "dim": -1}
    wrong = judge(knowledge, "aten.split_with_sizes.default", XLA_TRACE, **arguments)
    assert (wrong.placement, wrong.severity) == (Placement.FAILS, Severity.ERROR)
    later = judge(knowledge, "aten.split_with_sizes.default", {**XLA_TRACE, "sdk": "2.32"}, **arguments)
    assert later.severity is not Severity.ERROR


def test_facts_beside_the_verdict_are_advice(knowledge: Knowledge) -> None:
    ids = tensor(4, dtype="int64", origin="input")
    verdict = judge(
        knowledge, "aten.embedding.default", XLA_TRACE, weight=tensor(9, 4, origin="parameter"), indices=ids
    )
    assert verdict.placement is Placement.NEURON
    narrowed = next(advice for advice in verdict.advice if advice.fact == "int64-input")
    assert (narrowed.severity, narrowed.once) == (Severity.INFO, True)


def test_a_chain_has_one_root(knowledge: Knowledge) -> None:
    first = judge(knowledge, "aten.view_as_complex.default", XLA_TRACE, out=tensor(4, 2, dtype="complex64"))
    assert (first.family, first.root) == ("NRN303", True)
    turned = tensor(4, 2, dtype="complex64")
    assert not judge(knowledge, "aten.mm.default", XLA_TRACE, self=turned, mat2=turned, out=turned).root


def test_facts_of_a_graph_need_the_graph(knowledge: Knowledge) -> None:
    """Positions past the table are an error only when they come from arange."""
    arguments = {"weight": tensor(4, 8, origin="parameter"), "indices": tensor(16, dtype="int64")}
    positions = OperatorCall("aten.embedding.default", arguments, (tensor(16, 8),))
    stack = Stack(**XLA_TRACE)  # type: ignore[arg-type]
    assert knowledge.judge(positions, stack).placement is Placement.NEURON
    counted = knowledge.judge(positions, stack, Around(makers=frozenset(["aten.arange.default"])))
    assert (counted.placement, counted.family) == (Placement.FAILS, "NRN606")


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"op": "a"}', "placement' is missing"),
        ('{"op": "a", "placement": "moon", "reason": "lowered"}', "moon"),
        ('{"op": "a", "placement": "cpu", "reason": "lowered", "when": "f(x"}', "f(x"),
        ("[]", "a JSON object is wanted"),
    ],
)
def test_a_broken_row_names_file_and_line(tmp_path: Path, line: str, words: str) -> None:
    path = tmp_path / "broken.jsonl"
    path.write_text(f'{{"op": "a", "placement": "cpu", "reason": "lowered"}}\n{line}\n')
    with pytest.raises(KnowledgeError, match=r"broken\.jsonl:2: ") as caught:
        read_table(path)
    assert words in str(caught.value)


def test_rows_for_a_name_are_found_in_every_table(knowledge: Knowledge) -> None:
    for name in ("pool", "aten.pool", "aten::pool", "aten.pool.default"):
        found = knowledge.rows_for(name)
        assert (len(found["xla"]), len(found["native"])) == (2, 1)
    assert knowledge.rows_for("topk")["facts"]


def test_a_message_names_the_arguments_that_decided() -> None:
    made = call("aten.pool.default", dilation=(2, 2), stride=(), ceil_mode=True, self=tensor(4, dtype="int64"))
    assert named_arguments("any(d != 1 for d in dilation) or ceil_mode", made) == "dilation=(2, 2), ceil_mode=True"
    assert named_arguments("self.dtype == 'int64'", made) == "self=int64[4]"
    assert named_arguments(None, made) == ""


PADDED = {"input": tensor(2, 10, 16), "lengths": tensor(2, dtype="int64"), "batch_first": True}
HALVES = {"split_sizes": (3, 5), "dim": -1}
STATED: list[tuple[str, dict[str, Any], dict[str, str], Placement, Severity | None]] = [
    ("_pack_padded_sequence.default", PADDED, XLA_TRACE, Placement.CPU, Severity.ERROR),
    ("_pack_padded_sequence.default", PADDED, XLA_LAZY, Placement.CPU, Severity.ERROR),
    ("_pack_padded_sequence.default", PADDED, NATIVE, Placement.CPU, Severity.WARNING),
    ("_to_sparse.default", {}, XLA_LAZY, Placement.FAILS, Severity.ERROR),
    ("glu_backward.default", {"dim": -1}, XLA_LAZY, Placement.CPU, None),
    ("_cdist_backward.default", {}, XLA_LAZY, Placement.CPU, None),
    ("affine_grid_generator.default", {}, XLA_TRACE, Placement.FAILS, Severity.WARNING),
    ("lstm.data", {}, NATIVE, Placement.FAILS, Severity.ERROR),
    ("split_with_sizes.default", {"self": tensor(2, 4, 8), **HALVES}, XLA_TRACE, Placement.FAILS, Severity.ERROR),
    ("split_with_sizes.default", {"self": tensor(1, 1, 8), **HALVES}, XLA_TRACE, Placement.NEURON, None),
    ("split_with_sizes.default", {"self": tensor(8), **HALVES}, XLA_TRACE, Placement.NEURON, None),
]


@pytest.mark.parametrize(("op", "arguments", "stack", "placement", "severity"), STATED)
def test_what_the_shipped_tables_say(
    op: str, arguments: dict[str, Any], stack: dict[str, str], placement: Placement, severity: Severity | None
) -> None:
    verdict = judge(Knowledge.load(), f"aten.{op}", stack, **arguments)
    assert (verdict.placement, verdict.severity) == (placement, severity)
