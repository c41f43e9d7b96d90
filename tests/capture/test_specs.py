"""Input specs parse to what they say, and say what is wrong where they do not."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.capture.specs import ScalarSpec, TensorSpec, parse_input, parse_inputs
from neuronlint.errors import InputSpecError


@pytest.mark.parametrize(
    ("text", "name", "spec"),
    [
        ("float32[1,3,224,224]", None, TensorSpec("float32", (1, 3, 224, 224), {})),
        ("input_ids=int64[1,128]", "input_ids", TensorSpec("int64", (1, 128), {})),
        ("int64[1,128]{0..30521}", None, TensorSpec("int64", (1, 128), {}, 0, 30521)),
        ("x=float32[2]{-1.5..2e3}", "x", TensorSpec("float32", (2,), {}, -1.5, 2000.0)),
        ("bf16[]", None, TensorSpec("bfloat16", (), {})),
        ("ids=int64[batch=4,seq=128]", "ids", TensorSpec("int64", (4, 128), {0: "batch", 1: "seq"})),
        ("float:0.5", None, ScalarSpec(0.5)),
        ("flag=bool:false", "flag", ScalarSpec(False)),
        ("none", None, ScalarSpec(None)),
        ("str:a=b", None, ScalarSpec("a=b")),
    ],
)
def test_a_spec_parses_to_what_it_says(text: str, name: str | None, spec: object) -> None:
    assert parse_input(text) == (name, spec)


def test_nested_json_has_specs_at_its_leaves() -> None:
    name, spec = parse_input('batch={"image": "float32[1,3,8,8]", "sizes": ["int64[2]", 3, null]}')
    assert name == "batch"
    assert spec == {
        "image": TensorSpec("float32", (1, 3, 8, 8), {}),
        "sizes": [TensorSpec("int64", (2,), {}), ScalarSpec(3), ScalarSpec(None)],
    }


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("float31[1]", "`float31` is no torch dtype"),
        ("float32[1,x]", "`x` is no dimension"),
        ("float32(1,2)", "`float32(1,2)` is no input spec"),
        ("int:one", "`one` is no int"),
        ('{"a": }', "not JSON"),
        ("float32[-1]", "`-1` is no dimension"),
        ("", "is no input spec"),
    ],
)
def test_a_bad_spec_names_the_part(text: str, part: str) -> None:
    with pytest.raises(InputSpecError, match=r"--input") as caught:
        parse_input(text)
    assert part in str(caught.value)


def test_an_argument_given_twice_is_an_error() -> None:
    with pytest.raises(InputSpecError, match="`x` is given twice"):
        parse_inputs(["x=float32[1]", "x=float32[2]"])


@given(st.lists(st.integers(0, 10_000), max_size=6), st.sampled_from(["float32", "int64", "bool", "float8_e5m2"]))
def test_a_written_tensor_reads_back(shape: list[int], dtype: str) -> None:
    assert parse_input(f"{dtype}[{','.join(map(str, shape))}]") == (None, TensorSpec(dtype, tuple(shape), {}))


@given(st.text(max_size=40))
def test_any_text_parses_or_raises_an_input_spec_error(text: str) -> None:
    try:
        parse_input(text)
    except InputSpecError as error:
        message = str(error)
    else:
        return
    assert message.startswith("--input")
