"""Real lowerings in a child process: torch-mlir and torch_xla where they are installed, and what is missing told."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

import pytest

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.capture import verifying
from neuronlint.capture.interpreter import interpreter
from neuronlint.capture.verifying import lower_calls
from neuronlint.errors import ConfigurationError
from neuronlint.limits import Limits

LIMITS = Limits(timeout=120, memory_gib=8)
X, MASK = TensorMeta("float32", (2, 4), (4, 1)), TensorMeta("bool", (8,), (1,))


def call(op: str, **arguments: object) -> OperatorCall:
    return OperatorCall(op, arguments, (X,))


CALLS = [
    call("aten.sin.default", self=X),
    call("aten.nonzero.default", self=MASK),
    call("aten.im2col.default", self=TensorMeta("float32", (1, 2, 4, 4), (32, 16, 4, 1)), kernel_size=(2, 2),
         dilation=(1, 1), padding=(0, 0), stride=(1, 1)),
    call("aten.no_such_operator.default", self=X),
    call("aten.sin.default", self=TensorMeta("float32", ("u0",))),
]  # fmt: skip


def test_native_lowers_each_call_by_itself() -> None:
    pytest.importorskip("torch_mlir", reason="the native lowering needs torch-mlir")
    lowered = lower_calls("native", CALLS, None, LIMITS, text=[0])
    assert [outcome["status"] for outcome in lowered.outcomes] == ["lowered", "break", "lowered", "skip", "skip"]
    assert "stablehlo.sine" in lowered.outcomes[0]["text"]
    assert "text" not in lowered.outcomes[2]
    assert lowered.made_with.startswith("torch-mlir 2")


def test_xla_tells_the_host_from_the_chip() -> None:
    if importlib.util.find_spec("torch_xla") is None:
        pytest.skip("the xla lowering needs torch_xla")
    lowered = lower_calls("xla", CALLS, None, LIMITS, text=[0])
    assert [outcome["status"] for outcome in lowered.outcomes] == ["lowered", "host", "host", "skip", "skip"]
    assert lowered.outcomes[2]["host"] == ["aten::im2col"]
    assert "sine(" in lowered.outcomes[0]["text"]


@pytest.fixture
def dying(tmp_path: Path) -> str:
    """An interpreter whose worker dies on every second call that it is given."""
    program = tmp_path / "python"
    program.write_text(
        f"""#!{sys.executable}
import json, os, sys
request = json.load(sys.stdin)
with open(sys.argv[-1], "a") as results:
    print(json.dumps({{"with": "a lowering 1.0"}}), file=results, flush=True)
    for number, call in enumerate(request["calls"]):
        if number == 1:
            os.abort()
        print(json.dumps({{"outcome": {{"status": "lowered", "op": call["op"]}}}}), file=results, flush=True)
    print(json.dumps({{"done": True}}), file=results, flush=True)
"""
    )
    program.chmod(0o755)
    return str(program)


def test_a_call_that_kills_the_process_costs_itself_only(dying: str) -> None:
    lowered = lower_calls("native", CALLS, dying, LIMITS)
    assert [outcome.get("op") for outcome in lowered.outcomes] == [
        "aten.sin.default", None, "aten.im2col.default", None, "aten.sin.default",
    ]  # fmt: skip
    assert lowered.outcomes[1] == {"status": "fails", "error": "the lowering died: SIGABRT"}


def test_a_process_that_dies_after_its_last_call_costs_none(tmp_path: Path) -> None:
    program = tmp_path / "python"
    rows = [{"with": "a lowering 1.0"}, *[{"outcome": {"status": "lowered"}}] * len(CALLS)]
    text = "".join(json.dumps(row) + chr(10) for row in rows)
    body = f"import os, sys\nwith open(sys.argv[-1], 'a') as out:\n    out.write({text!r})\nos.abort()\n"
    program.write_text(f"#!{sys.executable}\n{body}")
    program.chmod(0o755)
    assert [o["status"] for o in lower_calls("native", CALLS, str(program), LIMITS).outcomes] == ["lowered"] * len(
        CALLS
    )


def test_the_time_limit_holds_for_all_calls_together(dying: str) -> None:
    lowered = lower_calls("native", CALLS, dying, Limits(timeout=0.001))
    assert [outcome["status"] for outcome in lowered.outcomes] == ["lowered", "fails", "skip", "skip", "skip"]
    assert lowered.outcomes[-1]["why"] == "no time left: 0.001 s for a model, see --timeout"


def test_calls_are_spread_over_processes(dying: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verifying, "CALLS_PER_PROCESS", 1)
    lowered = lower_calls("native", CALLS, dying, LIMITS)
    assert [outcome["status"] for outcome in lowered.outcomes] == ["lowered"] * 5


def test_an_interpreter_without_the_lowering_is_told_with_the_way_out(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_text(
        f'#!{sys.executable}\nimport json, sys\nopen(sys.argv[-1], "a").write(json.dumps({{"missing": "torch_xla"}}))\n'
    )
    program.chmod(0o755)
    with pytest.raises(
        ConfigurationError, match=r"cannot lower for xla \(torch_xla\); pip install 'neuronlint\[verify-xla\]'"
    ):
        lower_calls("xla", CALLS[:1], str(program), LIMITS)


def test_an_interpreter_that_is_not_there() -> None:
    with pytest.raises(ConfigurationError, match="no such interpreter"):
        lower_calls("native", CALLS[:1], "/nowhere/python", LIMITS)


def test_another_interpreter_sees_neuronlint_and_none_of_our_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/of/this/one")
    with interpreter(sys.executable) as (_, env):
        folder = env["PYTHONPATH"]
        assert [path.name for path in Path(folder).iterdir()] == ["neuronlint"]
    assert not Path(folder).exists()
