"""Training loops, markers, guards and frameworks, as the rules see them."""

from __future__ import annotations

import ast

import pytest

from neuronlint.source.file import SourceFile
from tests.source.sources import parsed

LOOP = """
import torch
import torch_xla
import torch_xla.core.xla_model as xm

def train(model, optimizer, loader):
    before()
    for x, y in loader:
        optimizer.zero_grad()
        loss = model(x).sum()
        loss.backward()
        optimizer.step()
        within()
    after()
"""


def hot(file: SourceFile) -> set[str]:
    """The plain functions that are called once for each batch."""
    calls = [c for c in file.tree.of(ast.Call) if isinstance(c.func, ast.Name)]
    runs = {c.func.id: file.passes.of(c) for c in calls if isinstance(c.func, ast.Name)}
    return {name for name, run in runs.items() if run is not None and run.trains}


def test_a_loop_that_trains() -> None:
    file = parsed(LOOP)
    (step,) = file.roles.training
    assert isinstance(step.loop, ast.For)
    assert [file.tree.segment(call) for call in step.steps] == ["optimizer.step()"]
    assert hot(file) == {"model", "within"}


def test_a_step_in_a_function_of_its_own() -> None:
    file = parsed(
        """
        import torch
        def step(model, opt, x):
            loss = model(x).sum()
            loss.backward()
            opt.step()
            log(loss)
        def main():
            for epoch in range(3):
                for x in data:
                    step(m, o, x)
                    counted()
                report()
        """
    )
    (found,) = file.roles.training
    assert found.loop is None
    assert hot(file) == {"model", "log", "step", "counted"}


def test_a_step_in_a_method() -> None:
    file = parsed(
        """
        import torch
        class Trainer:
            def __init__(self, model):
                self.optimizer = torch.optim.SGD(model.parameters())
            def step(self, x):
                self.model(x).sum().backward()
                self.optimizer.step()
                seen()
            def fit(self):
                for x in self.data:
                    self.step(x)
        """
    )
    assert hot(file) == {"seen"}
    assert [file.tree.segment(call) for call in file.roles.optimizer_steps] == ["self.optimizer.step()"]


def test_a_closure_belongs_to_the_loop_around_it() -> None:
    file = parsed(
        """
        import torch
        def fit(model, optimizer, loader):
            for x in loader:
                def closure():
                    loss = model(x).sum()
                    loss.backward()
                    return loss
                optimizer.step(closure)
        """
    )
    (step,) = file.roles.training
    assert isinstance(step.loop, ast.For)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("ctx.backward(x)", id="an autograd context"),
        pytest.param("env.step(action)", id="a step of something else"),
    ],
)
def test_what_is_no_training(line: str) -> None:
    file = parsed(f"import torch\ndef f(ctx, env):\n    for x in y:\n        {line}\n")
    assert file.roles.training == []
    assert file.roles.optimizer_steps == []


@pytest.mark.parametrize(
    ("marker", "found"),
    [
        ("torch_xla.sync()", True),
        ("xm.mark_step()", True),
        ("sync()", True),
        ("xm.optimizer_step(optimizer, barrier=True)", True),
        ("xm.optimizer_step(optimizer)", False),
        ("torch_xla.device()", False),
        ("other()", False),
    ],
)
def test_markers(marker: str, found: bool) -> None:
    file = parsed(LOOP.replace("within()", marker) + "\ndef sync():\n    torch_xla.sync()\n")
    (step,) = file.roles.training
    assert step.loop is not None
    assert (file.roles.marker_in(step.loop) is not None) is found


def guard_of(test: str, head: str = "import torch") -> tuple[str, bool] | None:
    file = parsed(f"{head}\nif {test}:\n    here()\nelse:\n    there()\n")
    (call,) = file.names.calls("here")
    guards = list(file.guards.of(call))
    return (guards[0].what, guards[0].holds) if guards else None


@pytest.mark.parametrize(
    ("test", "guard"),
    [
        ("torch.cuda.is_available()", ("cuda", True)),
        ("not torch.cuda.is_available()", ("cuda", False)),
        ("torch.cuda.is_available() and fast", ("cuda", True)),
        ("torch.cuda.device_count() > 1", ("cuda", True)),
        ("device.type == 'cuda'", ("cuda", True)),
        ("device.type != 'cuda'", ("cuda", False)),
        ("x.is_cuda", ("cuda", True)),
        ("'cuda' in str(device)", ("cuda", True)),
        ("use_cuda", ("cuda", True)),
        ("args.no_cuda", None),
        ("rank == 0", ("rank", True)),
        ("dist.get_rank() == 0", ("rank", True)),
        ("is_main_process()", ("rank", True)),
        ("step % 100 == 0", ("periodic", True)),
        ("__name__ == '__main__'", ("main", True)),
        ("hasattr(torch, 'neuron') and torch.neuron.is_available()", ("neuron", True)),
        ("device.type == 'xla'", ("neuron", True)),
        ("x > 3", None),
        ("torch.cuda.is_available() or cpu", None),
    ],
)  # fmt: skip
def test_a_guard(test: str, guard: tuple[str, bool] | None) -> None:
    assert guard_of(test) == guard


def test_a_flag_that_holds_the_test() -> None:
    assert guard_of("ON", "import torch\nON = torch.cuda.is_available()") == ("cuda", True)
    assert guard_of("not ON", "import torch\nON = torch.cuda.is_available()") == ("cuda", False)


def test_a_module_that_may_be_missing() -> None:
    head = "try:\n    import torch_xla\nexcept ImportError:\n    torch_xla = None"
    assert guard_of("torch_xla is not None", head) == ("neuron", True)
    assert guard_of("torch_xla is None", head) == ("neuron", False)


def test_the_other_arm_and_an_early_return() -> None:
    file = parsed("import torch\nif torch.cuda.is_available():\n    here()\nelse:\n    there()\n")
    assert file.guards.holding(file.names.calls("here")[0], "cuda") is not None
    assert file.guards.holding(file.names.calls("there")[0], "cuda") is None
    early = parsed("import torch\ndef f():\n    if not torch.cuda.is_available():\n        return\n    here()\n")
    assert early.guards.holding(early.names.calls("here")[0], "cuda") is not None


@pytest.mark.parametrize(
    ("source", "frameworks"),
    [
        ("import lightning as L\nclass M(L.LightningModule): ...", {"lightning"}),
        ("from transformers import Trainer\nTrainer(model=m)", {"transformers-trainer"}),
        ("from accelerate import Accelerator\na = Accelerator()", {"accelerate"}),
        ("import lightning as L", set()),
        ("class Trainer: ...\nTrainer()", set()),
    ],
)
def test_frameworks(source: str, frameworks: set[str]) -> None:
    assert parsed(source).roles.frameworks == frameworks


def test_forward_and_what_it_calls() -> None:
    file = parsed(
        """
        from torch import nn
        class Net(nn.Module):
            def __init__(self):
                made()
            def forward(self, x):
                return self.inner(x)
            def inner(self, x):
                return self.deeper(x)
            def deeper(self, x):
                return reached()
            def other(self):
                return apart()
        def free():
            return loose()
        """
    )
    calls = [c for c in file.tree.of(ast.Call) if isinstance(c.func, ast.Name)]
    inside = {c.func.id for c in calls if isinstance(c.func, ast.Name) and file.roles.forward_of(c) is not None}
    assert inside == {"reached"}
