"""Stacks: what does not exist, what has ended, and the defaults."""

from __future__ import annotations

import pytest

from neuronlint.errors import ConfigurationError
from neuronlint.stack import Stack, resolve, sdk_matches


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        pytest.param({"target": "inf1"}, ["inf1", "end of support", "inf2"], id="inf1"),
        pytest.param({"target": "trm2"}, ["unknown target `trm2`", "did you mean `trn2`?"], id="misspelt target"),
        pytest.param({"target": "tpu"}, ["unknown target `tpu`", "inf2, trn1, trn2, trn3"], id="another chip"),
        pytest.param({"frontend": "natve"}, ["did you mean `native`?"], id="misspelt frontend"),
        pytest.param({"mode": "train"}, ["unknown mode `train`", "did you mean `training`?"], id="misspelt mode"),
        pytest.param({"execution": "compiled"}, ["unknown execution", "`compile`"], id="misspelt execution"),
        pytest.param(
            {"target": "inf2", "frontend": "native"},
            ["native on inf2 does not exist", "xla trace/lazy"],
            id="native on inf2",
        ),
        pytest.param({"target": "trn1", "frontend": "native", "sdk": "2.33"}, ["native on trn1"], id="native on trn1"),
        pytest.param({"sdk": "2.31"}, ["exists from SDK 2.33, not in 2.31", "xla"], id="native before it was public"),
        pytest.param(
            {"target": "trn3", "frontend": "xla", "sdk": "2.26"}, ["exists from SDK 2.27"], id="trn3 too early"
        ),
        pytest.param(
            {"execution": "lazy"}, ["compile or eager", "--frontend xla"], id="execution of the other frontend"
        ),
        pytest.param({"target": "trn1", "mode": "training", "execution": "trace"}, ["lazy"], id="trace in training"),
        pytest.param({"sdk": "2.99"}, ["no SDK release 2.99", "newest is 2.33"], id="a release to come"),
        pytest.param({"sdk": "latest"}, ["`latest` is no SDK release"], id="no release"),
    ],
)
def test_refused(words: dict[str, str], parts: list[str]) -> None:
    """One line that names what is wrong and what there is instead."""
    with pytest.raises(ConfigurationError) as caught:
        resolve(**words)
    message = str(caught.value)
    assert "\n" not in message
    assert all(part in message for part in parts), message


@pytest.mark.parametrize(
    ("words", "stack"),
    [
        ({}, Stack("trn2", "native", "2.33", "inference", "compile")),
        ({"target": "trn3"}, Stack("trn3", "native", "2.33", "inference", "compile")),
        ({"target": "inf2"}, Stack("inf2", "xla", "2.33", "inference", "trace")),
        ({"target": "trn1"}, Stack("trn1", "xla", "2.33", "inference", "trace")),
        ({"mode": "training"}, Stack("trn2", "native", "2.33", "training", "compile")),
        ({"execution": "eager"}, Stack("trn2", "native", "2.33", "inference", "eager")),
        ({"target": "inf2", "sdk": "2.27.1"}, Stack("inf2", "xla", "2.27", "inference", "trace")),
        ({"target": "inf2", "execution": "lazy"}, Stack("inf2", "xla", "2.33", "inference", "lazy")),
        ({"frontend": "xla", "sdk": "2.21"}, Stack("trn2", "xla", "2.21", "inference", "trace")),
    ],
)
def test_resolved(words: dict[str, str], stack: Stack) -> None:
    resolved = resolve(**words)
    assert (resolved.stack, resolved.note) == (stack, "")


def test_training_on_xla_defaults_to_its_last_release_and_says_so() -> None:
    resolved = resolve("trn1", mode="training")
    assert resolved.stack == Stack("trn1", "xla", "2.29", "training", "lazy")
    assert "2.29" in resolved.note


def test_an_ended_combination_is_judged_with_a_note() -> None:
    resolved = resolve("trn1", "xla", "2.31", "training")
    assert resolved.stack.sdk == "2.31"
    assert "ended with 2.30" in resolved.note


def test_within_its_releases_an_ended_combination_has_no_note() -> None:
    assert resolve("trn1", "xla", "2.28", "training").note == ""


@pytest.mark.parametrize(
    ("spec", "sdk", "expected"),
    [
        ("*", "2.33", True),
        ("", "2.9", True),
        (">=2.27", "2.9", False),
        (">=2.9", "2.27", True),
        (">=2.27,<2.32", "2.31", True),
        (">=2.27,<2.32", "2.32", False),
        ("2.28", "2.28", True),
        ("2.28", "2.29", False),
    ],
)
def test_ranges_compare_numbers_not_text(spec: str, sdk: str, expected: bool) -> None:
    assert sdk_matches(spec, sdk) is expected
