"""NRN706: variables that a program sets for itself, and their fixes."""

from __future__ import annotations

import pytest

from tests.source.one_rule import fixed, found, said


@pytest.mark.parametrize(
    "text",
    [
        "import os\nn = os.environ['CUDA_VISIBLE_DEVICES']",
        "import os\nn = os.getenv('NCCL_DEBUG')",
        "import os\nos.environ['CUDA_VISIBLE_DEVICES'] = '-1'",
        "import os\nos.environ['HOME'] = '/'",
        "import os\nos.environ['NEURON_CC_FLAGS'] = os.environ.get('NEURON_CC_FLAGS', '') + ' -O1'",
        "import os\nos.environ.setdefault('NEURON_CC_FLAGS', '-O1')",
        "import os\nif 'NEURON_CC_FLAGS' not in os.environ:\n    os.environ['NEURON_CC_FLAGS'] = '-O1'",
        "import os\nos.environ['XLA_USE_BF16'] = str(0)",
        "environ = {}\nenviron['NCCL_DEBUG'] = 'INFO'",
        "import os\nclass XLAPrecision:\n    def __init__(self):\n        os.environ['XLA_USE_BF16'] = '1'",
    ],
)
def test_nothing_to_say(text: str) -> None:
    assert said("NRN706", text) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = gpus", "warning"),
        ("from os import environ as env\nenv['NCCL_DEBUG'] = 'INFO'", "info"),
        ("import os\nos.putenv('CUDA_LAUNCH_BLOCKING', '1')", "info"),
        ("import os\nos.environ.update({'TORCH_NCCL_BLOCKING_WAIT': '1'})", "info"),
        ("import os\nos.environ.update(NCCL_P2P_DISABLE='1')", "info"),
        ("import os\nos.environ['XLA_DOWNCAST_BF16'] = '1'", "warning"),
        ("import os\nos.environ['PJRT_DEVICE'] = 'NEURON'", "info"),
        ("import os\nos.environ['NEURON_CC_FLAGS'] = '-O1'", "info"),
    ],
)
def test_every_way_to_set_one(text: str, wanted: str) -> None:
    assert said("NRN706", text) == [(2, wanted)]


def test_the_other_stack() -> None:
    assert said("NRN706", "import os\nos.environ['PJRT_DEVICE'] = 'NEURON'", "lazy") == []
    assert said("NRN706", "import os\nos.environ['TORCH_NEURONX_NEFF_CACHE_DIR'] = '/x'") == []
    assert said("NRN706", "import os\nos.environ['TORCH_NEURONX_NEFF_CACHE_DIR'] = '/x'", "lazy") == [(2, "info")]


def test_fixes() -> None:
    before = "import os\nos.environ['NCCL_DEBUG'] = 'INFO'\nos.environ['CUDA_VISIBLE_DEVICES'] = '2,3'\n"
    assert fixed("NRN706", before) == 'import os\nos.environ["NEURON_RT_VISIBLE_CORES"] = "2-3"\n'
    safe = {finding.fix.safe for finding in found("NRN706", before) if finding.fix}
    assert safe == {True, False}


@pytest.mark.parametrize("value", ["'0,2'", "gpus", "'all'"])
def test_no_fix_for_other_lists(value: str) -> None:
    text = f"import os\nos.environ['CUDA_VISIBLE_DEVICES'] = {value}\n"
    assert fixed("NRN706", text) == text
