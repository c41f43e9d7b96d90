"""Judging one operation of HLO or StableHLO: each column of its row, by target and release."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.finding import EvidenceKind, Severity
from neuronlint.knowledge import Knowledge, Placement, Reason, Verdict
from neuronlint.knowledge.facts import Around, shipped_facts
from neuronlint.knowledge.hlo import shipped_hlo
from neuronlint.knowledge.hlo_columns import broken_columns
from neuronlint.knowledge.hlo_conditions import shipped_conditions
from neuronlint.knowledge.hlo_types import hlo_dtype, mlir_dtype
from neuronlint.stack import Stack

RULES = Path(__file__).parents[2] / "rules"
KNOWLEDGE = Knowledge.load()
F32 = TensorMeta("float32", (4, 8))
S64, S32, S8, BOOL = (TensorMeta(name, (4, 8)) for name in ("int64", "int32", "int8", "bool"))
C64 = TensorMeta("complex64", (4, 8))


def stack(target: str = "trn2", sdk: str = "2.33", frontend: str | None = None) -> Stack:
    frontend = frontend or ("native" if target in ("trn2", "trn3") and sdk == "2.33" else "xla")
    return Stack(target, frontend, sdk, "inference", "compile" if frontend == "native" else "trace")


def operation(op: str, *operands: TensorMeta, out: TensorMeta = F32, **attributes: Any) -> OperatorCall:
    return OperatorCall(op, {"operands": operands, **attributes}, (out,))


def judged(call: OperatorCall, **where: str) -> Verdict:
    return KNOWLEDGE.judge(call, stack(**where))


def told(call: OperatorCall, **where: str) -> str:
    """Placement, code and rule, or the rule and severity of the advice beside a placement."""
    verdict = judged(call, **where)
    if verdict.placement is Placement.NEURON and verdict.advice:
        advice = verdict.advice[0]
        return f"neuron {advice.family} {advice.severity} {advice.compiler_code or ''}".strip()
    parts = (verdict.placement.value, verdict.compiler_code, verdict.family, verdict.severity and str(verdict.severity))
    return " ".join(part for part in parts if part)


@pytest.mark.parametrize("op", ["hlo.add", "stablehlo.add", "mhlo.add", "hlo.reduce-window", "stablehlo.reduce_window"])
def test_an_operation_of_the_list_is_taken(op: str) -> None:
    verdict = judged(operation(op, F32, F32))
    assert (verdict.placement, verdict.reason) == (Placement.NEURON, Reason.LOWERED)
    assert verdict.evidence


@pytest.mark.parametrize("op", ["stablehlo.cbrt", "hlo.erf", "chlo.lgamma", "stablehlo.uniform_quantize"])
def test_without_evidence_it_is_unknown(op: str) -> None:
    verdict = judged(operation(op, F32))
    assert (verdict.placement, verdict.family) == (Placement.UNKNOWN, "NRN104")


@pytest.mark.parametrize(
    ("target", "sdk", "said"),
    [
        ("trn2", "2.33", "fails NCC_EVRF035 NRN305 error"),
        ("trn3", "2.32", "fails NCC_EVRF035 NRN305 error"),
        ("inf2", "2.33", "fails NCC_EVRF035 NRN305 error"),
        ("inf2", "2.32", "neuron NRN305 warning NCC_EVRF035"),
        ("trn1", "2.31", "neuron NRN305 warning NCC_EVRF035"),
    ],
)
def test_a_product_of_int64(target: str, sdk: str, said: str) -> None:
    for op in ("hlo.dot", "stablehlo.dot_general"):
        assert told(operation(op, S64, S64, out=S64), target=target, sdk=sdk) == said


@pytest.mark.parametrize(
    ("target", "sdk", "said"),
    [
        ("trn2", "2.33", "fails NCC_EVRF035 NRN305 error"),
        ("inf2", "2.33", "neuron NRN305 warning NCC_EVRF035"),
        ("trn1", "2.29", "neuron NRN305 warning NCC_EVRF035"),
    ],
)
def test_a_product_of_int32(target: str, sdk: str, said: str) -> None:
    assert told(operation("hlo.dot", S32, S32, out=S32), target=target, sdk=sdk) == said


def test_what_was_announced_is_called_so() -> None:
    call = operation("hlo.dot", S64, S64, out=S64)
    assert judged(call).message.endswith(", by the default announced for this release")
    assert "announced" not in judged(call, sdk="2.32").message
    assert any("announced" in evidence.note for evidence in judged(call).evidence)


CASES = [
    ("scatter", (S64, S64, S64), {"combiner": "add"}, {}, "fails NCC_EVRF060 NRN306 error"),
    ("scatter", (S64, S64, S64), {"combiner": "add"}, {"sdk": "2.32"}, "neuron NRN306 warning NCC_EVRF060"),
    ("scatter", (S64, S64, S64), {"combiner": "maximum"}, {"target": "inf2", "sdk": "2.31"},
     "fails NCC_EVRF016 NRN306 error"),
    ("scatter", (S8, S64, S8), {"combiner": "add"}, {}, "fails NCC_EVRF016 NRN306 error"),
    ("scatter", (BOOL, S64, BOOL), {"combiner": "multiply"}, {"target": "trn1"}, "fails NCC_EVRF016 NRN306 error"),
    ("scatter", (S64, S64, S64), {"combiner": "assign"}, {}, "neuron"),
    ("scatter", (F32, S64, F32), {"combiner": "add"}, {}, "neuron"),
    ("all-reduce", (S32,), {"combiner": "add"}, {}, "fails NCC_EVRF061 NRN306 error"),
    ("all-reduce", (S32,), {"combiner": "add"}, {"target": "inf2", "sdk": "2.32"},
     "neuron NRN306 warning NCC_EVRF061"),
    ("all-reduce", (F32,), {"combiner": "multiply"}, {}, "fails NRN102 warning"),
    ("all-reduce", (F32,), {"combiner": "add"}, {}, "neuron"),
    ("reduce-scatter", (S64,), {"combiner": "add"}, {}, "fails NCC_EVRF063 NRN306 error"),
    ("power", (S64, S64), {}, {}, "fails NCC_EVRF062 NRN607 error"),
    ("power", (S64, S64), {}, {"sdk": "2.32"}, "neuron NRN607 warning NCC_EVRF062"),
    ("power", (S64, S64), {}, {"target": "inf2", "sdk": "2.31"}, "neuron"),
    ("power", (S32, S32), {}, {}, "neuron"),
    ("shift-right-arithmetic", (S8, S8), {}, {}, "fails NCC_EVRF022 NRN607 error"),
    ("shift-right-arithmetic", (S64, S64), {}, {}, "fails NCC_EVRF022 NRN607 error"),
    ("shift-right-arithmetic", (S32, S32), {}, {}, "neuron"),
    ("convolution", (F32, F32), {"lhs_dilation": (2, 2), "rhs_dilation": (2, 2)}, {}, "fails NCC_EVRF010 NRN604 error"),
    ("convolution", (F32, F32), {"lhs_dilation": (2, 1), "window_strides": (1, 2)}, {},
     "fails NCC_EVRF011 NRN604 error"),
    ("convolution", (F32, F32), {"rhs_dilation": (2, 2), "window_strides": (2, 2)}, {}, "neuron"),
    ("convolution", (F32, F32), {"lhs_dilation": (1, 1), "rhs_dilation": (3, 3)}, {}, "neuron"),
    ("reduce-window", (F32, F32), {"window_dilation": (1, 2)}, {}, "fails NCC_EVRF018 NRN605 error"),
    ("reduce-window", (F32, F32), {"base_dilation": (2, 1)}, {}, "fails NCC_EVRF017 NRN605 error"),
    ("reduce-window", (F32, S64, F32, S64), {}, {}, "fails NCC_EVRF019 NRN605 error"),
    ("reduce-window", (F32, F32), {"window_dilation": (1, 1), "base_dilation": (1, 1)}, {}, "neuron"),
    ("reduce", (F32, S64, F32, S64), {}, {}, "neuron NRN605 info NCC_ISPP027"),
    ("reduce", (F32, F32), {"combiner": "xor"}, {}, "fails NRN102 warning"),
    ("reduce", (F32, F32), {"combiner": "maximum"}, {}, "neuron"),
    ("rng-bit-generator", (F32,), {"algorithm": "rng_philox"}, {}, "fails NCC_EVRF006 NRN102 error"),
    ("rng-bit-generator", (F32,), {"algorithm": "THREE_FRY"}, {}, "fails NCC_EVRF006 NRN102 error"),
    ("rng-bit-generator", (F32,), {"algorithm": "DEFAULT"}, {}, "neuron"),
    ("sort", (F32,), {"comparator": "LT"}, {}, "fails NCC_EVRF029 NRN102 warning"),
    ("sort", (F32,), {"comparator": "LT"}, {"target": "trn3"}, "fails NCC_EVRF029 NRN102 warning"),
    ("sort", (F32,), {"comparator": "LT", "dimension": 1}, {"target": "inf2"}, "neuron"),
    ("sort", (F32,), {"comparator": "LT"}, {"target": "inf2", "sdk": "2.22"}, "fails NRN102 error"),
    ("sort", (F32,), {"comparator": "NE"}, {"target": "trn1"}, "fails NRN102 warning"),
    ("sort", (TensorMeta("float32", (1, 16385)),), {"dimension": 1}, {"target": "inf2"},
     "fails NCC_EVRF014 NRN102 warning"),
    ("sort", (TensorMeta("float32", (1, 16384)),), {"dimension": 1}, {"target": "inf2"}, "neuron"),
    ("topk", (F32,), {"k": 3}, {"target": "inf2"}, "fails NCC_EVRF001 NRN102"),
    ("topk", (F32,), {"k": 3}, {}, "unknown NRN104"),
    ("topk", (S32,), {"k": 3}, {}, "fails NCC_EVRF013 NRN307 error"),
    ("topk", (F32,), {"k": 16385}, {}, "fails NCC_EVRF014 NRN102 error"),
    ("while", (S64,), {"trip_count": "data"}, {}, "fails NRN102 warning"),
    ("while", (S64,), {"trip_count": "static"}, {}, "neuron"),
    ("while", (S64,), {}, {}, "neuron"),
    ("gather", (F32, S64), {"highest_index": 8, "index_limit": 7}, {}, "fails NCC_EVRF056 NRN606 error"),
    ("gather", (F32, S64), {"highest_index": 7, "index_limit": 7}, {}, "neuron"),
    ("gather", (F32, S64), {"highest_index": 8, "index_limit": 7}, {"target": "inf2", "sdk": "2.28"}, "neuron"),
    ("triangular-solve", (F32, F32), {}, {}, "fails NCC_EVRF001 NRN102"),
    ("conditional", (BOOL,), {}, {}, "fails NCC_EVRF001 NRN102"),
    ("fft", (F32,), {}, {}, "fails NCC_EVRF004 NRN102"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "operands", "attributes", "where", "said"), CASES)
def test_columns(name: str, operands: Any, attributes: Any, where: Any, said: str) -> None:
    """The same in HLO's words and in StableHLO's."""
    for op in (f"hlo.{name}", f"stablehlo.{name.replace('-', '_')}"):
        assert told(operation(op, *operands, out=operands[0], **attributes), **where) == said


@pytest.mark.parametrize(
    ("dtype", "low", "high", "where", "said"),
    [
        ("int64", 0, 2**31, {}, "neuron"),
        ("int64", 0, 2**31, {"sdk": "2.32"}, "fails NRN302 error"),
        ("int64", -(2**31) - 1, 0, {"target": "inf2"}, "fails NRN302 error"),
        ("int64", -(2**31), 2**31 - 1, {"target": "inf2"}, "neuron"),
        ("uint64", 0, 2**32, {}, "fails NCC_ESFH002 NRN302 error"),
        ("uint64", 0, 2**32 - 1, {}, "neuron"),
        ("int32", 0, 2**31 - 1, {"target": "inf2"}, "neuron"),
    ],
)
def test_constants(dtype: str, low: int, high: int, where: Any, said: str) -> None:
    call = operation("stablehlo.constant", out=TensorMeta(dtype, ()), minimum=low, maximum=high)
    assert told(call, **where) == said


@pytest.mark.parametrize(
    ("op", "where", "said"),
    [
        ("multiply", {"target": "inf2", "sdk": "2.31"}, "fails NCC_EVRF004 NRN303 error"),
        ("multiply", {"target": "inf2", "sdk": "2.32"}, "neuron"),
        ("multiply", {}, "neuron"),
        ("dot", {"target": "trn1"}, "neuron"),
        ("real", {}, "neuron"),
        ("gather", {"target": "inf2", "sdk": "2.32"}, "fails NCC_EVRF004 NRN303 error"),
        ("reduce", {}, "fails NCC_EVRF004 NRN303 error"),
        ("tuple", {"target": "inf2", "sdk": "2.29"}, "neuron"),
    ],
)
def test_complex64(op: str, where: Any, said: str) -> None:
    assert told(operation(f"hlo.{op}", C64, C64, out=C64), **where) == said


@pytest.mark.parametrize(
    ("dtype", "where", "said"),
    [
        ("float8_e4m3fn", {}, "fails NCC_EVRF051 NRN304 error"),
        ("float8_e4m3fn", {"target": "inf2", "sdk": "2.29"}, "fails NCC_ESPP047 NRN304 error"),
        ("float8_e4m3fn", {"target": "trn3"}, "neuron"),
        ("float8_e4m3", {}, "neuron"),
        ("float8_e5m2", {"target": "trn1"}, "neuron"),
        ("float8_e3m4", {}, "neuron"),
        ("float8_e3m4", {"target": "trn3"}, "unknown NRN104"),
        ("float8_e5m2fnuz", {"target": "trn3"}, "fails NCC_EVRF005 NRN304 error"),
        ("float8_e4m3b11fnuz", {}, "fails NCC_EVRF005 NRN304"),
        ("float8_e8m0fnu", {"target": "trn1"}, "fails NRN304"),
        ("float8_e8m0fnu", {"target": "trn3"}, "unknown NRN104"),
        ("float4_e2m1fn_x2", {"target": "trn3"}, "fails NCC_ESPP004 NRN304 error"),
        ("complex128", {}, "fails NCC_EVRF004 NRN303 error"),
        ("uint16", {}, "unknown NRN104"),
        ("bfloat16", {}, "neuron"),
    ],
)
def test_types_by_chip(dtype: str, where: Any, said: str) -> None:
    meta = TensorMeta(dtype, (4, 8))
    assert told(operation("stablehlo.add", meta, meta, out=meta), **where) == said


def test_float64_needs_dimensions_to_count() -> None:
    wide, scalar = TensorMeta("float64", (4,)), TensorMeta("float64", ())
    assert told(operation("hlo.add", wide, wide, out=wide)) == "fails NCC_ESPP004 NRN301 warning"
    assert told(operation("hlo.add", wide, wide, out=wide), target="inf2") == "neuron NRN301 warning"
    assert told(operation("hlo.compare", scalar, scalar, out=BOOL)) == "neuron"


def test_a_chain_of_a_type_is_told_where_it_starts() -> None:
    wide = TensorMeta("float64", (4,))
    assert judged(operation("hlo.convert", F32, out=wide)).root
    assert not judged(operation("hlo.add", wide, wide, out=wide)).root


def test_a_dynamic_operation_of_fixed_size_is_a_static_one() -> None:
    """What upstream torch-mlir writes of every arange."""
    sizes = TensorMeta("int64", (1,))
    for op in ("stablehlo.dynamic_iota", "stablehlo.dynamic_broadcast_in_dim", "stablehlo.dynamic_reshape"):
        assert told(operation(op, sizes, out=F32)) == "neuron"
    open_ = TensorMeta("float32", ("u0", 8))
    call = operation("stablehlo.dynamic_iota", sizes, out=open_, makes_size=True)
    assert told(call) == "fails NCC_EMOD025 NRN201 error"
    assert told(operation("hlo.add", open_, open_, out=open_)) == "neuron"


def test_an_input_of_open_size() -> None:
    given = TensorMeta("float32", ("s0", 8), origin="input")
    verdict = judged(operation("stablehlo.add", given, given, out=TensorMeta("float32", ("s0", 8))))
    assert (verdict.placement, verdict.compiler_code, verdict.family) == (Placement.FAILS, "NCC_EMOD025", "NRN102")
    assert verdict.once


@pytest.mark.parametrize("op", ["stablehlo.get_dimension_size", "tensor.dim", "shape.shape_of", "arith.index_cast"])
def test_calculating_a_size_is_nothing_to_run(op: str) -> None:
    assert judged(operation(op, F32)).reason is Reason.METADATA


def test_constants_are_folded_whatever_their_type() -> None:
    wide = TensorMeta("float64", (1,))
    verdict = judged(operation("stablehlo.divide", wide, wide, out=wide, constant=True))
    assert (verdict.placement, verdict.reason) == (Placement.NEURON, Reason.METADATA)
    assert verdict.evidence[0].kind is EvidenceKind.DERIVED


@pytest.mark.parametrize(
    ("target", "attributes", "where", "said"),
    [
        ("AwsNeuronTopK", {"k": 3}, {}, "neuron"),
        ("AwsNeuronTopK", {"k": 16385}, {}, "fails NCC_EVRF014 NRN102 error"),
        ("AwsNeuronGelu", {}, {"target": "trn1"}, "neuron"),
        ("QuantizeMX", {}, {"target": "trn3"}, "neuron"),
        ("QuantizeMX", {}, {}, "fails NCC_EVRF036 NRN102"),
        ("ResizeBilinear", {}, {"target": "inf2", "sdk": "2.20"}, "fails NRN102"),
        ("Qr", {}, {}, "fails NCC_EVRF015 NRN102"),
        ("my_library.norm", {}, {}, "fails NCC_EVRF015 NRN102"),
        ("mhlo.erf", {}, {}, "unknown NRN104"),
        ("mhlo.topk", {}, {"target": "inf2"}, "fails NCC_EVRF001 NRN102"),
    ],
)
def test_custom_calls(target: str, attributes: Any, where: Any, said: str) -> None:
    """A custom call may carry an operation of HLO that StableHLO has no name for."""
    call = operation(f"stablehlo.custom_call@{target}", F32, target=target, **attributes)
    assert told(call, **where) == said


def test_a_top_k_call_by_its_operand() -> None:
    odd = TensorMeta("float32", (1, 30))
    call = operation("hlo.custom-call@AwsNeuronTopK", odd, target="AwsNeuronTopK", k=3)
    assert [(advice.family, advice.severity) for advice in judged(call).advice] == [("NRN102", Severity.INFO)]
    assert told(operation("hlo.custom-call@AwsNeuronTopK", S32, target="AwsNeuronTopK")) == (
        "fails NCC_EVRF013 NRN307 error"
    )


def test_sizes_of_inputs_and_outputs() -> None:
    large = TensorMeta("float32", (2**30 + 1,), origin="input")
    small = TensorMeta("float32", (2**30,), origin="input")
    assert told(operation("hlo.negate", large, out=F32)) == "fails NCC_EVRF023 NRN602 warning"
    assert told(operation("hlo.negate", small, out=F32)) == "neuron"
    call = operation("hlo.negate", F32, out=TensorMeta("float32", (2**30 + 1,)))
    assert KNOWLEDGE.judge(call, stack(), Around(is_output=True)).compiler_code == "NCC_EVRF024"
    assert KNOWLEDGE.judge(call, stack()).placement is Placement.NEURON


def test_int64_inputs_are_told_once() -> None:
    given = TensorMeta("int64", (4,), origin="input")
    advice = judged(operation("hlo.add", given, given, out=given)).advice
    assert [(item.family, item.severity, item.once) for item in advice] == [("NRN302", Severity.INFO, True)]


def test_names_of_types() -> None:
    assert [hlo_dtype(name) for name in ("pred", "f8e4m3fn", "c64", "bf16", "odd")] == [
        "bool", "float8_e4m3fn", "complex64", "bfloat16", "odd",
    ]  # fmt: skip
    assert [mlir_dtype(name) for name in ("i1", "ui8", "f8E4M3FN", "index", "i64", "bf16")] == [
        "bool", "uint8", "float8_e4m3fn", "int64", "int64", "bfloat16",
    ]  # fmt: skip


CONDITIONS = tomllib.loads((RULES / "hlo/conditions.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("row", CONDITIONS["condition"], ids=lambda row: f"{row['column']}-{row.get('opcodes')}")
def test_conditions_name_what_is_there(row: dict[str, Any]) -> None:
    facts, table = shipped_facts(), shipped_hlo()
    assert [name for name in row.get("facts", ()) if facts.named(name) is None] == []
    for opcode in row.get("opcodes", ()):
        found = table.opcodes.get(opcode) or table.custom_calls.get(opcode)
        assert found is not None, opcode
        if row["column"] not in ("refused", "dynamic", "data_dependent"):
            names = {row["column"], f"{row['column']}_v3"}
            assert names & set(found.columns), (opcode, row["column"])
    if row.get("severity") == "error":
        assert (row["placement"], row["confidence"]) == ("fails", "high")


def test_general_facts_are_there() -> None:
    assert [name for name in CONDITIONS["general"]["facts"] if shipped_facts().named(name) is None] == []


def test_every_column_is_read() -> None:
    """A column of the tables that no test looks at would be a fact that nobody is told."""
    read = (RULES.parent / "neuronlint/knowledge").glob("hlo*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in read)
    rows = [*shipped_hlo().opcodes.values(), *shipped_hlo().custom_calls.values()]
    columns = {name for row in rows for name in row.columns}
    left = {name for name in columns if not re.search(rf'"{name}"', code)}
    assert left == {"max_bytes", "rejected_dtypes_before_trn3", "training_since"}, json.dumps(sorted(left))


def test_no_column_is_broken_by_a_plain_call() -> None:
    for row in shipped_hlo().opcodes.values():
        call = operation(f"hlo.{row.name}", F32, F32)
        columns = {column for column, _ in broken_columns(row, call, stack())}
        assert columns <= {"operands", "allowed_dtypes"}, row.name


def test_conditions_are_read_once() -> None:
    assert shipped_conditions() is shipped_conditions()
