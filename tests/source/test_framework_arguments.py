# ruff: noqa: E501 - a case a line reads best
"""NRN741, NRN728, NRN729, NRN730, NRN731, NRN732 and NRN221: Hugging Face and Lightning."""

from __future__ import annotations

import pytest

from tests.source.one_rule import fixed, found, said

_TF = "import torch\nfrom transformers import AutoModelForCausalLM, TrainingArguments, pipeline\n"
_PL = "import torch\nimport lightning.pytorch as pl\n"


@pytest.mark.parametrize(
    "text",
    [
        _TF + "TrainingArguments('out', bf16=True)",
        _TF + "TrainingArguments('out', fp16=False, tf32=None)",
        _TF + "def f(args):\n    TrainingArguments('out', fp16=args.fp16)",
        _TF + "TrainingArguments('out', deepspeed=None)",
        "from mine import TrainingArguments\nTrainingArguments(fp16=True)",
        _PL + "pl.Trainer(accelerator='cpu')",
        _PL + "pl.Trainer(accelerator=accelerator, precision=p)",
        _PL + "pl.Trainer(**options)",
        _PL + "def f(accelerator):\n    if accelerator is None:\n        accelerator = 'cuda'\n    pl.Trainer(accelerator=accelerator)",
        "import gym\ngym.Trainer()",
    ],
)  # fmt: skip
def test_arguments_that_fit(text: str) -> None:
    assert said("NRN741", text) == []


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("TrainingArguments('out', fp16=True)", "warning"),
        ("TrainingArguments('out', fp16=torch.cuda.is_available())", "warning"),
        ("TrainingArguments('out', tf32=True)", "error"),
        ("TrainingArguments('out', deepspeed='ds.json')", "error"),
        ("TrainingArguments('out', optim='paged_adamw_8bit')", "error"),
    ],
)
def test_trainer(line: str, wanted: str) -> None:
    assert said("NRN741", _TF + line) == [(3, wanted)]


def test_what_one_stack_takes() -> None:
    assert said("NRN741", _TF + "TrainingArguments('out', fsdp='full_shard')") == []
    assert said("NRN741", _TF + "TrainingArguments('out', fsdp='full_shard')", "lazy") == [(3, "error")]


def test_lightning_says_what_the_chip_gets() -> None:
    text = _PL + "gpu = torch.cuda.is_available()\npl.Trainer(accelerator='gpu' if gpu else 'cpu')"
    (finding,) = found("NRN741", text)
    assert (str(finding.severity), finding.then) == ("error", "the chip gets the other arm: training runs on the CPU")
    assert said("NRN741", _PL + "pl.Trainer(accelerator='gpu')") == [(3, "error")]
    assert said("NRN741", _PL + "pl.Trainer(max_epochs=2)") == [(3, "warning")]
    assert said("NRN741", _PL + "kind = 'cuda'\npl.Trainer(accelerator=kind)") == [(4, "error")]


def test_bf16_takes_the_place_of_fp16() -> None:
    assert (
        fixed("NRN741", _TF + "TrainingArguments('out', fp16=True)\n") == _TF + "TrainingArguments('out', bf16=True)\n"
    )
    both = _TF + "TrainingArguments('out', fp16=True, bf16=flag)\n"
    assert fixed("NRN741", both) == both


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("AutoModelForCausalLM.from_pretrained('n', attn_implementation='sdpa')", []),
        ("AutoModelForCausalLM.from_pretrained('n', attn_implementation='flash_attention_2')", [(3, "error")]),
        ("attn = 'flash_attention_2'\nAutoModelForCausalLM.from_pretrained('n', attn_implementation=attn)", [(4, "error")]),
        (
            "AutoModelForCausalLM.from_pretrained('n', attn_implementation='flash_attention_2' if torch.cuda.is_available() else 'sdpa')",
            [(3, "info")],
        ),
        (
            "AutoModelForCausalLM.from_pretrained('n', attn_implementation='flash_attention_2' if is_flash_attn_2_available() else 'sdpa')",
            [(3, "info")],
        ),
        ("config._attn_implementation = 'flash_attention_2'", [(3, "error")]),
        ("def f(a):\n    if a.quantize:\n        return g(load_in_8bit=True).from_pretrained('n', load_in_8bit=True)", [(5, "warning")]),
        ("TrainingArguments('out', use_liger_kernel=True)", [(3, "error")]),
    ],
)  # fmt: skip
def test_attention(line: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN728", _TF + line) == wanted


def test_attention_is_mended_unless_sequences_are_packed() -> None:
    call = "AutoModelForCausalLM.from_pretrained('n', attn_implementation='flash_attention_2')\n"
    assert fixed("NRN728", _TF + call) == _TF + call.replace("'flash_attention_2'", '"sdpa"')
    assert found("NRN728", _TF + call)[0].fix.safe  # type: ignore[union-attr]
    assert not found("NRN728", _TF + call + "padding_free = True\n")[0].fix.safe  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("pipeline('fill-mask', device=-1)", []),
        ("pipeline('fill-mask', device=args.device)", []),
        ("pipeline('fill-mask', device=0)", [(3, "error")]),
        ("pipeline('fill-mask', device=0 if torch.cuda.is_available() else -1)", [(3, "error")]),
        ("pipeline('fill-mask', device='cuda:0')", [(3, "error")]),
        ("AutoModelForCausalLM.from_pretrained('n', device_map={'': 0})", [(3, "error")]),
        ("AutoModelForCausalLM.from_pretrained('n', device_map='auto')", []),
    ],
)
def test_pipelines(line: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN729", _TF + line) == wanted


def test_diffusers_helpers() -> None:
    text = "import diffusers\npipe.enable_model_cpu_offload()\npipe.enable_attention_slicing()\n"
    assert said("NRN730", text, "trace") == [(2, "error"), (3, "info")]
    assert said("NRN730", text) == [(2, "warning"), (3, "info")]
    assert fixed("NRN730", text) == "import diffusers\n"
    option = "import diffusers\nif args.x:\n    unet.enable_xformers_memory_efficient_attention()\n"
    assert said("NRN730", option) == [(3, "warning")]
    assert said("NRN730", "pipe.enable_model_cpu_offload()") == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (_TF + "m = AutoModelForCausalLM.from_pretrained('n')\nm.generate(ids)", [(4, "warning")]),
        (_TF + "def f(model, batch):\n    return model.generate(**batch, max_new_tokens=8)", [(4, "warning")]),
        (_TF + "pipeline('summarization')", [(3, "warning")]),
        (_TF + "pipeline('fill-mask')", []),
        (_TF + "def f(maze):\n    return maze.generate(3, 4)", []),
        (_TF + "def f(model, x):\n    return model.generate(x, cache_implementation='static')", []),
        ("def f(model, x):\n    return model.generate(x, max_new_tokens=8)", []),
        (_TF + "class M:\n    def f(self, x):\n        return self.generate(x, max_new_tokens=8)", []),
    ],
)
def test_generate(text: str, wanted: list[tuple[int, str]]) -> None:
    assert said("NRN221", text) == wanted


def test_counterparts_are_for_xla_and_for_inference() -> None:
    text = _TF + "m = AutoModelForCausalLM.from_pretrained('n').eval()"
    assert said("NRN731", text, "trace") == [(3, "info")]
    assert said("NRN731", text) == []
    assert said("NRN731", text + "\nloss.backward()", "lazy") == []
    assert said("NRN731", "import torch_neuronx\n" + text, "trace") == []


def test_step_logs() -> None:
    body = "class M(pl.LightningModule):\n    def {}(self, b, i):\n        self.log('a', b, {})\n        self.log('b', b, {})\n"
    assert said("NRN732", _PL + body.format("training_step", "on_step=True", "prog_bar=True")) == [(5, "info")]
    assert said("NRN732", _PL + body.format("training_step", "on_epoch=True", "on_step=False")) == []
    assert said("NRN732", _PL + body.format("validation_step", "on_step=True", "on_step=True")) == []
