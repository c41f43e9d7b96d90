"""Models that nobody here wrote, small, through the whole command: what `check` says of them on inf2."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("transformers", reason="the models come from transformers")
pytest.importorskip("torch", reason="graph checks need torch")

SMALL = "num_hidden_layers=2,hidden_size=64,num_attention_heads=4,intermediate_size=128"
KNOWN_GOOD = [
    f"BertForSequenceClassification(BertConfig({SMALL}))",
    f"RobertaModel(RobertaConfig({SMALL}))",
    "GPT2LMHeadModel(GPT2Config(n_layer=2,n_embd=64,n_head=4))",
    "T5ForConditionalGeneration(T5Config(num_layers=2,d_model=64,d_kv=16,d_ff=128,num_heads=4))",
    f"ViTForImageClassification(ViTConfig({SMALL}))",
]


def check(model: str, cwd: Path, *options: str) -> dict[str, Any]:
    command = [
        sys.executable,
        "-m",
        "neuronlint",
        "check",
        "--model",
        f"transformers:{model}",
        "--format",
        "json",
        *options,
    ]
    done = subprocess.run(command, cwd=cwd, check=False, capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize("model", KNOWN_GOOD)
def test_a_family_of_the_neuron_samples_has_no_error_on_inf2(model: str, tmp_path: Path) -> None:
    report = check(model, tmp_path, "--target", "inf2")
    assert report["models"][0]["status"] == "captured"
    assert report["models"][0]["placement"]["unknown"] == 0
    assert report["models"][0]["placement"]["fails"] == 0
    assert [f for f in report["findings"] if f["severity"] == "error"] == []


def test_the_positional_convolution_of_wav2vec2_falls_back(tmp_path: Path) -> None:
    report = check(f"Wav2Vec2Model(Wav2Vec2Config({SMALL}))", tmp_path, "--target", "inf2")
    errors = [f for f in report["findings"] if f["severity"] == "error"]
    assert {f["op"] for f in errors} == {"aten._weight_norm_interface.default"}
    assert {f["code"] for f in errors} == {"NRN101"}


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    model = KNOWN_GOOD[0]
    assert check(model, tmp_path, "--quiet") == check(model, tmp_path, "--quiet")
