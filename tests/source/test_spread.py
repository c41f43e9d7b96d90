"""Arguments that reach a call by a dictionary, and the rules that look at them."""

from __future__ import annotations

import ast

import pytest

from neuronlint.source.spread import given
from tests.source.one_rule import fixed, said
from tests.source.sources import parsed


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("f(k=1)", "1"),
        ("f(**{'k': 2})", "2"),
        ("f(**dict(k=3))", "3"),
        ("o = {'k': 4}\nf(**o)", "4"),
        ("o = {}\no['k'] = 5\nf(**o)", "5"),
        ("o = {}\no.update(k=6)\nf(**o)", "6"),
        ("o = {}\no.update({'k': 7})\nf(**o)", "7"),
        ("o = dict(k=8) if a else dict()\nf(**o)", "8"),
        ("p = {'k': 9}\no = {**p}\nf(**o)", "9"),
        ("f(**{'j': 1})", None),
        ("def g(**o):\n    f(**o)", None),
        ("o = {'k': 1}\ndef g():\n    o = {}\n    o['k'] = 2\n\nf(**o)", "1"),
        ("o = o\nf(**o)", None),
    ],
)
def test_given(text: str, value: str | None) -> None:
    file = parsed(text)
    call = next(c for c in file.tree.of(ast.Call) if isinstance(c.func, ast.Name) and c.func.id == "f")
    found = given(file, call, "k")
    assert (None if found is None else ast.unparse(found)) == value


def test_a_fix_of_a_whole_argument_needs_the_argument() -> None:
    """`fp16=True` is renamed in a call; in a dictionary the finding stands, without a fix."""
    head = "from transformers import TrainingArguments\n"
    assert fixed("NRN741", f"{head}a = TrainingArguments('o', fp16=True)\n") == (
        f"{head}a = TrainingArguments('o', bf16=True)\n"
    )
    spread = f"{head}o = dict(fp16=True)\na = TrainingArguments('o', **o)\n"
    assert fixed("NRN741", spread) == spread
    assert said("NRN741", spread) == [(2, "warning")]


def test_fused_by_a_dictionary() -> None:
    text = "import torch\no = dict(fused=True)\noptimizer = torch.optim.AdamW(p, **o)\n"
    assert said("NRN751", text, "lazy") == [(3, "error")]
    assert said("NRN751", text.replace("dict(fused=True)", "dict(fused=False)"), "lazy") == []
    chosen = text.replace("dict(fused=True)", "dict(fused=True) if device_type == 'cuda' else dict()")
    assert said("NRN751", chosen, "lazy") == [(3, "info")]


TRAINER = """
import torch
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

class Rows(Dataset):
    def __init__(self, n):
        self.x = torch.randn(n, 4)

    def __len__(self):
        return len(self.x)

args = TrainingArguments("out", per_device_train_batch_size=16)
trainer = Trainer(model=None, args=args, train_dataset=Rows(200))
"""


def test_the_last_batch_of_a_trainer() -> None:
    assert said("NRN809", TRAINER) == [(13, "warning")]
    assert said("NRN809", TRAINER.replace("Rows(200)", "Rows(160)")) == []
    assert said("NRN809", TRAINER.replace("Rows(200)", "load(200)")) == []
    dropped = "per_device_train_batch_size=16, dataloader_drop_last=True"
    assert said("NRN809", TRAINER.replace("per_device_train_batch_size=16", dropped)) == []
    assert dropped in fixed("NRN809", TRAINER)


@pytest.mark.parametrize(
    ("use", "severity"),
    [
        ("device = rank % torch.cuda.device_count()", "error"),
        ("spawn(main, nprocs=torch.cuda.device_count())", "warning"),
        ("n = torch.cuda.device_count()\n    loop(range(n))", "warning"),
        ("n = torch.cuda.device_count()\n    print(n)\n    if n > 1:\n        pass", "info"),
        ("print(torch.cuda.device_count())", None),
        ("if torch.cuda.device_count() > 1:\n        pass", None),
        ("return torch.cuda.device_count()", None),
    ],
)
def test_a_count_of_gpus(use: str, severity: str | None) -> None:
    text = f"import torch\n\ndef run(rank):\n    {use}\n"
    assert said("NRN703", text) == ([] if severity is None else [(4, severity)])


def test_the_current_device_is_told_once() -> None:
    head = "import torch\n\ndef run(x: torch.Tensor, g):\n    "
    assert said("NRN703", f"{head}return x.to(torch.cuda.current_device())\n") == [(4, "error")]
    assert said("NRN703", f"{head}return x.cuda(torch.cuda.current_device())\n") == []
    assert said("NRN703", f"{head}return x.to(f'cuda:{{torch.cuda.current_device()}}')\n") == []
    named = f"{head}return torch.cuda.get_device_name(torch.cuda.current_device())\n"
    assert len(said("NRN703", named)) == 1


def test_the_text_of_an_error() -> None:
    text = "try:\n    run()\nexcept RuntimeError as e:\n    if 'CUDA out of memory' in str(e):\n        pass\n"
    assert said("NRN703", text, "lazy") == [(4, "warning")]
    assert said("NRN703", text.replace("CUDA out", "out"), "lazy") == []


def test_moves_by_an_index_or_a_text_come_after_an_optimizer_too() -> None:
    text = (
        "import torch\nmodel = torch.nn.Linear(2, 2)\nopt = torch.optim.SGD(model.parameters(), 0.1)\nmodel.to(WHERE)\n"
    )
    for where in ("0", "rank", 'f"cuda:{rank}"', '"cuda:1"'):
        assert said("NRN805", text.replace("WHERE", where), "lazy") == [(3, "error")], where
    for where in ("torch.bfloat16", '"cpu"', "dtype"):
        assert said("NRN805", text.replace("WHERE", where), "lazy") == [], where
