"""The rules on devices, compilation and optimizer order: what snippets cannot hold."""

from __future__ import annotations

import pytest

from neuronlint.finding import Severity
from tests.source.one_rule import fixed, found

HEAD = "import torch\nfrom torch import nn\n"


def codes(text: str, stack: str = "native") -> list[str]:
    """The device rules that speak of a text, one entry a finding."""
    return [code for code in ("NRN701", "NRN702", "NRN715", "NRN716", "NRN717") for _ in found(code, text, stack)]


@pytest.mark.parametrize(
    "text",
    [
        "backend = 'cuda'\n",
        "names = {'cuda': 1}\n",
        "SUPPORTED_DEVICES = ('cuda', 'xpu')\n",
        "torch.autocast('cuda', dtype=torch.bfloat16)\n",
        "class Store:\n    def cuda(self):\n        return self.data.cuda()\n",
        "ok = isinstance(x, torch.cuda.FloatTensor)\n",
        "def f(x, device):\n    return x.to(device)\n",
        "d = 'neuron' if torch.neuron.is_available() else 'cuda' if torch.cuda.is_available() else 'cpu'\n",
        "def pick():\n    if torch.cuda.is_available():\n"
        "        return 'cuda'\n    if torch.accelerator.is_available():\n"
        "        return torch.accelerator.current_accelerator().type\n    return 'cpu'\n",
        "if torch.cuda.is_available():\n    torch.cuda.empty_cache()\n",
        "def f(x):\n    if x.is_cuda:\n        torch.cuda.synchronize()\n",
        "d = 'mps' if torch.backends.mps.is_available() else 'cpu'\n",
        "n = x.to(2.0)\n",
    ],
)
def test_quiet(text: str) -> None:
    """What is no device, belongs to other rules, or already knows of the chip."""
    assert codes(HEAD + text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("y = x.cuda(0)\n", ["NRN701"]),
        ("y = x.to(f'cuda:{i}')\n", ["NRN701"]),
        ("y = x.to('cuda:' + str(i))\n", ["NRN701"]),
        ("y = torch.device('cuda:{}'.format(i))\n", ["NRN701"]),
        ("self_device = 'cuda'\nprint(self_device)\n", ["NRN701"]),
        ("arg = 'cuda:0'\nd = torch.device(arg)\n", ["NRN701"]),
        ("def f(x, device='cuda'):\n    return x.to(device)\n", ["NRN701"]),
        ("torch.set_default_device('cuda')\n", ["NRN701"]),
        ("torch.set_default_tensor_type('torch.cuda.FloatTensor')\n", ["NRN701"]),
        ("with torch.device('cuda'):\n    pass\n", ["NRN701"]),
        ("p.add_argument('--device', choices=['cuda', 'cpu'])\n", ["NRN701"]),
        ("def f(x, use_cuda=False):\n    return x.cuda() if use_cuda else x\n", ["NRN701"]),
        ("use = torch.cuda.is_available()\nd = torch.device('cuda' if use else 'cpu')\n", ["NRN702"]),
        (
            "args.cuda = not args.no and torch.cuda.is_available()\nif args.cuda:\n    m.cuda()\n    n.cuda()\n",
            ["NRN702"],
        ),
        (
            "cuda = True if torch.cuda.is_available() else False\n"
            "T = torch.cuda.FloatTensor if cuda else torch.FloatTensor\n",
            ["NRN702"],
        ),
        ("if not torch.cuda.is_available():\n    raise SystemExit('no GPU')\n", ["NRN702"]),
        ("train(use_cuda=torch.cuda.is_available())\n", ["NRN702"]),
        ("s = torch.load('model.pt', map_location=lambda s, l: s.cuda(0))\n", ["NRN716"]),
        ("s = torch.load('model.pt', map_location={'cuda:0': 'cuda:1'})\n", ["NRN716"]),
        ("y = x.to(rank)\nz = w.to(rank)\n", ["NRN717"]),
        ("def f(device):\n    assert device.type == 'cuda'\n", ["NRN715"]),
    ],
)
def test_one_finding_a_cause(text: str, wanted: list[str]) -> None:
    assert codes(HEAD + text) == wanted


def test_aliases_and_nested_scopes() -> None:
    text = (
        "import torch as th\nfrom torch import device as dev\ndef main():\n    def inner():\n"
        "        return dev('cuda')\n    return th.zeros(2, device='cuda')\n"
    )
    assert [f.span.line for f in found("NRN701", text) if f.span] == [5, 6]


def test_an_attribute_of_self() -> None:
    text = (
        HEAD + "class A:\n    def __init__(self):\n        self.use = torch.cuda.is_available()\n"
        "        self.device = 'cuda' if self.use else 'cpu'\n"
    )
    (finding,) = found("NRN702", text)
    assert finding.span is not None
    assert (finding.span.line, finding.span.column, finding.span.end_column) == (6, 23, 52)
    assert finding.severity is Severity.ERROR


def test_the_test_is_asked_of_the_accelerator() -> None:
    text = "import torch as th\ndevice = th.device('cuda' if th.cuda.is_available() else 'cpu')\n"
    assert fixed("NRN702", text) == (
        "import torch as th\n"
        "device = th.device(th.accelerator.current_accelerator().type if th.accelerator.is_available() else 'cpu')\n"
    )
    assert found("NRN702", text, "trace")[0].fix is None


def test_no_fix_where_more_rests_on_the_name() -> None:
    text = HEAD + "d = 'cuda' if torch.cuda.is_available() else 'cpu'\nt = 'cuda' in d\n"
    assert found("NRN702", text)[0].fix is None


def test_checkpoints_onto_the_cpu() -> None:
    text = HEAD + "m.load_state_dict(torch.load('m.pth', map_location='cuda'))\ns = torch.load('m.ckpt')\n"
    mapped, plain = found("NRN716", text)
    assert [finding.severity for finding in (mapped, plain)] == [Severity.ERROR, Severity.WARNING]
    assert [finding.fix.safe for finding in (mapped, plain) if finding.fix] == [True, False]
    assert fixed("NRN716", text) == HEAD + (
        "m.load_state_dict(torch.load('m.pth', map_location=\"cpu\"))\ns = torch.load('m.ckpt', map_location=\"cpu\")\n"
    )
    assert found("NRN716", HEAD + "torch.save(s, 'x.pt')\ns = torch.load('x.pt')\n") == []
    assert found("NRN716", HEAD + "rows = torch.load('rows.bin')\n") == []


def test_integers_by_stack() -> None:
    assert found("NRN717", HEAD + "x.to(0)\n")[0].severity is Severity.WARNING
    assert found("NRN717", HEAD + "x.to(0)\n", "lazy")[0].severity is Severity.ERROR


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("m = torch.compile(m, **options)\n", []),
        ("import re\np = re.compile('x')\n", []),
        ("if device.type == 'cuda':\n    m = torch.compile(m)\n", []),
        ("m = torch.compile(m, backend='neuron', options={'model_name': 'a'}, dynamic=False)\n", []),
        ("m = torch.compile(m)\n", ["warning"]),
        ("@torch.compile\ndef f(x):\n    return x\n", ["warning"]),
        ("net = nn.Linear(2, 2)\nnet.compile()\n", ["warning"]),
        ("m = torch.compile(m, backend='openxla')\n", ["error"]),
        ("m = torch.compile(m, mode='reduce-overhead')\n", ["warning"]),
        ("m = torch.compile(m, backend='neuron', options={'triton.cudagraphs': True})\n", ["warning"]),
        ("torch._dynamo.config.cache_size_limit = 64\n", ["info"]),
        ("torch._inductor.config.max_autotune = True\n", ["info"]),
    ],
)
def test_compilation(text: str, wanted: list[str]) -> None:
    assert [str(finding.severity) for finding in found("NRN712", HEAD + text)] == wanted


def test_compilation_fixes() -> None:
    text = HEAD + "m = torch.compile(m, backend='neuron', mode='max-autotune', dynamic=True)\n"
    assert fixed("NRN712", text) == HEAD + "m = torch.compile(m, backend='neuron', dynamic=True)\n"
    assert fixed("NRN211", text).endswith("dynamic=False)\n")
    assert found("NRN211", text, "trace") == []
    assert [f.severity for f in found("NRN211", HEAD + "m = torch.compile(m, backend='neuron')\n")] == [Severity.INFO]


def test_needless_settings_are_taken_out() -> None:
    text = (
        HEAD + "torch.backends.cudnn.benchmark = True\ntorch.set_float32_matmul_precision('high')\n"
        "m = m.to(memory_format=torch.channels_last)\nl = DataLoader(d, pin_memory=True, batch_size=2)\n"
    )
    for code in ("NRN721", "NRN722", "NRN720"):
        text = fixed(code, text)
    assert text == HEAD + "m = m\nl = DataLoader(d, batch_size=2)\n"
    guarded = (
        HEAD + "if torch.cuda.is_available():\n    torch.backends.cudnn.benchmark = True\n    x = x.pin_memory()\n"
    )
    assert found("NRN721", guarded) == found("NRN720", guarded) == []


def test_pinned_tensors_by_stack() -> None:
    text = HEAD + "x = torch.ones(2).pin_memory()\n"
    assert [found("NRN720", text, stack)[0].severity for stack in ("native", "lazy")] == [
        Severity.WARNING,
        Severity.ERROR,
    ]


def test_torchscript_beside_the_chips_own() -> None:
    assert found("NRN724", HEAD + "import torch_neuronx\nt = torch.jit.trace(m, x)\n", "trace") == []
    assert found("NRN724", HEAD + "t = torch.jit.trace(m, x)\n", "trace")[0].severity is Severity.ERROR
    assert found("NRN724", HEAD + "@torch.jit.script\ndef f(x):\n    return x\n")[0].severity is Severity.INFO


def test_the_accelerator_on_xla() -> None:
    text = (
        HEAD + "use = torch.accelerator.is_available()\n"
        "d = torch.accelerator.current_accelerator() if use else 'cpu'\ntorch.accelerator.synchronize()\n"
    )
    assert [f.span.line for f in found("NRN719", text, "lazy") if f.span] == [3, 5]
    assert found("NRN719", text) == []


def test_the_math_path_is_no_choice() -> None:
    text = HEAD + "from torch.nn.attention import SDPBackend, sdpa_kernel\nwith sdpa_kernel(SDPBackend.{}):\n    pass\n"
    assert found("NRN723", text.replace("{}", "MATH")) == []
    assert len(found("NRN723", text.replace("{}", "FLASH_ATTENTION"))) == 1


OPTIMIZER = HEAD + "from torch.optim import Adam\ndevice = torch.device('xla')\n"


@pytest.mark.parametrize(
    "text",
    [
        "model = nn.Linear(2, 2).to(device)\nopt = Adam(model.parameters())\nmodel.to(torch.bfloat16)\n",
        "model = nn.Linear(2, 2)\nopt = Adam(model.parameters())\nmodel.to('cpu')\n",
        "model = nn.Linear(2, 2)\nmodel.to(device)\nopt = Adam(model.parameters())\nmodel.to(device)\n",
        "model = nn.Linear(2, 2)\nopt = Adam(model.parameters())\nmodel = nn.Linear(2, 3)\nmodel.to(device)\n",
        "a, b = nn.Linear(2, 2), nn.Linear(2, 2)\nopt = Adam(a.parameters())\nb.to(device)\n",
        "if fresh:\n    opt = Adam(model.parameters())\nelse:\n    model.to(device)\n",
        "opt = Adam(model.parameters())\nmodel.to(device)\nopt.add_param_group({'params': model.parameters()})\n",
        "class T:\n    def __init__(self):\n        self.model = nn.Linear(2, 2).to(device)\n"
        "        self.opt = Adam(self.model.parameters())\n    def fit(self):\n        self.model.to(device)\n",
        "from transformers import Trainer\nopt = Adam(model.parameters())\nmodel.to(device)\nTrainer(model)\n",
    ],
)
def test_optimizers_in_order(text: str) -> None:
    assert found("NRN805", OPTIMIZER + text, "lazy") == []


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("model = nn.Linear(2, 2)\nopt = Adam(model.parameters())\nmodel = model.cuda()\n", 6),
        (
            "def build():\n    m = nn.Linear(2, 2)\n    o = Adam(m.parameters())\n"
            "    return m, o\nmodel, opt = build()\nmodel.to(device)\n",
            7,
        ),
        (
            "def build():\n    m = nn.Linear(2, 2)\n    o = Adam(m.parameters())\n"
            "    return {'m': m, 'o': o}\ns = build()\ns['m'].to(device)\n",
            7,
        ),
        (
            "def make(m):\n    return Adam(m.parameters())\n"
            "model = nn.Linear(2, 2)\nopt = make(model)\nmodel.to(device)\n",
            8,
        ),
        ("def place(m):\n    m.to(device)\nmodel = nn.Linear(2, 2)\nopt = Adam(model.parameters())\nplace(model)\n", 8),
        ("model = nn.Linear(2, 2)\nps = [p for p in model.parameters()]\nopt = Adam(ps)\nmodel.to(device)\n", 7),
        (
            "class T:\n    def __init__(self, model):\n        self.model = model\n"
            "        self.opt = Adam(model.parameters())\n    def fit(self):\n        self.model.to(device)\n",
            8,
        ),
        (
            "model = nn.Linear(2, 2)\nopt = Adam(model.parameters())\nmodel = torch.compile(model)\nmodel.to(device)\n",
            6,
        ),
    ],
)
def test_optimizers_before_the_move(text: str, line: int) -> None:
    (finding,) = found("NRN805", OPTIMIZER + text, "lazy")
    assert finding.span is not None
    assert finding.span.line == line
    assert finding.severity is Severity.ERROR
    assert found("NRN805", OPTIMIZER + text)[0].severity is Severity.WARNING


def test_the_move_goes_first() -> None:
    text = OPTIMIZER + "def main(model):\n    opt = Adam(model.parameters())\n    model.to(device)\n    return opt\n"
    assert fixed("NRN805", text, "lazy") == (
        OPTIMIZER + "def main(model):\n    model.to(device)\n    opt = Adam(model.parameters())\n    return opt\n"
    )


def test_factories_that_pin_raise_like_the_method() -> None:
    text = HEAD + "x = torch.empty(2, pin_memory=True)\n"
    assert [found("NRN720", text, stack)[0].severity for stack in ("native", "lazy")] == [
        Severity.WARNING,
        Severity.ERROR,
    ]
    assert fixed("NRN720", text) == HEAD + "x = torch.empty(2)\n"
