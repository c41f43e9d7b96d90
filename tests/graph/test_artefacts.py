"""HLO and StableHLO text: what is read of it, how it is judged, and that no text brings a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neuronlint.errors import ConfigurationError
from neuronlint.graph.artefacts import read_artefact
from neuronlint.graph.opgraph import OpGraph
from neuronlint.graph.rules import findings
from neuronlint.knowledge import Knowledge
from neuronlint.stack import Stack

FOLDER = Path(__file__).parents[2] / "fixtures" / "artefacts"
NATIVE = Stack("trn2", "native", "2.33", "inference", "compile")
TEXTS = sorted(path for path in FOLDER.iterdir() if path.suffix != ".py")


def read(tmp_path: Path, text: str, name: str = "program.mlir") -> OpGraph:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_artefact(str(path))


PRETTY = """\
module {
  func.func @main(%arg0: tensor<2x3xf32>, %arg1: tensor<3x4xf32>) -> tensor<2x4xf32> {
    %0 = stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] :
      (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
    %cst = stablehlo.constant dense<0.5> : tensor<2x4xf32>  // a half
    %1 = stablehlo.multiply %0, %cst : tensor<2x4xf32>
    return %1 : tensor<2x4xf32>
  }
}
"""
GENERIC = """\
"builtin.module"() ({
  "func.func"() <{function_type = (tensor<2x3xf32>) -> tensor<2xf32>, sym_name = "main"}> ({
  ^bb0(%arg0: tensor<2x3xf32>):
    %0 = "stablehlo.constant"() <{value = dense<0.000000e+00> : tensor<f32>}> : () -> tensor<f32>
    %1 = "stablehlo.reduce"(%arg0, %0) <{dimensions = array<i64: 1>}> ({
    ^bb0(%arg1: tensor<f32>, %arg2: tensor<f32>):
      %2 = "stablehlo.add"(%arg1, %arg2) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%2) : (tensor<f32>) -> ()
    }) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
    "func.return"(%1) : (tensor<2xf32>) -> ()
  }) : () -> ()
}) : () -> ()
"""
HLO = """\
HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2]{0}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %add = f32[] add(f32[] %a, f32[] %b)
}

ENTRY %main (x: f32[2,3]) -> f32[2] {
  %x = f32[2,3]{1,0} parameter(0)
  %zero = f32[] constant(0)
  ROOT %reduce = f32[2]{0} reduce(f32[2,3]{1,0} %x, f32[] %zero), dimensions={1}, to_apply=%sum
}
"""


def shapes(graph: OpGraph) -> list[tuple[str, str]]:
    return [(node.call.op, str(node.call.outputs[0])) for node in graph.nodes]


def test_stablehlo_as_people_read_it(tmp_path: Path) -> None:
    graph = read(tmp_path, PRETTY)
    assert shapes(graph)[0] == ("stablehlo.dot_general", "float32[2, 4]")
    assert shapes(graph)[-1] == ("stablehlo.multiply", "float32[2, 4]")
    multiply = graph.nodes[-1]
    assert multiply.span is not None
    assert (multiply.span.line, graph.nodes[0].span and graph.nodes[0].span.line) == (6, 3)
    assert 0 in multiply.inputs
    assert [str(item.meta) for item in graph.inputs] == ["float32[2, 3]", "float32[3, 4]"]
    assert [str(meta) for meta in graph.outputs] == ["float32[2, 4]"]
    assert (graph.strategy, graph.status) == ("stablehlo", "captured")


@pytest.mark.parametrize(
    ("text", "name", "op"), [(GENERIC, "p.mlir", "stablehlo.reduce"), (HLO, "p.hlo", "hlo.reduce")]
)
def test_a_reduction_is_one_operation_and_what_it_computes_with_is_none(
    tmp_path: Path, text: str, name: str, op: str
) -> None:
    graph = read(tmp_path, text, name)
    assert [pair for pair in shapes(graph) if "constant" not in pair[0]] == [(op, "float32[2]")]
    assert [str(item.meta) for item in graph.inputs] == ["float32[2, 3]"]


def test_hlo_is_known_by_its_first_word_whatever_the_file_is_called(tmp_path: Path) -> None:
    assert read(tmp_path, HLO, "program.mlir").strategy == "hlo"


def judged(path: Path, stack: Stack = NATIVE) -> list[tuple[str, str, str | None, int]]:
    found, _ = findings(read_artefact(str(path)), stack, Knowledge.load())
    return [(f.code, str(f.severity), f.op, f.span.line if f.span else 0) for f in found]


def test_the_iota_of_gpt2_is_of_fixed_size() -> None:
    codes = {code for code, *_ in judged(FOLDER / "gpt2.mlir")}
    assert codes == {"NRN301", "NRN302"}  # float64 in the variance, int64 inputs; nothing of unknown size


def test_an_open_batch_is_refused_where_it_comes_in() -> None:
    assert judged(FOLDER / "open_batch.mlir") == [("NRN102", "error", "stablehlo.transpose", 11)]


@pytest.mark.parametrize(("target", "expected"), [("trn2", ["NRN102", "NRN102"]), ("inf2", [])])
def test_sort_is_refused_by_target(target: str, expected: list[str]) -> None:
    stack = Stack(target, "native" if target == "trn2" else "xla", "2.33", "inference", "compile")
    assert [code for code, *_ in judged(FOLDER / "sorting.hlo", stack) if code == "NRN102"] == expected


@pytest.mark.parametrize(("sdk", "refused"), [("2.31", True), ("2.32", False)])
def test_complex_numbers_are_taken_from_a_release_on(sdk: str, refused: bool) -> None:
    stack = Stack("trn2", "xla", sdk, "inference", "trace")
    found = judged(FOLDER / "complex.hlo", stack)
    assert bool(found) is refused, found


@pytest.mark.parametrize(
    ("text", "name", "words"),
    [
        ("module {\n  func.func @main(\n", "p.mlir", "p.mlir:3:1: not readable as StableHLO text"),
        (
            "HloModule m\n\nENTRY %main (x: f32[2]) -> f32[2] {\n  %x = f32[2] parameter(0\n",
            "p.hlo",
            "not readable as HLO",
        ),
        ("", "p.mlir", "p.mlir:1:1: "),
        ("hello\n", "p.hlo.txt", "p.hlo.txt:1:1: "),
    ],
)
def test_what_is_no_program_names_the_line_and_the_way_out(tmp_path: Path, text: str, name: str, words: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        read(tmp_path, text, name)
    assert words in str(caught.value)
    assert "write it again" in str(caught.value)


def test_bytecode_is_told_from_text(tmp_path: Path) -> None:
    path = tmp_path / "p.mlir"
    path.write_bytes(b"ML\xefR\x01\x02")
    with pytest.raises(ConfigurationError, match="MLIR bytecode, not text"):
        read_artefact(str(path))


@pytest.mark.parametrize("path", TEXTS, ids=[path.name for path in TEXTS])
def test_the_fixtures_are_read_whole(path: Path) -> None:
    graph = read_artefact(str(path))
    assert graph.status == "captured"
    assert graph.nodes
    assert all(index < node.index for node in graph.nodes for index in node.inputs)
    assert OpGraph.from_json(graph.to_json()).nodes == graph.nodes


SOURCES = [path.read_text(encoding="utf-8")[:6000] for path in TEXTS] + [PRETTY, GENERIC, HLO]


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_no_damage_to_a_text_brings_more_than_an_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    text = data.draw(st.sampled_from(SOURCES))
    begin = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(begin, min(len(text), begin + 400)))
    put = data.draw(
        st.one_of(st.text(max_size=8), st.sampled_from(["(" * 300, "<", "dense<", '"', "}", "tensor<", "?x"]))
    )
    folder = tmp_path_factory.mktemp("damaged")
    for name in ("p.mlir", "p.hlo"):
        try:
            graph = read(folder, text[:begin] + put + text[end:], name)
        except ConfigurationError:
            continue
        findings(graph, NATIVE, Knowledge.load())


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["add", "multiply", "subtract", "maximum"]), st.integers(0, 6)), max_size=6),
    st.lists(st.integers(0, 9), max_size=3),
    st.sampled_from([("f32", "float32"), ("bf16", "bfloat16"), ("i32", "int32")]),
)
def test_chains_are_read_as_they_were_written(
    tmp_path_factory: pytest.TempPathFactory, chain: list[tuple[str, int]], shape: list[int], dtype: tuple[str, str]
) -> None:
    written = "x".join([*map(str, shape), dtype[0]])
    lines, values = [], ["%arg0"]
    for number, (op, at) in enumerate(chain):
        lines.append(f"    %{number} = stablehlo.{op} {values[-1]}, {values[at % len(values)]} : tensor<{written}>")
        values.append(f"%{number}")
    body = "\n".join([*lines, f"    return {values[-1]} : tensor<{written}>"])
    text = f"module {{\n  func.func @main(%arg0: tensor<{written}>) -> tensor<{written}> {{\n{body}\n  }}\n}}\n"
    graph = read(tmp_path_factory.mktemp("chain"), text)
    meta = f"{dtype[1]}[{', '.join(map(str, shape))}]"
    assert shapes(graph) == [(f"stablehlo.{op}", meta) for op, _ in chain]
    sources = [[i - 1 for i in {number, at % (number + 1)} if i] for number, (_, at) in enumerate(chain)]
    assert [sorted(node.inputs) for node in graph.nodes] == [sorted(s) for s in sources]
