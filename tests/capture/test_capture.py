"""What is captured: calls at the dispatcher's level with the user's lines, modules, dtypes and data flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from neuronlint.call import TensorMeta
from neuronlint.graph.opgraph import OpGraph

GraphOf = Callable[..., OpGraph]


def ops(graph: OpGraph) -> list[str]:
    return [node.call.op for node in graph.nodes]


def test_a_linear_layer_is_addmm_at_the_users_line(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(4, 8)

            def forward(self, x):
                return self.first(x).relu()

        def build():
            return Net(), (torch.zeros(2, 4),)
        """
    )
    assert ops(graph) == ["aten.t.default", "aten.addmm.default", "aten.relu.default"]
    addmm = graph.nodes[1]
    assert addmm.module_path == "first"
    assert addmm.module_class == "torch.nn.modules.linear.Linear"
    assert (addmm.span.path, addmm.span.line, addmm.span.column, addmm.span.end_column) == ("model.py", 9, 16, 29)  # type: ignore[union-attr]
    assert addmm.call.arguments["self"] == TensorMeta("float32", (8,), (1,), "parameter")
    assert addmm.call.arguments["beta"] == 1
    assert addmm.call.outputs == (TensorMeta("float32", (2, 8), (8, 1)),)
    assert graph.nodes[2].inputs == (1,)
    assert (graph.name, graph.strategy, graph.status, graph.parameters) == ("Net", "record", "captured", 40)


def test_weights_stay_fake_and_a_seventy_billion_parameter_layer_costs_nothing(graph_of: GraphOf) -> None:
    graph = graph_of(
        "def build():\n    return nn.Linear(262144, 262144, bias=False), (torch.zeros(1, 262144),)\n", memory_gib=4
    )
    assert graph.parameters == 262144**2
    assert graph.parameter_bytes == 4 * 262144**2


def test_attention_stays_one_call_and_no_cpu_kernel_leaks(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        def build():
            layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
            return nn.TransformerEncoder(layer, 2), (torch.zeros(1, 6, 16),)
        """
    )
    assert Counter(ops(graph))["aten.scaled_dot_product_attention.default"] == 2
    assert not [op for op in ops(graph) if "_for_cpu" in op or "encoder_layer" in op or "mkldnn" in op]


@pytest.mark.parametrize(("frontend", "whole"), [("native", True), ("xla", False)])
def test_a_recurrent_layer_is_whole_on_native_only(graph_of: GraphOf, frontend: str, whole: bool) -> None:
    graph = graph_of(
        "def build():\n    return nn.LSTM(4, 4, batch_first=True), (torch.zeros(1, 5, 4),)\n", frontend=frontend
    )
    assert ("aten.lstm.input" in ops(graph)) is whole
    assert any("sigmoid" in op for op in ops(graph)) is not whole


def test_a_branch_on_data_is_an_event_and_the_rest_is_still_captured(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def forward(self, x):
                if x.max() > 1:
                    return x
                found = torch.nonzero(x)
                if found.shape[0] == 0:
                    return x
                return found.float().cos()

        def build():
            return Net(), (torch.zeros(3, 3),)
        """
    )
    assert [(e.kind, e.span.line) for e in graph.events] == [("host-read", 5), ("data-branch", 5), ("shape-branch", 8)]  # type: ignore[union-attr]
    assert ops(graph)[-1] == "aten.cos.default"
    assert graph.nodes[-1].call.outputs[0].shape == ("u0", 2) or not graph.nodes[-1].call.outputs[0].is_static


def test_a_loop_until_data_says_stop_ends(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def forward(self, x):
                while x.sum() < 10:
                    x = x + 1
                return x

        def build():
            return Net(), (torch.zeros(3),)
        """
    )
    assert graph.status == "captured"
    assert {e.kind for e in graph.events} == {"host-read", "data-branch"}


def test_numpy_in_forward_is_an_event(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def forward(self, x):
                return torch.from_numpy(x.detach().numpy() * 2) + x

        def build():
            return Net(), (torch.zeros(3),)
        """
    )
    assert [(e.kind, e.span.line) for e in graph.events] == [("host-array", 5)]  # type: ignore[union-attr]
    assert ops(graph)[-1] == "aten.add.Tensor"


def test_code_for_cuda_is_captured_on_the_cpu(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def forward(self, x):
                with torch.autocast("cuda", dtype=torch.float16):
                    return torch.mm(x.cuda(), torch.ones(3, 3, device="cuda"))

        def build():
            return Net().to("cuda"), (torch.zeros(3, 3),)
        """
    )
    assert graph.nodes[-1].call.op == "aten.mm.default"
    assert graph.nodes[-1].call.outputs[0].dtype == "bfloat16"


def test_an_operator_without_a_fake_implementation_is_still_captured(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        @torch.library.custom_op("mine::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x.repeat(2)

        class Net(nn.Module):
            def forward(self, x):
                return twice(x).sin()

        def build():
            return Net(), (torch.zeros(3),)
        """
    )
    assert ops(graph)[-2:] == ["mine.twice.default", "aten.sin.default"]
    assert graph.nodes[-1].call.outputs[0].shape == (6,)


def test_training_records_backward_at_the_forward_line_and_the_optimizer(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self, x):
                return self.layer(x).sigmoid()

        def build():
            return Net(), (torch.zeros(2, 4),)
        """,
        mode="training",
    )
    phases = Counter(node.phase for node in graph.nodes)
    assert phases["backward"] > 0
    assert phases["optimizer"] > 0
    backward = next(node for node in graph.nodes if node.call.op == "aten.sigmoid_backward.default")
    assert backward.span is not None
    assert (backward.phase, backward.span.line) == ("backward", 9)


def test_named_dimensions_are_kept(graph_of: GraphOf) -> None:
    graph = graph_of("def build():\n    return nn.Linear(4, 2)\n", inputs=("float32[batch=3,4]",))
    assert dict(graph.inputs[0].named) == {0: "batch"}
    assert graph.inputs[0].meta is not None
    assert graph.inputs[0].meta.shape == (3, 4)


def test_a_partial_capture_keeps_what_ran_and_what_was_not_reached(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.second = nn.Linear(4, 4), nn.Linear(7, 3)

            def forward(self, x):
                x = self.first(x)
                raise ValueError("not today")
                return self.second(x)

        def build():
            return Net(), (torch.zeros(2, 4),)
        """
    )
    assert graph.status == "partial"
    assert [(e.kind, e.text, e.span.line) for e in graph.events] == [("module-failed", "ValueError: not today", 10)]  # type: ignore[union-attr]
    assert {node.module_path for node in graph.nodes} == {"first", "second"}
