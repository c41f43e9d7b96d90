"""NRN751, NRN753 and NRN734: fused optimizers, inference mode and custom_fwd."""

from __future__ import annotations

from tests.source.one_rule import fixed, found, said


def test_fused_optimizers() -> None:
    text = "import torch as th\nopt = th.optim.AdamW(p, lr=0.1, fused=True)\n"
    assert said("NRN751", text) == []
    assert said("NRN751", text, "lazy") == [(2, "error")]
    assert fixed("NRN751", text, "lazy") == "import torch as th\nopt = th.optim.AdamW(p, lr=0.1)\n"
    assert said("NRN751", "import torch\nopt = torch.optim.SGD(p, fused=torch.cuda.is_available())", "lazy") == [
        (2, "info")
    ]
    assert said("NRN751", "import torch\nopt = torch.optim.SGD(p, fused=ok)", "lazy") == []
    assert said("NRN751", "ln = LayerNorm(4, fused=True)", "lazy") == []


MODE = "import torch\ndef score(model, x):\n    with torch.inference_mode():\n        return model(x)\n"


def test_inference_mode() -> None:
    assert said("NRN753", MODE, "lazy") == [(3, "error")]
    assert said("NRN753", MODE, "trace") == []
    assert said("NRN753", MODE) == []
    assert said("NRN753", MODE.replace("_mode()", "_mode(on)"), "lazy") == []
    assert said("NRN753", MODE.replace("_mode()", "_mode(False)"), "lazy") == []
    assert said("NRN753", "import torch\n@torch.inference_mode()\ndef mean(log):\n    return sum(log)", "lazy") == []
    traced = "import torch_neuronx\nm = torch_neuronx.trace(m, x)\n" + MODE
    assert said("NRN753", traced, "lazy") == []
    assert fixed("NRN753", MODE, "lazy") == MODE.replace("inference_mode", "no_grad")
    plain = "from torch import inference_mode\n@inference_mode()\ndef f(model, x):\n    return model(x)"
    assert [finding.fix for finding in found("NRN753", plain, "lazy")] == [None]


def test_custom_fwd_is_told_once_a_class() -> None:
    text = """\
        import torch
        class F(torch.autograd.Function):
            @staticmethod
            @torch.cuda.amp.custom_fwd(cast_inputs=torch.float32)
            def forward(ctx, x):
                return x
            @staticmethod
            @torch.cuda.amp.custom_bwd
            def backward(ctx, g):
                return g
        """
    assert said("NRN734", text) == [(4, "warning")]
    assert said("NRN734", text.replace("torch.cuda.amp", "mine")) == []
