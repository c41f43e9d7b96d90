"""Every rung of the ladder, by itself, gives the calls of a plain model; a rung that cannot returns why."""

from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="graph checks need torch")

from neuronlint.capture.inputs import Inputs  # noqa: E402 - only where torch is
from neuronlint.capture.strategies import LADDER, Dynamo, Settings, Strategy  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")  # as the capture process does


class Net(torch.nn.Module):  # type: ignore[name-defined]
    def __init__(self) -> None:
        super().__init__()
        self.layer = torch.nn.Linear(4, 8)

    def forward(self, x: Any) -> Any:
        return self.layer(x).relu()


class Broken(torch.nn.Module):  # type: ignore[name-defined]
    def forward(self, x: Any) -> Any:
        raise ValueError("not today")


class Branching(torch.nn.Module):  # type: ignore[name-defined]
    def forward(self, x: Any) -> Any:
        y = x.sin()
        return y.cos() if y.sum().item() > 0 else y.exp()


@pytest.mark.parametrize("strategy", LADDER, ids=lambda strategy: str(strategy.name))
def test_a_rung_gives_the_calls_of_a_plain_model(strategy: Strategy) -> None:
    attempt = strategy.capture(lambda fake: (Net().eval(), Inputs((torch.zeros(2, 4),))), Settings())
    assert attempt.error is None
    assert attempt.graph is not None
    calls = [node.call.op for node in attempt.graph.nodes]
    assert [op for op in calls if op not in ("aten.t.default", "aten.permute.default", "aten.detach.default")] == [
        "aten.addmm.default",
        "aten.relu.default",
    ]
    relu = attempt.graph.nodes[calls.index("aten.relu.default")]
    assert relu.inputs == (calls.index("aten.addmm.default"),)
    assert (attempt.graph.strategy, attempt.graph.parameters) == (strategy.name, 40)
    if strategy.name != "symbolic-trace":  # generated code has no line of the user's
        assert relu.span is not None
        assert relu.span.path.endswith("test_strategies.py")


@pytest.mark.parametrize("strategy", LADDER, ids=lambda strategy: str(strategy.name))
def test_a_rung_that_cannot_returns_the_error(strategy: Strategy) -> None:
    attempt = strategy.capture(lambda fake: (Broken(), Inputs((torch.zeros(2),))), Settings())
    assert attempt.graph is None
    assert "not today" in str(attempt.error)


def test_dynamo_keeps_the_pieces_of_a_broken_graph() -> None:
    attempt = Dynamo().capture(lambda fake: (Branching(), Inputs((torch.ones(3),))), Settings())
    assert attempt.graph is not None
    calls = [node.call.op for node in attempt.graph.nodes]
    assert "aten.sin.default" in calls
    assert "aten.cos.default" in calls
    assert attempt.graph.notes == ["Dynamo broke the graph into 2 pieces"]
