"""Scripts for PyTorch/XLA on its CPU device, where torch_xla is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch_xla", reason="scripts for PyTorch/XLA need torch_xla")

SCRIPT = """
import torch
import torch_xla

device = torch_xla.device()
torch.manual_seed(0)
model = torch.nn.Linear(4, 1).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(5):
    x = torch.ones(8 if step < 4 else 3, 4).to(device)
    optimizer.zero_grad()
    loss = model(x).pow(2).mean()
    loss.backward()
    optimizer.step()
    torch_xla.sync()
    if step == 3:
        print(loss.item())
"""


def test_steps_are_counted_by_torch_xla_itself(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "neuronlint", "emulate", "--frontend", "xla", "--format", "json", "script.py"]
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout[done.stdout.index("{") :])
    assert (report["frontend"], report["optimizer_steps"], report["peak_hbm_gib"]) == ("xla", 5, None)
    steps = report["steps"]
    assert [step["new_shapes"] for step in steps[2:5]] == [0, 0, 1]
    assert [step["host_calls"] for step in steps] == [0] * 5
    assert steps[4]["syncs"] == [{"path": "script.py", "line": 17, "count": 1}]
    assert steps[3]["syncs"] == []
    assert steps[1]["calls"] > 5
