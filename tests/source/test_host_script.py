"""Scripts that never leave the host, for which no loop waits for a device."""

from __future__ import annotations

import textwrap

import pytest

from neuronlint.source.file import SourceFile
from neuronlint.source.host_script import stays_on_host
from tests.source.one_rule import found

SCRIPT = """
import torch
from torch import nn
from torch.utils.data import DataLoader

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
data = [(torch.zeros(4), 0)] * 100
for x, y in DataLoader(data, batch_size=8, shuffle=True):
    loss = nn.functional.cross_entropy(model(PLACE), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(loss.item())
"""
CODES = ("NRN801", "NRN803", "NRN809")


@pytest.mark.parametrize("code", CODES)
def test_script_without_a_device(code: str) -> None:
    assert found(code, SCRIPT.replace("PLACE", "x"), "lazy") == []


@pytest.mark.parametrize("code", CODES)
def test_script_that_moves_its_batches(code: str) -> None:
    text = SCRIPT.replace("PLACE", "x.cuda()").replace("model = nn.Linear(4, 2)", "model = nn.Linear(4, 2).cuda()")
    assert len(found(code, text, "lazy")) == 1


@pytest.mark.parametrize(
    ("path", "text", "stays"),
    [
        ("train.py", "def step(model, loss):\n    loss.backward()\n", False),
        ("train.py", 'if __name__ == "__main__":\n    main()\n', True),
        ("train.py", 'device = "cpu"\nif __name__ == "__main__":\n    main()\n', False),
        ("train.py", 'from accelerate import Accelerator\nif __name__ == "__main__":\n    main()\n', False),
        ("train.py", 'from transformers import Trainer\nTrainer()\nif __name__ == "__main__":\n    main()\n', False),
        ("train.py", 'def f(input, x):\n    pass\nif __name__ == "__main__":\n    main()\n', True),
        ("test_optim.py", "import pytest\nx = torch.zeros(2).cuda()\n", True),
        ("test_net.py", "import torch\nx = torch.zeros(2).cuda()\n", False),
    ],
)
def test_stays_on_host(path: str, text: str, stays: bool) -> None:
    assert stays_on_host(SourceFile.parse(path, textwrap.dedent(text))) is stays
