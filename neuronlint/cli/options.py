"""The options that several commands share: which models, on which stack, within which limits."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from neuronlint.config import Settings, load
from neuronlint.errors import ConfigurationError
from neuronlint.stack import EXECUTIONS, FRONTENDS, MODES, TARGETS, Resolved, resolve

Function = TypeVar("Function", bound=Callable[..., Any])


def add(options: list[Callable[[Function], Function]]) -> Callable[[Function], Function]:
    """Several options as one decorator, in their order."""

    def decorate(function: Function) -> Function:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def model_options(function: Function) -> Function:
    """PATH…, --model, --input and what steers their capture."""
    options = [
        click.argument("paths", nargs=-1, metavar="[PATH]..."),
        click.option(
            "--model", metavar="MODULE:ATTR", help="a model of an importable package, as in torchvision.models:resnet50"
        ),
        click.option(
            "--input",
            "inputs",
            metavar="SPEC",
            multiple=True,
            help='an input, as in "float32[1,3,224,224]"; once for each',
        ),
        click.option(
            "--observe", is_flag=True, help="run scripts up to the first call of a top-level module, and take that"
        ),
        click.option("--optimizer", metavar="SPEC", help="for training, as in SGD(momentum=0.9)  [default: AdamW]"),
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            metavar="SECONDS",
            help="for one file or model  [default: 300]",
        ),
        click.option(
            "--memory-limit",
            type=click.FloatRange(min=0, min_open=True),
            metavar="GIB",
            help="for one file or model  [default: 16]",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(min=1),
            metavar="N",
            help="captures side by side  [default: the number of cores]",
        ),
        click.option("--exclude", multiple=True, metavar="GLOB", help="leave these files or folders out"),
        click.option(
            "--config",
            type=click.Path(path_type=Path),
            metavar="FILE",
            help="this settings file instead of the nearest",
        ),
    ]
    return add(options)(function)


def stack_options(function: Function) -> Function:
    """--target, --frontend, --sdk, --mode and --execution."""
    executions = "|".join(word for words in EXECUTIONS.values() for word in words)
    options = [
        click.option("--target", metavar="|".join(TARGETS), help="the chip  [default: trn2]"),
        click.option(
            "--frontend",
            metavar="|".join(FRONTENDS),
            help="how PyTorch reaches it  [default: native on trn2 and trn3, else xla]",
        ),
        click.option("--sdk", metavar="RELEASE", help="the Neuron release  [default: the newest that has the rest]"),
        click.option("--mode", metavar="|".join(MODES), help="what the model is for  [default: inference]"),
        click.option("--execution", metavar=executions, help="how the frontend runs it"),
    ]
    return add(options)(function)


def load_settings(paths: tuple[str, ...], config: Path | None) -> Settings:
    """The settings for these paths: of the nearest file above the first one, or of the one named."""
    start = Path(paths[0]) if paths else Path.cwd()
    start = start if start.is_dir() else start.parent
    return load(start if start.is_dir() else Path.cwd(), config)


def resolve_stack(given: dict[str, str | None], settings: Settings) -> Resolved:
    """The stack of the command line over that of the settings. An error in a setting names its file."""
    words = {key: given[key] or getattr(settings, key) for key in ("target", "frontend", "sdk", "mode", "execution")}
    try:
        return resolve(
            words["target"], words["frontend"], words["sdk"], words["mode"] or "inference", words["execution"]
        )
    except ConfigurationError as error:
        from_settings = [key for key in words if not given[key] and getattr(settings, key)]
        if not from_settings:
            raise
        raise ConfigurationError(f"{error} ({', '.join(from_settings)} from {settings.path})") from None
