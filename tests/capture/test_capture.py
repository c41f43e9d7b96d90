"""What is captured: calls at the dispatcher's level with the user's lines, modules, dtypes and data flow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from neuronlint.call import TensorMeta
from neuronlint.capture.messages import CaptureResult
from neuronlint.errors import ConfigurationError
from neuronlint.graph.opgraph import OpGraph

GraphOf = Callable[..., OpGraph]
Capture = Callable[..., CaptureResult]


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


TRAINED = """
from torch.utils.checkpoint import checkpoint


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.5)
        self.norm = nn.BatchNorm1d(4)

    def block(self, x):
        return self.norm(self.used(x)).tanh()

    def forward(self, x):
        x = checkpoint(self.block, x, use_reentrant=False)
        with torch.autocast("cuda", dtype=torch.bfloat16):
            return self.used(self.drop(x))

def build():
    return Net(), (torch.zeros(2, 4),)
"""


def test_training_keeps_the_state_of_training_and_the_dtype_of_autocast(graph_of: GraphOf) -> None:
    graph = graph_of(TRAINED, mode="training")
    assert graph.status == "captured"
    counts = Counter((node.phase, node.call.op) for node in graph.nodes)
    assert counts["forward", "aten.bernoulli_.float"] == 1
    norms = [n.call for n in graph.nodes if "batch_norm" in n.call.op and n.phase == "forward"]
    assert [call.arguments["training"] for call in norms] == [True]
    matmuls = {node.call.outputs[0].dtype for node in graph.nodes if node.call.op == "aten.addmm.default"}
    assert matmuls == {"float32", "bfloat16"}


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpointing_recomputes_the_block_in_the_backward_pass(graph_of: GraphOf, reentrant: bool) -> None:
    source = TRAINED.replace("use_reentrant=False", f"use_reentrant={reentrant}")
    graph = graph_of(source.replace("torch.zeros(2, 4)", "torch.zeros(2, 4, requires_grad=True)"), mode="training")
    tanh = [(node.phase, node.span.line if node.span else 0) for node in graph.nodes if node.call.name == "aten.tanh"]
    assert tanh == [("forward", 15), ("backward", 15)]


def test_a_parameter_without_a_gradient_takes_no_step(graph_of: GraphOf) -> None:
    graph = graph_of(TRAINED, mode="training", optimizer="SGD(foreach=False)")
    steps = [n.call for n in graph.nodes if n.phase == "optimizer" and n.call.op.startswith("aten.")]
    assert [call.op for call in steps] == ["aten.add_.Tensor"] * 4  # weight and bias of the two modules in use
    assert sorted(str(call.arguments["self"]) for call in steps) == ["float32[4, 4]"] + ["float32[4]"] * 3


@pytest.mark.parametrize(
    ("spec", "op"),
    [
        ("AdamW(foreach=True)", "aten._foreach_addcdiv_.ScalarList"),
        ("AdamW(fused=True)", "aten._fused_adamw_.default"),
        ("Adam(amsgrad=True)", "aten.maximum.out"),
        ("SGD(momentum=0.9)", "aten.add_.Tensor"),
    ],
)
def test_an_optimizer_is_named_with_its_keywords(graph_of: GraphOf, spec: str, op: str) -> None:
    graph = graph_of(TRAINED, mode="training", optimizer=spec)
    assert op in {node.call.op for node in graph.nodes if node.phase == "optimizer"}


@pytest.mark.parametrize(
    "spec", ["AdamW(", "AdamW(bogus=1)", "Adamm", "AdamW(1)", "os.system('x')", "AdamW(lr=exit())"]
)
def test_what_is_no_optimizer_is_refused_before_a_model_is_built(capture_file: Capture, spec: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^--optimizer "):
        capture_file("def build():\n    raise SystemExit\n", mode="training", optimizer=spec)


def test_batch_norm_is_trained_on_two_samples_where_the_inputs_are_inferred(graph_of: GraphOf) -> None:
    source = """
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Conv2d(3, 6, 3)
            self.norm = nn.BatchNorm1d(6)

        def forward(self, image: torch.Tensor):
            return self.norm(self.first(image).mean((2, 3)))
    """
    graph = graph_of(source, mode="training")
    assert graph.status == "captured"
    trained, judged = graph.inputs[0].meta, graph_of(source).inputs[0].meta
    assert trained is not None
    assert judged is not None
    assert (trained.shape[:2], judged.shape[:2]) == ((2, 3), (1, 3))


@pytest.mark.parametrize(
    "test", ["not skip", "not skip or self.synced", "self.synced or not skip", "not (skip and self.training)"]
)
def test_a_layer_that_is_dropped_at_random_is_judged(graph_of: GraphOf, test: str) -> None:
    graph = graph_of(
        f"""
        class Net(nn.Module):
            synced = False

            def forward(self, x):
                skip = torch.rand([]) < 0.1
                if {test}:
                    x = x.sin()
                return x

        def build():
            return Net(), (torch.zeros(3),)
        """
    )
    assert "aten.sin.default" in ops(graph)


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


def test_a_gradient_stands_on_the_line_of_its_own_forward_call(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 8, 3)

            def forward(self, x):
                y = self.conv(x)
                y = nn.functional.scaled_dot_product_attention(y, y, y)
                y = torch.sigmoid(y)
                return nn.functional.pixel_shuffle(y, 2)

        def build():
            return Net(), (torch.zeros(1, 3, 8, 8),)
        """,
        mode="training",
    )
    lines = {node.call.op: node.span.line for node in graph.nodes if node.phase == "backward" and node.span}
    assert lines["aten.pixel_unshuffle.default"] == 12
    assert lines["aten.sigmoid_backward.default"] == 11
    assert lines["aten.convolution_backward.default"] == 9


def test_a_backward_pass_that_stops_leaves_the_forward_pass_whole(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.proj = nn.Linear(4, 4)

            def forward(self, x):
                return torch.heaviside(self.proj(x), x) + self.proj(x)

        def build():
            return Net(), (torch.zeros(2, 4),)
        """,
        mode="training",
    )
    assert (graph.strategy, graph.status) == ("record", "captured")
    assert any("not implemented" in note for note in graph.notes)
    assert next(n for n in graph.nodes if n.call.op == "aten.heaviside.default").span.line == 9  # type: ignore[union-attr]


def test_a_branch_is_entered_unless_it_leaves(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def forward(self, x, mask):
                assert torch.isfinite(x).all()
                if mask.any():
                    x = x[mask]
                if not mask.all():
                    x = x.exp()
                if torch.isnan(x).any():
                    raise ValueError("not a number")
                if torch.equal(x, x.abs()):
                    return x
                return x.tanh()

        def build():
            return Net(), (torch.zeros(4), torch.ones(4, dtype=torch.bool))
        """
    )
    assert graph.strategy == "record"
    assert {"aten.index.Tensor", "aten.exp.default", "aten.tanh.default"} <= set(ops(graph))
    branches = [event.span.line for event in graph.events if event.kind == "data-branch" and event.span]
    assert branches == [5, 6, 8, 10]
    assert [event.span.line for event in graph.events if event.op == "aten.equal.default" and event.span] == [12]


def test_a_number_written_into_a_view_is_a_copy_as_on_a_device(graph_of: GraphOf) -> None:
    graph = graph_of(
        """
        class Net(nn.Module):
            def forward(self, x):
                y = x * 2
                y[:, 0] = 0.0
                y[:, 1] = y.mean()
                return y

        def build():
            return Net(), (torch.zeros(2, 4),)
        """
    )
    assert Counter(ops(graph))["aten.copy_.default"] == 2
    assert "aten.fill_.Tensor" not in ops(graph)


@pytest.mark.parametrize(
    "statement", ["print(x)", "text = str(x)", "text = f'{x[0, 0]:.3f}'", "y = x.cpu()", "y = x.to('cpu')"]
)
def test_a_tensor_that_is_printed_or_moved_to_the_host_is_read(graph_of: GraphOf, statement: str) -> None:
    graph = graph_of(
        f"""
        class Net(nn.Module):
            def forward(self, x):
                {statement}
                return x.relu()

        def build():
            return Net(), (torch.zeros(2, 4),)
        """
    )
    assert [(e.kind, e.span.line) for e in graph.events if e.span] == [("host-read", 5)]
    assert graph.strategy == "record"
    assert ops(graph)[-1] == "aten.relu.default"
