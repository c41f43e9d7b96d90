"""`neuronlint emulate`: a script on a device that is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint.cli.app import FOUND, OK
from neuronlint.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

WARM_UP = 2
"""Steps that may see shapes for the first time."""
_FAILS: Mapping[str, Callable[[Mapping[str, Any]], Any]] = {
    "new-shape": lambda step: step["new_shapes"],
    "sync": lambda step: step["syncs"],
    "host-operator": lambda step: step["host_calls"],
}


@click.command(context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--frontend", type=click.Choice(["native", "xla"]), default="native", show_default=True)
@click.option("--python", metavar="PATH", help="the interpreter that runs it  [default: this one]")
@click.option("--max-steps", type=click.IntRange(min=1), metavar="N", help="stop after N steps of an optimizer")
@click.option("--fail-on", "fails", type=click.Choice(sorted(_FAILS)), multiple=True, help="what makes the exit code 1")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--timeout", type=click.FloatRange(min=0, min_open=True), default=3600.0, metavar="SECONDS")
@click.option("--memory-limit", type=click.FloatRange(min=0, min_open=True), default=Limits().memory_gib, metavar="GIB")
@click.argument("script", type=click.Path(path_type=Path))
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED, metavar="[ARGS]...")
def command(
    script: Path, arguments: tuple[str, ...], frontend: str, python: str | None, max_steps: int | None,
    fails: tuple[str, ...], form: str, timeout: float, memory_limit: float,
) -> int:  # fmt: skip
    """Run a script on a device that is not there.

    Scripts for TorchNeuron find a `neuron` device that computes on the CPU, those for PyTorch/XLA (--frontend xla) the
    CPU device of torch_xla.

    Shows, step by step, operator calls, those that run on the host by the tables, where the host waits for a value,
    and shapes that were not seen before. The script's own options stand behind its name. Exit code: that of the
    script; 1 where --fail-on found something after the first two steps.
    """
    from neuronlint.capture.emulating import emulate
    from neuronlint.render.emulation import report_text
    from neuronlint.stack import resolve

    target, execution = ("trn2", "eager") if frontend == "native" else ("trn1", "lazy")
    stack = resolve(target, frontend, mode="training", execution=execution).stack
    report = emulate(script, arguments, stack, Limits(timeout, memory_limit), max_steps, python)
    click.echo(json.dumps(report, indent=2) if form == "json" else report_text(report), nl=form == "json")
    code = int(report["exit_code"])
    found = any(_FAILS[what](step) for what in fails for step in report["steps"][WARM_UP : report["optimizer_steps"]])
    return code or (FOUND if found else OK)
