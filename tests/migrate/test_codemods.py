"""Codemods by the files of `fixtures/migrate`: what becomes of each on both frontends, and that it stays so."""

from __future__ import annotations

import ast
import itertools
import re
from pathlib import Path

import pytest

from neuronlint.migrate import Journey, migrate
from neuronlint.migrate.plan import FilePlan
from neuronlint.stack import resolve

FIXTURES = Path(__file__).parents[2] / "fixtures" / "migrate"
BEFORE = sorted(FIXTURES.glob("*.before.py"))
TARGETS = {"native": "trn2", "xla": "trn1"}


def journey(to: str, *, unsafe: bool = False) -> Journey:
    return Journey(to, resolve(TARGETS[to], to, mode="training").stack, unsafe=unsafe)


def migrated(text: str, to: str = "native", path: str = "script.py", *, unsafe: bool = False) -> FilePlan:
    (plan,) = migrate({path: text.encode()}, journey(to, unsafe=unsafe))
    assert plan.problem is None
    return plan


def after(text: str, to: str = "native", *, unsafe: bool = False) -> str:
    return migrated(text, to, unsafe=unsafe).after.decode()


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("before", BEFORE, ids=lambda path: path.name.removesuffix(".before.py"))
def test_files(before: Path, to: str) -> None:
    wanted = before.with_name(before.name.replace(".before.", f".{to}."))
    plan = migrated(before.read_text(), to, before.name)
    assert plan.after.decode() == wanted.read_text()
    ast.parse(plan.after)
    assert not migrated(plan.after.decode(), to, before.name).changed
    assert plan.changed == (before.name != "untouched.before.py")


@pytest.mark.parametrize("to", TARGETS)
def test_no_name_of_cuda_is_left_where_code_runs(to: str) -> None:
    for name in ("devices", "amp", "availability", "compiling", "steps"):
        text = (FIXTURES / f"{name}.{to}.py").read_text()
        assert re.findall(r"\w+\.cuda\b|\"cuda[:\"]|'cuda[:']", text) == [], name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x = 1\n",
        "import torch\n\n\nclass Box:\n    def cuda(self):\n        return self.to('cpu')\n",
        "def cuda(x):\n    return x\n\n\ncuda(1)\n",
        "device = 'cpu'\nmodel.to(device)\n",
        "import numpy as np\nhalf = np.float16\n",
    ],
)
@pytest.mark.parametrize("to", TARGETS)
def test_what_is_none_of_it_stays_as_it_is(text: str, to: str) -> None:
    assert after(text, to) == text


def test_lines_that_draw_random_numbers_stay() -> None:
    text = "import torch\n\nx = torch.rand(3).cuda()\nunused = torch.randn(2, device='cuda')\n"
    assert after(text) == "import torch\n\nx = torch.rand(3).to(\"neuron\")\nunused = torch.randn(2, device='neuron')\n"


def test_comments_and_an_own_style_stay() -> None:
    text = """import torch  # the framework

# -- speed --
torch.backends.cudnn.benchmark = True  # why not
x = ( torch.zeros( 3 ,device = 'cuda' ) )   # odd
"""
    assert (
        after(text)
        == """import torch  # the framework

# -- speed --
x = ( torch.zeros( 3 ,device = 'neuron' ) )   # odd
"""
    )


def test_an_alias_is_followed() -> None:
    text = "import torch as th\nfrom torch import cuda\n\nif cuda.is_available():\n    th.cuda.set_device(1)\n"
    wanted = "import torch as th\n\nif th.accelerator.is_available():\n    th.accelerator.set_device_index(1)\n"
    assert after(text) == wanted


def test_a_branch_of_cuda_that_is_an_elif() -> None:
    text = "import torch\n\nif a:\n    b = 1\nelif torch.cuda.is_available():\n    b = 2\nelse:\n    b = 3\nx.cuda()\n"
    wanted = 'import torch_xla\n\nif a:\n    b = 1\nelse:\n    b = 2\nx.to("xla")\n'
    assert after(text, "xla") == wanted


def test_an_elif_that_never_holds_stays_an_arm() -> None:
    text = "import torch\n\nif a:\n    b = 1\nelif not torch.cuda.is_available():\n    b = 2\nx.cuda()\n"
    wanted = 'import torch_xla\n\nif a:\n    b = 1\nelif False:\n    b = 2\nx.to("xla")\n'
    assert after(text, "xla") == wanted


def test_an_index_that_is_a_device_stays_one() -> None:
    text = "import torch\n\ndevice = torch.device('cuda')\na.cuda(device)\na.cuda(args.device)\na.cuda(rank)\n"
    assert after(text).splitlines()[3:] == [
        "a.to(device)", "a.to(args.device)", 'a.to(torch.device("neuron", rank))',
    ]  # fmt: skip


def test_a_scaler_that_a_function_is_given_is_switched_off_not_taken_out() -> None:
    text = "import torch\n\nscaler = torch.amp.GradScaler('cuda')\nrun(scaler)\n"
    assert "torch.amp.GradScaler('neuron', enabled=False)" in after(text) or "enabled=False" in after(text)
    assert "run(scaler)" in after(text)


def test_an_attribute_holds_the_scaler() -> None:
    text = """import torch


class Trainer:
    def __init__(self):
        self.scaler = torch.cuda.amp.GradScaler()

    def step(self, loss, optimizer):
        self.scaler.scale(loss).backward()
        self.scaler.step(optimizer)
        self.scaler.update()
"""
    assert (
        after(text)
        == """class Trainer:
    def __init__(self):
        pass

    def step(self, loss, optimizer):
        loss.backward()
        optimizer.step()
"""
    )


LOOP = """import torch

device = torch.device("cuda")
for x, y in loader:
    loss = (model(x.to(device)) - y.to(device)).pow(2).mean()
    loss.backward()
    optimizer.step()
{rest}
"""


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        ("", "    optimizer.step()\n    torch_xla.sync()\n"),
        ("    scheduler.step()\n    print(loss)", "    scheduler.step()\n    torch_xla.sync()\n    print(loss)\n"),
        ("    total += loss.item()", "    torch_xla.sync()\n    total += loss.item()\n"),
        ("    total += loss.detach()", "    total += loss.detach()\n    torch_xla.sync()\n"),
        ("    optimizer.zero_grad()", "    optimizer.zero_grad()\n    torch_xla.sync()\n"),
    ],
)
def test_the_end_of_a_step(rest: str, wanted: str) -> None:
    assert wanted in after(LOOP.format(rest=rest), "xla")
    assert "sync" not in after(LOOP.format(rest=rest), "native")


def test_a_step_in_a_function_of_its_own() -> None:
    text = """import torch

model.cuda()


def train_step(x):
    loss = model(x).mean()
    loss.backward()
    optimizer.step()
    return loss


for x in loader:
    loss = train_step(x)
    print(loss.item())
"""
    assert "    loss = train_step(x)\n    torch_xla.sync()\n    print(loss.item())\n" in after(text, "xla")


def test_several_optimizers_have_one_marker() -> None:
    text = LOOP.format(rest="    other(x).mean().backward()\n    second.step()")
    assert after(text, "xla").count("torch_xla.sync()") == 1
    assert "    second.step()\n    torch_xla.sync()\n" in after(text, "xla")


def test_a_way_out_of_a_pass_is_left_to_a_person() -> None:
    text = LOOP.format(rest="    if bad(x):\n        continue\n    print(loss)")
    notes = [note for note in migrated(text, "xla").notes if note.id == "STEP001"]
    assert [(note.line, note.kind) for note in notes] == [(9, "person")]


def test_a_file_of_the_project_without_a_word_of_cuda_gets_its_markers() -> None:
    files = {
        "device.py": b"import torch\n\nDEVICE = torch.device('cuda')\n",
        "engine.py": b"""from device import DEVICE


def run(model, loader, optimizer):
    for x in loader:
        loss = model(x.to(DEVICE)).mean()
        loss.backward()
        optimizer.step()
""",
    }
    plans = {plan.path: plan for plan in migrate(files, journey("xla"))}
    assert plans["engine.py"].after.decode().endswith("        optimizer.step()\n        torch_xla.sync()\n")
    assert not {plan.path: plan for plan in migrate(files, journey("native"))}["engine.py"].changed


def test_what_needs_consent_waits_for_it() -> None:
    text = "import torch\n\nmodel = torch.nn.Linear(2, 2).cuda().half()\n"
    plan = migrated(text)
    assert [(note.id, note.kind) for note in plan.notes if note.kind == "consent"] == [("AMP003", "consent")]
    assert "half" in plan.after.decode()
    agreed = migrated(text, unsafe=True)
    assert agreed.after.decode() == ('import torch\n\nmodel = torch.nn.Linear(2, 2).to("neuron").to(torch.bfloat16)\n')
    assert [edit.kind for edit in agreed.edits if edit.id == "AMP003"] == ["unsafe"]


def test_edits_and_notes_stand_at_the_lines_of_the_file_as_it_was() -> None:
    text = "import torch\n\ntorch.backends.cudnn.benchmark = True\ntorch.cuda.empty_cache()\n\nx = a.cuda()\n"
    plan = migrated(text)
    assert [(edit.line, edit.id) for edit in plan.edits] == [(3, "CUDA010"), (4, "CUDA002"), (6, "DEV001")]
    masks = migrated(
        "import torch\n\ntorch.backends.cudnn.benchmark = True\nmodel = torch.nn.Linear(2, 2).cuda()\n"
        "for x in loader:\n    loss = model(x.cuda()).mean()\n"
        "    if loss > 0:\n        loss.backward()\n    optimizer.step()\n"
    )
    assert 7 in {note.line for note in masks.notes}


@pytest.mark.parametrize("data", [b"import torch\nx.cuda(\n", b"\xff\xfe", b"# coding: klingon\n"])
def test_a_file_that_cannot_be_read_is_left_with_a_reason(data: bytes) -> None:
    (plan,) = migrate({"a.py": data}, journey("native"))
    assert not plan.changed
    assert plan.problem is not None
    assert plan.problem.startswith("a.py")


@pytest.mark.parametrize(
    ("newline", "encoding"),
    [*itertools.product(["\n", "\r\n"], ["utf-8", "utf-8-sig", "latin-1"]), ("\r", "utf-8")],
)
def test_line_ends_and_encodings_stay(newline: str, encoding: str) -> None:
    head = "# coding: latin-1\n" if encoding == "latin-1" else ""
    loop = "for x, y in loader:\n    model(x.to('cuda')).backward()\n    optimizer.step()\n"
    text = f"{head}import torch\n\nx = a.cuda()  # é\n{loop}"
    data = text.replace("\n", newline).encode(encoding)
    (plan,) = migrate({"a.py": data}, journey("xla"))
    told = plan.after.decode(encoding)
    assert told.replace(newline, "\n") == after(text, "xla")
    assert "torch_xla.sync()" in told
    if newline != "\n":
        assert "\n" not in told.replace(newline, "")


def test_mixed_line_ends_stay_where_they_are() -> None:
    data = b"import torch\r\n\nx = a.cuda()\r\ny = 1\n"
    (plan,) = migrate({"a.py": data}, journey("native"))
    assert plan.after == b'import torch\r\n\nx = a.to("neuron")\r\ny = 1\n'
