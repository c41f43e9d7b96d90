"""The emulated device: scripts train on it as on the CPU, and what they do is counted."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="emulation needs torch")
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13):
    pytest.skip("a device from Python needs torch 2.13", allow_module_level=True)

Emulate = Callable[..., tuple[int, str, dict[str, Any]]]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def emulate(tmp_path: Path) -> Emulate:
    """Runs a script on the device: exit code, what it printed, the report."""

    def run(source: str, *options: str, arguments: tuple[str, ...] = ()) -> tuple[int, str, dict[str, Any]]:
        (tmp_path / "script.py").write_text("import torch\nfrom torch import nn\n" + dedent(source))
        command = [sys.executable, "-m", "neuronlint", "emulate", "--format", "json", *options, "script.py", *arguments]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
        place = done.stdout.find('{\n  "schema_version"')
        assert place >= 0, done.stderr
        return done.returncode, done.stdout[:place] + done.stderr, json.loads(done.stdout[place:])

    return run


TRAIN = """
torch.manual_seed(0)
model = nn.Sequential(nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 2)).to(DEVICE)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
for step in range(5):
    x, y = torch.randn(8, 1, 8, 8).to(DEVICE), torch.randint(0, 2, (8,)).to(DEVICE)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(x), y)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    print(f"{loss.item():.6f}")
"""


def test_it_trains_as_the_cpu_does(emulate: Emulate, tmp_path: Path) -> None:
    code, told, report = emulate("DEVICE = 'neuron'" + TRAIN)
    (tmp_path / "cpu.py").write_text("import torch\nfrom torch import nn\nDEVICE = 'cpu'" + TRAIN)
    cpu = subprocess.run([sys.executable, "cpu.py"], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert (code, told) == (0, cpu)
    assert [report[key] for key in ("schema_version", "frontend", "exit_code", "optimizer_steps")] == [
        1,
        "native",
        0,
        5,
    ]
    steps = report["steps"]
    assert [step["new_shapes"] for step in steps[2:5]] == [0, 0, 0]
    assert steps[0]["new_shapes"] > 20
    assert all(step["bytes_to_device"] == 8 * 64 * 4 + 8 * 8 for step in steps[1:5])
    assert steps[2]["syncs"] == [{"path": "script.py", "line": 14, "count": 1}]
    assert steps[2]["bytes_to_host"] == 4
    assert 0 < report["peak_hbm_gib"] < 0.001


def test_a_new_shape_after_the_warm_up_is_found(emulate: Emulate) -> None:
    source = """
    layer = nn.Linear(4, 4).to("neuron")
    optimizer = torch.optim.SGD(layer.parameters(), lr=0.1)
    for step, size in enumerate((8, 8, 8, 3, 8)):
        (torch.ones(2, device="neuron") * step).div_(step + 1)
        optimizer.zero_grad()
        layer(torch.randn(size, 4).to("neuron")).sum().backward()
        optimizer.step()
    """
    code, _, report = emulate(source, "--fail-on", "new-shape")
    shapes = [step["new_shapes"] for step in report["steps"]]
    assert code == 1
    assert shapes[2] == shapes[4] == 0
    assert shapes[3] > 0
    assert emulate(source.replace("3, ", ""), "--fail-on", "new-shape", "--fail-on", "sync")[0] == 0


def test_what_the_script_is_given_and_gives(emulate: Emulate) -> None:
    source = """
    import sys
    print(sys.argv[1:], __name__, flush=True)
    sys.exit(int(sys.argv[2]))
    """
    code, told, report = emulate(source, arguments=("--epochs", "3"))
    assert (code, told, report["exit_code"]) == (3, "['--epochs', '3'] __main__\n", 3)


def test_an_error_of_the_script_is_told_as_python_tells_it(emulate: Emulate) -> None:
    code, told, _ = emulate('torch.zeros(3).to("neuron") + torch.zeros(3)')
    assert code == 1
    assert told.startswith("Traceback (most recent call last):\n  File ")
    assert "Expected all tensors to be on the same device, but found at least two devices, neuron:0 and cpu!" in told
    assert "emulation/worker.py" not in told


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("torch.ones(2, device='neuron').numpy()", "can't convert neuron:0 device type tensor to numpy"),
        ("torch.compile(nn.Linear(2, 2), backend='neuron', dynamic=True)", "does not support dynamic=True"),
        ("nn.LSTM(2, 2).neuron()(torch.ones(1, 1, 2, device='neuron'))", "NotImplementedError"),
    ],
)
def test_what_the_device_refuses(emulate: Emulate, line: str, words: str) -> None:
    code, told, _ = emulate(line)
    assert code == 1
    assert words in told


def test_the_names_of_the_device(emulate: Emulate) -> None:
    source = """
    x = torch.ones(2, 3, device="neuron")
    print(x.device, x.is_cpu, torch.tensor([1.0], device="neuron").device, torch.zeros_like(x).device)
    print(torch.accelerator.is_available(), torch.accelerator.current_accelerator(), torch.neuron.is_available())
    print(torch.accelerator.device_count(), x.sum().item(), x.cpu().device, x.to("cpu").numpy().shape, x.tolist())
    print(f"{x.sum():.2f} {x.sum().item():.1f}", len(x), float(x.sum()), bool(x.sum() > 1), [row.shape for row in x][0])
    torch.accelerator.synchronize()
    torch.neuron.empty_cache()
    print(torch.neuron.memory_allocated() >= 24, x.neuron() is x, nn.Linear(2, 2).neuron().weight.device)
    model = torch.compile(nn.Linear(3, 2).to("neuron"), backend="neuron", fullgraph=True, dynamic=False)
    print(type(model).__name__)
    import torch_neuronx
    torch_neuronx.clear_op_tracking()
    x.exp()
    print(torch_neuronx.get_executed_ops(), torch_neuronx.get_fallback_ops())
    """
    code, told, _ = emulate(source)
    assert code == 0, told
    assert told.splitlines() == [
        "neuron:0 False neuron:0 neuron:0",
        "True neuron True",
        "1 6.0 cpu (2, 3) [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]",
        "6.00 6.0 2 6.0 True torch.Size([3])",
        "True True neuron:0",
        "Linear",
        "['aten::exp'] []",
    ]


def test_autocast_computes_in_bfloat16(emulate: Emulate) -> None:
    source = """
    layer, x = nn.Linear(4, 4).to("neuron"), torch.ones(2, 4, device="neuron")
    with torch.autocast("neuron"):
        y = layer(x)
        print(y.dtype, (x @ x.t()).dtype, torch.softmax(y, -1).dtype, (y + 1).dtype, layer.weight.dtype)
    with torch.autocast("neuron", dtype=torch.float16):
        print(layer(x).dtype)
    with torch.autocast("neuron", enabled=False):
        print(layer(x).dtype)
    """
    told = emulate(source)[1].splitlines()
    assert told == [
        "torch.bfloat16 torch.bfloat16 torch.float32 torch.bfloat16 torch.float32", "torch.float16", "torch.float32",
    ]  # fmt: skip


def test_a_shape_that_changes_in_place(emulate: Emulate) -> None:
    source = """
    x, y, z = torch.ones(3, device="neuron"), torch.ones(2, 3, device="neuron"), torch.empty(0, device="neuron")
    x.unsqueeze_(0)
    y.t_()
    torch.cat([x, x], out=z)
    print(tuple(x.shape), tuple(y.shape), y.stride(), tuple(z.shape), tuple((x @ y).shape))
    """
    assert emulate(source)[1] == "(1, 3) (3, 2) (1, 3) (2, 3) (1, 2)\n"


def test_inference_mode(emulate: Emulate) -> None:
    source = """
    layer, x = nn.Linear(2, 2).to("neuron"), torch.ones(1, 2, device="neuron")
    with torch.inference_mode():
        print(layer(x).view(-1).requires_grad)

    @torch.inference_mode()
    def run():
        return layer(x).requires_grad

    print(run())
    with torch.inference_mode(False):
        print(layer(x).requires_grad)
    """
    assert emulate(source)[1].split() == ["False", "False", "True"]


def test_saving_and_loading(emulate: Emulate) -> None:
    source = """
    layer = nn.Linear(2, 2).to("neuron")
    torch.save(layer.state_dict(), "a.pt")
    print(torch.load("a.pt")["weight"].device, torch.load("a.pt", map_location="neuron")["weight"].device)
    other = nn.Linear(2, 2).to("neuron")
    other.load_state_dict(torch.load("a.pt", map_location=torch.device("neuron")))
    print(torch.equal(other.weight, layer.weight))
    import copy
    print(copy.deepcopy(layer).weight.device, isinstance(copy.deepcopy(layer).weight, nn.Parameter))
    """
    assert emulate(source)[1].splitlines() == ["cpu neuron:0", "True", "neuron:0 True"]


def test_an_optimizer_that_was_made_before_the_move_still_trains(emulate: Emulate) -> None:
    source = """
    layer = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(layer.parameters(), lr=1.0)
    layer.to("neuron")
    before = layer.weight.detach().clone()
    layer(torch.ones(1, 2, device="neuron")).sum().backward()
    optimizer.step()
    print([round(value, 4) for value in (before - layer.weight)[0].tolist()])
    """
    assert emulate(source)[1] == "[1.0, 1.0]\n"


def test_a_process_group(emulate: Emulate) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    source = f"""
    import os
    import torch.distributed as dist
    os.environ.update(RANK="0", WORLD_SIZE="1", MASTER_ADDR="127.0.0.1", MASTER_PORT="{port}")
    dist.init_process_group("neuron")
    model = nn.parallel.DistributedDataParallel(nn.Linear(2, 1).to("neuron"))
    model(torch.ones(1, 2, device="neuron")).sum().backward()
    x = torch.ones(2, device="neuron")
    dist.all_reduce(x)
    print(model.module.weight.grad.tolist(), x.tolist())
    dist.destroy_process_group()
    """
    code, told, _ = emulate(source)
    assert code == 0, told
    assert "[[1.0, 1.0]] [1.0, 1.0]" in told


SPREAD = """
import torch
import torch.distributed as dist

dist.init_process_group("neuron")
torch.manual_seed(0)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(4, 2).to("neuron"))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    x = torch.ones(8, 4, device="neuron") * (dist.get_rank() + 1)
    model(x).pow(2).mean().backward()
    optimizer.step()
print(f"weights {model.module.weight.sum().item():.5f}", flush=True)
dist.destroy_process_group()
"""


def test_several_processes_train_as_on_the_cpu(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SPREAD)
    cpu = SPREAD.replace('init_process_group("neuron")', 'init_process_group("gloo")').replace('"neuron"', '"cpu"')
    (tmp_path / "cpu.py").write_text(cpu)
    told = []
    for command in (["-m", "neuronlint", "emulate", "script.py"], ["cpu.py"]):
        start = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
        env = {**os.environ, "PYTHONPATH": str(ROOT)}
        done = subprocess.run([*start, *command], cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
        assert done.returncode == 0, done.stderr
        told.append(re.findall(r"weights -?\d+\.\d{5}", done.stdout))  # both may write on one line
    assert len(told[0]) == 2
    assert told[0] == told[1]


def test_it_stops_after_so_many_steps(emulate: Emulate) -> None:
    code, told, report = emulate("DEVICE = 'neuron'" + TRAIN, "--max-steps", "2")
    assert (code, report["optimizer_steps"], len(told.splitlines())) == (0, 2, 1)


def test_no_script() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "neuronlint", "emulate", "none.py"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "neuronlint: error: none.py: no such script; give the path of a Python file\n"


def test_a_script_that_does_not_end(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("while True:\n    pass\n")
    command = [sys.executable, "-m", "neuronlint", "emulate", "--timeout", "5", "slow.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 2
    assert "slow.py: no answer in time: stopped after 5 s" in done.stderr
