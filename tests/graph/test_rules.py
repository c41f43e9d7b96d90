"""Each graph rule on hand-made graphs: what it reports, and what it passes over."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from neuronlint.call import OperatorCall
from neuronlint.finding import Confidence, Finding, Severity, Span
from neuronlint.graph.opgraph import CallNode, CaptureEvent, GraphInput, OpGraph
from neuronlint.graph.rules import findings, rules
from neuronlint.graph.rules.base import describe, limited
from neuronlint.graph.summary import model_report
from neuronlint.knowledge import Knowledge, Placement, Reason
from neuronlint.knowledge.checks import filled
from neuronlint.knowledge.facts import shipped_facts
from neuronlint.knowledge.hlo import shipped_hlo
from neuronlint.knowledge.operators import OperatorRow, OperatorTable
from neuronlint.stack import Stack
from tests.graph.graphs import EAGER, NATIVE, XLA_LAZY, XLA_TRACE, call, graph, tensor


def row(op: str, placement: Placement, reason: Reason, **fields: Any) -> OperatorRow:
    return OperatorRow(op, placement, reason, Confidence.HIGH, **fields)


FINE = (
    "relu",
    "mm",
    "index.Tensor",
    "add.Tensor",
    "mul.Tensor",
    "_to_copy",
    "slice.Tensor",
    "zeros",
    "embedding",
    "view_as_real",
)
LOWERED = [
    row(f"aten.{name}" if "." in name else f"aten.{name}.default", Placement.NEURON, Reason.LOWERED) for name in FINE
]
XLA = [
    *LOWERED,
    row("aten.im2col.default", Placement.CPU, Reason.NO_LOWERING),
    row("aten.pool.default", Placement.CPU, Reason.ATTRIBUTE, when="any(d != 1 for d in dilation)"),
    row("aten.pool.default", Placement.NEURON, Reason.LOWERED),
    row("aten.pixel_unshuffle.default", Placement.FAILS, Reason.FUNCTIONALIZATION, functionalization="off"),
    row("aten.wrong.default", Placement.FAILS, Reason.WRONG_VALUE),
]
NATIVE_ROWS = [*LOWERED, row("aten.median.dim", Placement.FAILS, Reason.NO_LOWERING)]


def table(rows: Iterable[OperatorRow]) -> OperatorTable:
    grouped: dict[str, list[OperatorRow]] = {}
    for item in rows:
        grouped.setdefault(item.op, []).append(item)
    return OperatorTable({op: tuple(found) for op, found in grouped.items()})


KNOWLEDGE = Knowledge(shipped_facts(), shipped_hlo(), tables={"xla": table(XLA), "native": table(NATIVE_ROWS)})
RELU = call("aten.relu.default", tensor(4), self=tensor(4))


def run(made: OpGraph, stack: dict[str, str]) -> list[Finding]:
    return findings(made, Stack(**stack), KNOWLEDGE)[0]  # type: ignore[arg-type]


def codes(made: OpGraph, stack: dict[str, str], least: Severity = Severity.WARNING) -> list[tuple[str, str]]:
    return [(found.code, str(found.severity)) for found in run(made, stack) if found.severity.rank >= least.rank]


def event(kind: str, line: int = 20, **fields: Any) -> CaptureEvent:
    return CaptureEvent(kind, span=Span("model.py", line), **fields)


def test_a_clean_graph_has_no_findings() -> None:
    for stack in (XLA_TRACE, XLA_LAZY, NATIVE, EAGER):
        assert run(graph(RELU, RELU), stack) == []


WHOLE = tensor(2, 2, dtype="int32")
CALLS = [
    ("NRN101", call("aten.im2col.default", tensor(4), self=tensor(4))),
    ("NRN102", call("aten.pixel_unshuffle.default", tensor(4), self=tensor(4))),
    ("NRN103", call("aten.pool.default", tensor(4), self=tensor(4), dilation=(2, 2))),
    ("NRN105", call("aten.wrong.default", tensor(4), self=tensor(4))),
    ("NRN201", call("aten.nonzero.default", tensor("u0", 1, dtype="int64"), self=tensor(4))),
    ("NRN301", call("aten.add.Tensor", tensor(4, dtype="float64"), self=tensor(4), other=1.0)),
    ("NRN303", call("aten.add.Tensor", tensor(4, dtype="complex64"), self=tensor(4), other=1.0)),
    ("NRN304", call("aten._to_copy.default", tensor(4, dtype="float8_e4m3fn"), self=tensor(4))),
    ("NRN305", call("aten.mm.default", WHOLE, self=WHOLE, mat2=WHOLE)),
    ("NRN307", call("aten.topk.default", WHOLE, self=WHOLE, k=2, dim=-1, sorted=True)),
    ("NRN401", call("audiokit.compand.default", tensor(4), wave=tensor(4))),
    ("NRN607", call("aten.bitwise_right_shift.Tensor", tensor(4, dtype="int8"), self=tensor(4, dtype="int8"))),
]  # fmt: skip


@pytest.mark.parametrize(("code", "made"), CALLS, ids=[case[0] for case in CALLS])
def test_a_call_on_xla(code: str, made: OperatorCall) -> None:
    """Each family is reported once, at the user's line, with a headline that fits."""
    found = run(graph(RELU, made), XLA_TRACE)
    assert [finding.code for finding in found] == [code]
    assert found[0].span == Span("model.py", 11)
    assert len(found[0].message) <= 100
    assert "{" not in found[0].message
    assert made.op in found[0].details


def test_severity_follows_the_stack() -> None:
    fallback = graph(call("aten.im2col.default", tensor(4), self=tensor(4)))
    assert codes(fallback, XLA_TRACE) == [("NRN101", "error")]
    assert codes(fallback, XLA_LAZY) == [("NRN101", "warning")]


def test_one_measurement_alone_is_a_warning_on_native() -> None:
    alone = graph(call("aten.median.dim", tensor(4), self=tensor(4)))
    assert codes(alone, NATIVE) == [("NRN102", "warning")]
    assert codes(alone, EAGER, Severity.INFO) == [("NRN101", "info")]


def test_the_condition_is_named() -> None:
    found = run(graph(call("aten.pool.default", tensor(4), self=tensor(4), dilation=(2, 2))), XLA_TRACE)
    assert "dilation=(2, 2)" in found[0].message


def test_unknown_operators_are_one_finding() -> None:
    made = graph(
        call("aten._mystery.default", tensor(4)),
        call("aten._riddle.default", tensor(4)),
        call("aten._riddle.default", tensor(4)),
    )
    (found,) = run(made, NATIVE)
    assert (found.code, found.severity, found.count, found.span) == ("NRN104", Severity.INFO, 3, None)
    assert found.details == "aten._mystery.default, aten._riddle.default"


def test_only_the_call_that_makes_a_size_is_reported() -> None:
    picked = call("aten.nonzero.default", tensor("u0", 1, dtype="int64"), self=tensor(4))
    used = call("aten.index.Tensor", tensor("u0", 4), self=tensor(4, 4), indices=(tensor("u0", 1, dtype="int64"),))
    made = call("aten.zeros.default", tensor("u0", 4), size=("u0", 4))
    assert codes(graph(picked, used, made), XLA_TRACE) == [("NRN201", "error")]
    assert codes(graph(picked, used, made), NATIVE) == [("NRN201", "warning")]


def test_a_dynamic_input_is_not_the_graphs_doing() -> None:
    dynamic = GraphInput("x", tensor("s0", 4), "float32[s0,4]")
    relu = call("aten.relu.default", tensor("s0", 4), self=tensor("s0", 4))
    assert "NRN201" not in dict(codes(graph(relu, inputs=[dynamic]), NATIVE))


def test_a_mask_assignment_keeps_its_shape_and_is_reported() -> None:
    masked = call(
        "aten.index_put_.default", tensor(4), self=tensor(4), indices=(tensor(4, dtype="bool"),), values=tensor(1)
    )
    assert codes(graph(masked), XLA_LAZY) == [("NRN201", "error")]


def test_the_gradient_of_a_selection_is_not_its_cause() -> None:
    masked = call("aten.index.Tensor", tensor("u0", 4), self=tensor(4, 4), indices=(tensor(4, dtype="bool"),))
    made = graph(masked, masked)
    made.nodes[1] = replace(made.nodes[1], phase="backward")
    assert codes(made, XLA_LAZY) == [("NRN201", "error")]


def test_an_operator_that_makes_sizes_unknown_to_the_tables() -> None:
    made = call("aten.index.Tensor", tensor("u7", 4), self=tensor(4, 4), indices=(tensor(4, dtype="int64"),))
    assert codes(graph(made), NATIVE) == [("NRN201", "warning")]


def test_a_type_is_reported_where_it_comes_in() -> None:
    complex_ = tensor(4, dtype="complex64")
    start = call("aten.add.Tensor", complex_, self=tensor(4), other=1.0)
    goes_on = call("aten.mul.Tensor", complex_, self=complex_, other=complex_)
    found = run(graph(start, goes_on, goes_on), XLA_TRACE)
    assert [(finding.code, finding.span) for finding in found] == [("NRN303", Span("model.py", 10))]


def test_a_type_that_comes_with_a_buffer_is_reported_once() -> None:
    table_ = tensor(4, dtype="complex64", origin="buffer")
    product = call("aten.mul.Tensor", tensor(4, dtype="complex64"), self=table_, other=table_)
    assert codes(graph(product, product), XLA_TRACE) == [("NRN303", "error")]


def test_an_int64_input_is_told_once() -> None:
    ids = tensor(4, dtype="int64", origin="input")
    looked_up = call("aten.embedding.default", tensor(4, 8), weight=tensor(9, 8), indices=ids)
    assert codes(graph(looked_up, looked_up), XLA_TRACE, Severity.INFO) == [("NRN302", "info")]


def test_integer_products_are_each_reported() -> None:
    product = call(
        "aten.mm.default",
        tensor(2, 2, dtype="int64"),
        self=tensor(2, 2, dtype="int64"),
        mat2=tensor(2, 2, dtype="int64"),
    )
    assert codes(graph(product, product), NATIVE) == [("NRN305", "error"), ("NRN305", "error")]


def test_a_branch_and_its_read_are_one_finding() -> None:
    made = graph(RELU, events=[event("host-read", op="aten._local_scalar_dense.default"), event("data-branch")])
    for stack, severity in ((XLA_TRACE, "error"), (XLA_LAZY, "error"), (NATIVE, "warning"), (EAGER, "warning")):
        assert codes(made, stack) == [("NRN202", severity)]


@pytest.mark.parametrize("kind", ["host-read", "shape-branch", "data-size"])
def test_other_reads_are_warnings(kind: str) -> None:
    for stack in (XLA_TRACE, NATIVE):
        assert codes(graph(RELU, events=[event(kind)]), stack) == [("NRN202", "warning")]


def test_a_trace_keeps_the_value_that_was_read() -> None:
    from_input = call("aten.amax.default", tensor(), self=tensor(4, origin="input"))
    from_weight = call("aten.amax.default", tensor(), self=tensor(4, origin="parameter"))
    for source, severity in ((from_input, "error"), (from_weight, "info")):
        read = (call("aten._local_scalar_dense.default", self=tensor()), (0,))
        item = event("host-read", 11, op="aten._local_scalar_dense.default")
        made = graph(source, read, events=[replace(item, call=1)])
        assert [f.severity.value for f in run(made, XLA_TRACE) if f.code == "NRN202"] == [severity]
        assert [f.severity.value for f in run(made, XLA_LAZY) if f.code == "NRN202"] == ["warning"]


def test_what_is_printed_is_not_kept() -> None:
    printed = graph(RELU, events=[event("host-read", op="aten._to_copy.default")])
    assert codes(printed, XLA_TRACE) == [("NRN202", "warning")]


def test_a_size_whose_cause_is_reported_is_not_repeated() -> None:
    picked = call("aten.nonzero.default", tensor("u0", 1, dtype="int64"), self=tensor(4))
    made = graph(picked, events=[event("data-size"), event("shape-branch", 21)])
    assert codes(made, XLA_TRACE) == [("NRN201", "error"), ("NRN202", "warning")]


def test_a_read_that_only_the_graph_shows() -> None:
    read = call("aten._local_scalar_dense.default", self=tensor())
    assert codes(graph(read), NATIVE) == [("NRN202", "warning")]
    assert codes(graph(read, events=[event("data-branch", 10)]), NATIVE) == [("NRN202", "warning")]


def test_the_mask_helper_of_transformers_is_advice() -> None:
    through = Span("transformers/masking_utils.py", 300)
    helper = event("host-read", through=through, through_text="_ignore_causal_mask_sdpa, if mask.all()")
    assert codes(graph(RELU, events=[helper]), XLA_TRACE, Severity.INFO) == [("NRN202", "info")]


def test_empty_tensors_are_reported_where_they_are_made() -> None:
    made = call("aten.zeros.default", tensor(2, 0), size=(2, 0))
    passed = call("aten.relu.default", tensor(2, 0), self=tensor(2, 0))
    assert codes(graph(made, passed), NATIVE) == [("NRN203", "warning")]


def test_named_dimensions_vary() -> None:
    inputs = [
        GraphInput("ids", tensor(1, 128), "int64[1,128]", {1: "seq"}),
        GraphInput("mask", tensor(1, 128), "", {1: "seq"}),
    ]
    (found,) = run(graph(RELU, inputs=inputs), NATIVE)
    assert (found.code, found.details) == ("NRN204", "seq in ids, mask")


EVENTS = [
    ("constant", XLA_TRACE, "NRN205", "warning"),
    ("host-array", XLA_TRACE, "NRN402", "error"),
    ("host-array", XLA_LAZY, "NRN402", "error"),
    ("host-array", NATIVE, "NRN402", "warning"),
    ("higher-order", XLA_LAZY, "NRN403", "error"),
    ("non-tensor-input", XLA_TRACE, "NRN704", "error"),
]


@pytest.mark.parametrize(("kind", "stack", "code", "severity"), EVENTS)
def test_events(kind: str, stack: dict[str, str], code: str, severity: str) -> None:
    made = graph(RELU, events=[event(kind, text="text", op="flex_attention" if kind == "higher-order" else "")])
    assert codes(made, stack) == [(code, severity)]
    assert "{" not in run(made, stack)[0].message


def test_weights_larger_than_a_core() -> None:
    assert codes(graph(RELU, parameter_bytes=3 * 2**30), XLA_TRACE) == []
    (found,) = run(graph(RELU, parameter_bytes=140 * 10**9), NATIVE)
    assert (found.code, found.severity) == ("NRN601", Severity.WARNING)
    assert found.message == "the model with its weights needs 130.4 GiB; a core of trn2 has 24 GiB"
    assert found.help == "shard with tensor parallelism over at least 6 cores (2 chips)"


def test_one_chip_and_one_model_are_singular() -> None:
    """Activations decide here: two cores are enough, and trn1 has two a chip."""
    big = tensor(5, 2**30)
    (found,) = (f for f in run(graph(call("aten.relu.default", big, self=tensor(4))), XLA_LAZY) if f.code == "NRN601")
    assert found.message.startswith("the model with its weights and activations needs 20.0 GiB")
    assert found.help == "shard with tensor parallelism over at least 2 cores (1 chip)"


def test_training_keeps_gradients_and_moments() -> None:
    six = graph(RELU, parameter_bytes=6 * 2**30, mode="training")
    assert codes(six, XLA_LAZY) == [("NRN601", "warning")]


def test_far_too_many_instructions() -> None:
    big = tensor(2**17, 2**17)
    product = call("aten.mm.default", tensor(4, 4), self=big, mat2=big)
    assert ("NRN603", "warning") in codes(graph(product), NATIVE)
    assert "NRN603" not in dict(codes(graph(product), EAGER))


def test_slow_calls_are_advice() -> None:
    gelu = call("aten.gelu.default", tensor(4, dtype="bfloat16"), self=tensor(4, dtype="bfloat16"), approximate="none")
    assert codes(graph(gelu), NATIVE) == [("NRN501", "warning")]
    fast = call("aten.gelu.default", tensor(4, dtype="bfloat16"), self=tensor(4, dtype="bfloat16"), approximate="tanh")
    assert "NRN501" not in dict(codes(graph(fast), NATIVE, Severity.INFO))


def test_recurrent_layers_fail_on_native_alone() -> None:
    lstm = graph(call("aten.lstm.input", tensor(2, 3, 4), input=tensor(2, 3, 4)))
    for stack in (NATIVE, EAGER):
        assert codes(lstm, stack) == [("NRN102", "error")]


def test_layers_fold_into_one_finding() -> None:
    im2col = call("aten.im2col.default", tensor(4), self=tensor(4))
    span = Span("model.py", 41)
    nodes = [CallNode(i, im2col, (), f"layers.{i}.attn", "", span) for i in range(4)]
    (found,) = run(OpGraph("Model", nodes), XLA_TRACE)
    assert (found.count, found.module_path) == (4, "layers.{0..3}.attn")


def test_places_stay_apart() -> None:
    im2col = call("aten.im2col.default", tensor(4), self=tensor(4))
    assert len(run(graph(im2col, im2col), XLA_TRACE)) == 2


def test_the_same_graph_gives_the_same_findings() -> None:
    made = graph(*(item[1] for item in CALLS))
    assert run(made, XLA_TRACE) == run(OpGraph.from_json(made.to_json()), XLA_TRACE)


def test_every_rule_has_its_texts() -> None:
    names = [rule.texts.name for rule in rules()]
    assert len(set(names)) == len(names)
    for rule in rules():
        assert rule.texts.lane == "graph"
        assert all((rule.texts.bad, rule.texts.good, rule.texts.evidence))
        assert all(compile(code, rule.code, "exec") for code in rule.texts.bad + rule.texts.good)


def test_every_family_of_a_fact_has_its_rule() -> None:
    assert {fact.family for fact in shipped_facts().rows} - {rule.code for rule in rules()} <= {""}


def test_the_report_of_a_model() -> None:
    made = graph(
        RELU,
        call("aten.im2col.default", tensor(4), self=tensor(4)),
        call("aten._mystery.default", tensor(8)),
        parameters=7,
    )
    stack = Stack(**XLA_LAZY)  # type: ignore[arg-type]
    report = model_report(made, findings(made, stack, KNOWLEDGE)[1], stack)
    assert report.placement == {"neuron": 1, "cpu": 1, "fails": 0, "unknown": 1}
    assert [item.op for item in report.operators] == [
        "aten.im2col.default",
        "aten._mystery.default",
        "aten.relu.default",
    ]
    assert (report.partitions, report.crossings, report.nodes) == (2, 2, 3)
    assert report.flops_on_chip == 4 / 16
    assert report.not_checked[-1] == "backward and optimizer"


def test_low_confidence_never_makes_an_error() -> None:
    assert limited(Severity.ERROR, Confidence.LOW) is Severity.WARNING
    assert limited(Severity.ERROR, Confidence.MEDIUM) is Severity.ERROR


def test_one_report_does_not_say_what_happens() -> None:
    """Advice of low confidence names its source; the rule's consequence is for what is known better."""
    gelu = graph(call("aten.gelu.default", tensor(4), self=tensor(4), approximate="none"))
    (found,) = (finding for finding in run(gelu, EAGER) if finding.code == "NRN501")
    assert (found.severity, found.confidence, found.then) == (Severity.INFO, Confidence.LOW, "")
    assert found.evidence
    fallback = graph(call("aten.im2col.default", tensor(4), self=tensor(4)))
    assert run(fallback, XLA_LAZY)[0].then


@pytest.mark.parametrize(
    ("path", "line"), [("model.py", 7), ("script.py", None), (None, 7)], ids=["own file", "another file", "library"]
)
def test_a_line_belongs_to_the_path_beside_it(path: str | None, line: int | None) -> None:
    made = graph(RELU, path=path, definition=Span("model.py", 7))
    stack = Stack(**XLA_LAZY)  # type: ignore[arg-type]
    report = model_report(made, findings(made, stack, KNOWLEDGE)[1], stack)
    assert (report.path, report.line) == (path, line)


def test_texts_of_a_call() -> None:
    made = call("aten.cat.default", tensor(8), tensors=(tensor(2), tensor(2), tensor(2), tensor(2)))
    assert describe(made) == "aten.cat.default  float32[2], float32[2], float32[2], … -> float32[8]"
    assert describe(call("aten.nonzero.default", tensor("u0", 1, dtype="int64"), self=tensor(8, dtype="bool"))) == (
        "aten.nonzero.default  bool[8] -> int64[u0, 1]"
    )
    assert filled("`{op}` and {other}", {"op": "x"}) == "`x` and {other}"
