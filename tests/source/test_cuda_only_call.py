# ruff: noqa: E501 - a case a line reads best
"""NRN703: calls of torch.cuda by what they do without CUDA, their guards and their fixes."""

from __future__ import annotations

import pytest

from tests.source.one_rule import fixed, found, said


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("import torch\ntorch.accelerator.synchronize()", id="the accelerator's"),
        pytest.param("import torch\ntorch.neuron.synchronize()", id="the chip's"),
        pytest.param("from mine import cuda\ncuda.synchronize()", id="another module"),
        pytest.param("import torch\ng = torch.Generator()", id="generator on the host"),
        pytest.param("import torch\ng = torch.Generator(device='cpu')", id="generator on the host by name"),
        pytest.param(
            "import torch\nif torch.cuda.is_available():\n    torch.cuda.empty_cache()", id="harmless, guarded"
        ),
        pytest.param(
            "import torch\nmod = torch.npu if on_npu else torch.cuda\nmod.synchronize()",
            id="one of several accelerators",
        ),
        pytest.param(
            "import torch\nif is_neuron_available():\n    pass\nelse:\n    torch.cuda.synchronize()",
            id="left to others",
        ),
    ],
)
def test_nothing_to_say(text: str) -> None:
    assert said("NRN703", text) == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("torch.cuda.synchronize()", "error"),
        ("torch.cuda.mem_get_info()", "error"),
        ("torch.cuda.reset_peak_memory_stats()", "error"),
        ("torch.cuda.Event(enable_timing=True)", "error"),
        ("torch.cuda.get_device_capability()[0] >= 8", "error"),
        ("torch.cuda.get_rng_state()", "error"),
        ("torch.cuda.get_rng_state_all()", "warning"),
        ("torch.cuda.nvtx.range_push('step')", "warning"),
        ("torch.cuda.max_memory_allocated()", "info"),
        ("torch.cuda.empty_cache()", "info"),
        ("torch.cuda.manual_seed_all(0)", "info"),
        ("torch.Generator(device='cuda')", "error"),
        ("torch.Generator(device=device)", "warning"),
    ],
)
def test_severity_is_what_happens(line: str, wanted: str) -> None:
    assert said("NRN703", f"import torch\ndef f(device):\n    return {line}") == [(3, wanted)]


def test_a_generator_on_xla_raises() -> None:
    text = "import torch\ndef f(device):\n    return torch.Generator(device=device)"
    assert said("NRN703", text, "lazy") == [(3, "error")]


@pytest.mark.parametrize(
    "text",
    [
        "import torch as th\nth.cuda.synchronize()",
        "from torch import cuda\ncuda.synchronize()",
        "from torch.cuda import synchronize as wait\nwait()",
    ],
)
def test_aliases(text: str) -> None:
    assert said("NRN703", text) == [(2, "error")]


@pytest.mark.parametrize(
    "guard",
    [
        "torch.cuda.is_available()",
        "device.type == 'cuda'",
        "kind == Kind.CUDA",
        "is_cuda_available()",
        "x.is_cuda and torch.cuda.is_available()",
    ],
)
def test_a_guard_leaves_info(guard: str) -> None:
    text = f"import torch\ndef f(x, device, kind):\n    if {guard}:\n        torch.cuda.synchronize()"
    assert said("NRN703", text) == [(4, "info")]


def test_the_right_side_of_or_is_guarded() -> None:
    text = "import torch\ndef f(q):\n    return q.device.type != 'cuda' or torch.cuda.get_device_capability()[0] < 8"
    assert said("NRN703", text) == [(3, "info")]


def test_a_prefetcher_is_one_finding() -> None:
    text = """\
        import torch
        class Prefetcher:
            def __init__(self, loader):
                self.stream = torch.cuda.Stream()
            def preload(self):
                with torch.cuda.stream(self.stream):
                    self.batch = next(self.loader)
            def next(self):
                torch.cuda.current_stream().wait_stream(self.stream)
                return self.batch
        """
    (finding,) = found("NRN703", text)
    assert finding.span is not None
    assert (finding.span.line, str(finding.severity)) == (4, "error")
    assert "`Prefetcher`" in (finding.help or "")


def test_handlers() -> None:
    text = "import torch\ntry:\n    f()\nexcept (ValueError, torch.cuda.OutOfMemoryError):\n    pass"
    assert said("NRN703", text, "lazy") == [(4, "warning")]
    assert said("NRN703", text) == [(4, "info")]


def test_harmless_calls_are_taken_out() -> None:
    before = "import torch\ntorch.manual_seed(0)\ntorch.cuda.manual_seed_all(0)\nfor x in xs:\n    torch.cuda.empty_cache()\n"
    assert fixed("NRN703", before) == "import torch\ntorch.manual_seed(0)\nfor x in xs:\n    pass\n"


def test_the_only_seed_stays() -> None:
    text = "import torch\ntorch.cuda.manual_seed_all(0)\npeak = torch.cuda.max_memory_allocated()\n"
    assert fixed("NRN703", text) == text
