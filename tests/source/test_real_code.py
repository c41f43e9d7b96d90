# ruff: noqa: E501 - a case a line reads best
"""Places of real code that the rules on devices, libraries and numbers leave alone, or say less of."""

from __future__ import annotations

import pytest

from tests.source.one_rule import found, said

PROBE = """
    import torch
    def capability():
        if torch.cuda.is_available():
            device = torch.device("cuda")
            return torch.cuda.get_device_capability(device)
        return None
"""
HELPER = """
    class Pipe:
        def to(self, device):
            for module in self.parts():
                module.cuda(device)
"""
SINCE = """
    import torch
    def enabled(device="cpu"):
        try:
            return torch.is_autocast_enabled(device)
        except TypeError:
            assert device == "cuda"
            return torch.is_autocast_enabled()
"""
DISPATCH = """
    def bf16(device):
        if device == "cuda":
            return use_half().half()
        if device == "hpu":
            return True
        return None
"""
SCALE = """
    import torch
    net = torch.nn.Linear(2, 2)
    def test_half():
        net.half()
"""
TOLD = """
    import torch
    def hook(fn, **kwargs):
        return torch.compile(fn, **kwargs)
"""
BUILT = """
    import torch
    from torch import nn
    class Actor(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(1, 1, 3)
            with torch.inference_mode():
                self.size = self.conv(torch.zeros(1, 1, 8, 8)).shape[1]
"""
EXPORT = """
    import torch
    from torch import nn
    def export(path):
        net = nn.Linear(2, 2)
        with torch.inference_mode():
            net(torch.zeros(2, 2))
        torch.onnx.export(net, path)
"""


@pytest.mark.parametrize(
    ("code", "text", "stack"),
    [
        pytest.param("NRN702", PROBE, "native", id="a device that only torch.cuda is given"),
        pytest.param("NRN702", "import torch\ndef f(kind):\n    if kind == 'cuda':\n        assert torch.cuda.is_available()", "native", id="asserted where CUDA was asked for"),
        pytest.param("NRN701", HELPER, "native", id="how a class moves itself"),
        pytest.param("NRN701", "import torch\nsame = device.type == torch.device('cuda').type", "native", id="a device made to be compared"),
        pytest.param("NRN701", "import torch\ndef device(p):\n    if p in ('CUDAExecutionProvider',):\n        return torch.device('cuda', 0)", "native", id="what a runtime was given"),
        pytest.param("NRN706", "import os\nimport tensorflow as tf\nos.environ['CUDA_VISIBLE_DEVICES'] = '0'", "native", id="another framework"),
        pytest.param("NRN708", "import torch\nfile.write(x.to(torch.float16).cpu().numpy())", "native", id="written to a file"),
        pytest.param("NRN708", "import torch\nc = BitsAndBytesConfig(bnb_4bit_compute_dtype=torch.float16)", "native", id="the type of a CUDA library"),
        pytest.param("NRN708", "import torch\nq = torch.empty(1, device='cuda', dtype=torch.float16)", "native", id="a tensor on CUDA by name"),
        pytest.param("NRN708", SCALE, "native", id="a test of float16"),
        pytest.param("NRN711", "import torch\nnet = torch.nn.Linear(2, 2)\nif hasattr(net, 'no_sync'):\n    net.no_sync()", "lazy", id="asked for"),
        pytest.param("NRN712", "import torch\nf = torch.compile(net, backend='eager')", "lazy", id="a backend that compiles nothing"),
        pytest.param("NRN712", TOLD, "lazy", id="a helper that compiles what it is given"),
        pytest.param("NRN715", SINCE, "native", id="for older releases"),
        pytest.param("NRN715", DISPATCH, "native", id="one of several accelerators"),
        pytest.param("NRN715", "def f(x):\n    if x.device.type == 'cuda':\n        raise ValueError('half() needs a GPU')\n    return x", "native", id="an error for CUDA alone"),
        pytest.param("NRN715", "def f(a):\n    fast = a.is_cuda\n    if fast:  # the kernel does not support fp16\n        a = kernel(a)  # nor fp16 here\n    return a", "native", id="comments say nothing"),
        pytest.param("NRN716", "import torch\ndef test_saved(path):\n    model = torch.load(path + '/model.bin')", "native", id="a test"),
        pytest.param("NRN717", "def test_client():\n    client.start(device=0)", "lazy", id="a test's device"),
        pytest.param("NRN719", "import torch\nok = accelerator.type == 'tpu' and torch.accelerator.is_available()", "lazy", id="of another accelerator"),
        pytest.param("NRN719", "import torch\nif self._accelerator_serves('2.9'):\n    n = torch.accelerator.max_memory_allocated()", "lazy", id="under a test of its own"),
        pytest.param("NRN730", "import diffusers\nclass P:\n    def free(self):\n        self.enable_model_cpu_offload()", "native", id="a pipeline's own"),
        pytest.param("NRN733", "import torch\nif torch.cuda.is_bf16_supported():\n    print('use bf16, not fp16')", "native", id="a hint"),
        pytest.param("NRN701", "import torch\ndef test_cache():\n    first = torch.device('cuda:0')\n    assert key(first) in cache", "native", id="a test's name for a device"),
        pytest.param("NRN707", "import torch\ndef test_it():\n    with torch.autocast(device_type='cuda'):\n        f()", "native", id="a test of autocast"),
        pytest.param("NRN708", "import torch\np.add_argument('--precision', default='fp16', help='precision of the input data')", "native", id="the type of data"),
        pytest.param("NRN719", "import torch\nif device.type != 'mps' and torch.accelerator.is_available():\n    s = torch.Stream(device=device)", "lazy", id="a stream left out"),
        pytest.param("NRN708", "import torch\n_ = torch.empty(n // 2, dtype=torch.float16, device=device)", "native", id="room for later"),
        pytest.param("NRN716", "import torch\ncheckpoint_rng_state = torch.load(rng_file, weights_only=True)", "native", id="random states"),
        pytest.param("NRN716", "import torch\nmodel = torch.load(p, map_location={'cuda:0': 'cpu'})", "native", id="from CUDA onto the CPU"),
        pytest.param("NRN719", "import torch\ndef module():\n    if not torch.accelerator.is_available():\n        return None\n    return m", "lazy", id="a helper that answers"),
        pytest.param("NRN719", "import torch\ndef current():\n    try:\n        return torch.accelerator.current_accelerator()\n    except RuntimeError:\n        return None", "lazy", id="a helper that tries"),
        pytest.param("NRN719", "import torch\ndef serves(kind):\n    now = torch.accelerator.current_accelerator()\n    return now is not None and now.type == kind", "lazy", id="a helper that asks"),
        pytest.param("NRN753", BUILT, "lazy", id="a module being built"),
        pytest.param("NRN753", EXPORT, "lazy", id="an export"),
    ],
)  # fmt: skip
def test_quiet(code: str, text: str, stack: str) -> None:
    assert said(code, text, stack) == []


@pytest.mark.parametrize(
    ("code", "text", "stack", "wanted"),
    [
        pytest.param("NRN701", "def f(x, device='cuda'):\n    return x.to(device)", "native", [(1, "warning")], id="default"),
        pytest.param("NRN701", "def f(x, device='cuda'):\n    return x.to(device)\nf(y, 'cpu')\nf(y, device=d)", "native", [(1, "warning")], id="default overridden"),
        pytest.param("NRN701", "def f(x, device='cuda'):\n    return x.to(device)\nf(y)", "native", [(1, "error")], id="default rested on"),
        pytest.param("NRN701", "def f(x, device=None):\n    device = device or 'cuda'\n    return x.to(device)", "native", [(2, "warning")], id="for a parameter left out"),
        pytest.param("NRN703", "import torch\nif IS_CUDA_SYSTEM:\n    torch.cuda.get_device_capability()", "native", [(3, "info")], id="a system with CUDA"),
        pytest.param("NRN703", "import torch\ndef check(q):\n    _check_device_cuda(q)\n    return torch.cuda.get_device_capability(q.device)", "native", [(4, "info")], id="after a check"),
        pytest.param("NRN705", "try:\n    import apex\nexcept ImportError:\n    apex = None", "native", [(2, "warning")], id="goes on without"),
        pytest.param("NRN718", "import torch\nn = torch.cuda.device_count()\nif n > 1 and ok:\n    m = torch.nn.DataParallel(m)", "native", [(4, "info")], id="counted GPUs"),
        pytest.param("NRN718", "import torch\nif args.num_gpu > 1:\n    m = torch.nn.DataParallel(m)", "native", [(3, "error")], id="GPUs asked for"),
        pytest.param("NRN720", "def f(x, pin):\n    if pin:\n        return x.pin_memory()", "lazy", [(3, "warning")], id="an option"),
        pytest.param("NRN725", "from tensorrt import Builder, Logger", "native", [(1, "error")], id="one an import"),
        pytest.param("NRN728", "from transformers import BitsAndBytesConfig\n@require_bitsandbytes\ndef test_it():\n    c = BitsAndBytesConfig(load_in_4bit=True)", "native", [(4, "info")], id="a test left out without it"),
        pytest.param("NRN735", "import torch\nif args.no_cuda:\n    d = 'cpu'\nelse:\n    torch.cuda.set_device(0)", "native", [(5, "error")], id="an option that is off today"),
        pytest.param("NRN735", "import torch\nif is_sagemaker_mp_enabled():\n    torch.cuda.set_device(0)", "native", [(3, "info")], id="another platform"),
        pytest.param("NRN719", "import torch\ndef f():\n    a = torch.accelerator.is_available()\n    return torch.accelerator.device_count()", "lazy", [(3, "error")], id="once a function"),
    ],
)  # fmt: skip
def test_said_once_and_not_louder_than_it_is(code: str, text: str, stack: str, wanted: list[tuple[int, str]]) -> None:
    assert said(code, text, stack) == wanted


@pytest.mark.parametrize(
    ("code", "text", "message"),
    [
        ("NRN702", "import torch\ndevice = torch.device('cuda:0' if torch.cuda.is_available() and args.cuda else 'cpu')", "without CUDA `device` is the CPU"),
        ("NRN702", "import torch\nassert torch.cuda.is_available(), 'a GPU is needed for this script'", "without CUDA `assert torch.cuda.is_available()` stops the script"),
        ("NRN701", "import torch\nself.device = device if device is not None else torch.device('cuda', rank)", "`torch.device('cuda', rank)` asks for a CUDA device"),
        ("NRN710", "import torch.distributed as dist\ndist.init_process_group('nccl' if dist.is_nccl_available() else 'gloo', rank=rank)", "`'nccl' if … else 'gloo'` names no backend of the chip"),
        ("NRN716", "import torch\nmodel = torch.load(p, map_location=lambda storage, loc: storage.cuda(args.gpu))", "`map_location=lambda …` loads onto CUDA"),
        ("NRN707", "import torch\nwith torch.cuda.amp.autocast(enabled=self.options.use_amp and not self.options.full):\n    pass", "`torch.cuda.amp.autocast(…)` does not touch the chip's tensors"),
    ],
)  # fmt: skip
def test_a_headline_is_never_cut(code: str, text: str, message: str) -> None:
    assert [finding.message for finding in found(code, text)] == [message]
