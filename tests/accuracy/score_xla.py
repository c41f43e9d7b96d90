"""Holds predicted host fallbacks against the real PyTorch/XLA lowering of whole models, on a CPU.

    python -m tests.accuracy.score_xla [--mode off on] [--only WORD…] [--json FILE] [--min SHARE]

Needs torch 2.9 with torch_xla 2.9 and the libraries of `zoo.toml`, at the sizes named `small` there. Each model is
built for real and run once on a torch_xla device that lowers as for Neuron; the `aten::` counters name what ran on
the host. The prediction is what `check` would say of the same model. A pair of model and host operator counts
once; a model that is not captured misses all of its pairs. Where the run itself raises (as view operators do with
functionalization off), only the operators up to there can be compared, and the prediction must hold a failure.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from neuronlint.capture.client import capture_models
from neuronlint.capture.messages import CaptureRequest
from neuronlint.graph.opgraph import OpGraph
from neuronlint.graph.rules import judged
from neuronlint.knowledge import Knowledge, Placement
from neuronlint.stack import Stack

ZOO = Path(__file__).with_name("zoo.toml")
SECONDS = 400
RESIZES = frozenset(("aten::upsample_nearest2d", "aten::upsample_bilinear2d"))
"""Lowered for Neuron and not for a plain CPU device: left out where a model cannot run as if on Neuron."""


@dataclass
class Score:
    """Counts over pairs of model and host operator."""

    hit: int = 0
    false: int = 0
    missed: int = 0
    models: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.hit / max(1, self.hit + self.false)

    @property
    def recall(self) -> float:
        return self.hit / max(1, self.hit + self.missed)

    def __str__(self) -> str:
        counts = f"{self.models} models, {self.hit} right, {self.false} false, {self.missed} missed"
        return f"{counts}: precision {self.precision:.3f}, recall {self.recall:.3f}"


def models(words: list[str]) -> Iterator[str]:
    for row in tomllib.loads(ZOO.read_text())["model"]:
        reference = row.get("small") or row["model"]
        if not words or any(word.lower() in reference.lower() for word in words):
            yield reference


def truth(reference: str, mode: str, *, as_neuron: bool = True) -> dict[str, Any] | None:
    """What the real lowering did: `host` operators and `error`, or None where the process died."""
    env = {**os.environ, "PJRT_DEVICE": "CPU", "HF_HUB_OFFLINE": "1", "XLA_FLAGS": "--xla_backend_optimization_level=0"}
    env.pop("XLA_DISABLE_FUNCTIONALIZATION", None)
    if mode == "off":
        env["XLA_DISABLE_FUNCTIONALIZATION"] = "1"
    with tempfile.NamedTemporaryFile("r", suffix=".json") as file:
        command = [
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "tests.accuracy._run_xla",
            reference,
            file.name,
            str(int(as_neuron)),
        ]
        try:
            subprocess.run(
                command, env=env, timeout=SECONDS, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
        except subprocess.TimeoutExpired:
            return None
        text = file.read()
    result: dict[str, Any] | None = json.loads(text) if text else None
    if as_neuron and (result is None or "custom call" in (result["error"] or "").lower()):
        return truth(reference, mode, as_neuron=False)
    if result is not None and not as_neuron:
        result["host"] = sorted(set(result["host"]) - RESIZES)
    return result


@cache
def graph_of(reference: str) -> OpGraph | None:
    """The captured model, None where it is not captured whole."""
    result = capture_models(CaptureRequest(model=reference, frontend="xla"), timeout=SECONDS)
    return result.graphs[0] if result.graphs and result.graphs[0].status == "captured" else None


def predicted(reference: str, mode: str, knowledge: Knowledge) -> tuple[set[str], bool] | None:
    """Host operators predicted, and whether a failure is; None where the model is not captured whole."""
    graph = graph_of(reference)
    if graph is None:
        return None
    stack = Stack("inf2", "xla", "2.31", "inference", "lazy", functionalization=mode == "on")
    verdicts = judged(graph, stack, knowledge)
    host = {name for verdict in verdicts if verdict.placement is Placement.CPU for name in verdict.host}
    return host, any(verdict.placement is Placement.FAILS for verdict in verdicts)


def add(score: Score, reference: str, found: tuple[set[str], bool] | None, real: dict[str, Any]) -> None:
    """Counts one model."""
    score.models += 1
    host = set(real["host"])
    if found is None:
        score.missed += len(host)
        score.faults.append(f"{reference}: not captured, {sorted(host)} missed")
        return
    named, fails = found
    false = set() if real["error"] else named - host
    score.hit, score.false, score.missed = (
        score.hit + len(named & host),
        score.false + len(false),
        score.missed + len(host - named),
    )
    if false or host - named:
        score.faults.append(f"{reference}: false {sorted(false)}, missed {sorted(host - named)}")
    if real["error"] and not fails:
        score.faults.append(f"{reference}: raises, not predicted: {real['error']}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--mode", nargs="*", default=["off", "on"], choices=["off", "on"])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--min", type=float, default=0.0, help="exit 1 where precision or recall is below")
    options = parser.parse_args()
    knowledge, scores = Knowledge.load(), {mode: Score() for mode in options.mode}
    rows: list[dict[str, Any]] = []
    for reference in models(options.only):
        for mode in options.mode:
            real = truth(reference, mode)
            if real is None:
                print(f"{mode:3} {reference}: the real run died or took too long; not scored", flush=True)
                continue
            found = predicted(reference, mode, knowledge)
            before = len(scores[mode].faults)
            add(scores[mode], reference, found, real)
            rows.append({"model": reference, "mode": mode, **real, "predicted": sorted(found[0]) if found else None})
            said = (
                "; ".join(scores[mode].faults[before:])
                or f"{reference}: {', '.join(real['host']) or 'no fallback'}{' (raises)' if real['error'] else ''}"
            )
            print(f"{mode:3} {said}", flush=True)
    for mode, score in scores.items():
        print(f"functionalization {mode}: {score}")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1))
    return 0 if all(min(score.precision, score.recall) >= options.min for score in scores.values()) else 1


if __name__ == "__main__":
    raise SystemExit(main())
