"""Scripts before and after their migration, both run: the numbers are the same."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the scripts need torch")
if tuple(map(int, torch.__version__.split(".")[:2])) < (2, 13):
    pytest.skip("a device from Python needs torch 2.13", allow_module_level=True)

ROOT = Path(__file__).parents[2]

AMP = """
import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

use_cuda = torch.cuda.is_available()
device = torch.device("cuda" if use_cuda else "cpu")
torch.manual_seed(0)
torch.backends.cudnn.benchmark = True
if use_cuda:
    torch.cuda.manual_seed_all(0)
data = TensorDataset(torch.randn(96, 8), torch.randint(0, 3, (96,)))
loader = DataLoader(data, batch_size=16, shuffle=True, pin_memory=use_cuda, drop_last=True)
model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.ReLU(), torch.nn.Linear(32, 3)).to(device)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=use_cuda)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
scaler = torch.amp.GradScaler("cuda", enabled=use_cuda)
for epoch in range(2):
    for step, (x, y) in enumerate(loader):
        x, y = x.to(device, non_blocking=True), y.to(device, non_blocking=True)
        loss = F.cross_entropy(model(x), y) / 2
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            scheduler.step()
    print(f"{loss.item():.5f}")
torch.save({"model": model.state_dict(), "scaler": scaler.state_dict()}, "model.pt")
model.load_state_dict(torch.load("model.pt", map_location=device)["model"])
print(f"{sum(p.abs().sum().item() for p in model.parameters()):.4f}")
"""
EVALUATION = """
import torch


def get_device():
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("cpu")


torch.manual_seed(0)
model = torch.nn.Conv1d(5, 8, 3).to(get_device()).eval()
generator = torch.Generator(device=get_device()).manual_seed(3)
total = 0.0
with torch.no_grad():
    for _ in range(3):
        x = torch.randn(2, 5, 4, generator=generator).to(get_device())
        total += model(x).mean().item()
print(f"{total:.6f}", next(model.parameters()).device.type == "cuda")
"""


def run(folder: Path, *command: str) -> str:
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, *command], cwd=folder, capture_output=True, text=True, env=env, check=False)
    assert done.returncode in (0, 1), done.stderr
    return done.stdout


@pytest.mark.parametrize("script", [AMP, EVALUATION], ids=["amp", "evaluation"])
def test_the_numbers_stay(tmp_path: Path, script: str) -> None:
    path = tmp_path / "script.py"
    path.write_text(script)
    before = run(tmp_path, "script.py")
    assert before
    plan = json.loads(run(tmp_path, "-m", "neuronlint", "migrate", "script.py", "--write", "--format", "json"))
    assert plan["files"][0]["changed"]
    assert "cuda" not in path.read_text().replace("use_cuda", "")
    told = run(tmp_path, "-m", "neuronlint", "emulate", "script.py")
    after = told[: told.index("\nemulated neuron device")]
    assert after.strip() == before.strip().replace("False", "True")
    assert run(tmp_path, "script.py").split() == before.split()  # without the chip it runs on the CPU as ever
