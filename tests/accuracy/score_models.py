"""Holds the tables against the real lowering of whole models, call by call, on a CPU.

    python -m tests.accuracy.score_models xla --functionalization off [--subset] [--work DIR] [--min SHARE]
    python -m tests.accuracy.score_models native [--subset] [--work DIR] [--min SHARE]

*xla* needs torch 2.9 with torch_xla 2.9 (`envs.sh xla`), *native* torch with torch-mlir (`envs.sh zoo`), and both the
libraries of `zoo.toml`, at the sizes named `small` there. Each model is captured as `check` does, in evaluation and in
training with AdamW, and what the tables say of its calls is held against what really happens: on xla the whole model
runs on a torch_xla device that lowers as for Neuron, and its counters say how often each operator ran on the host; on
native each distinct call is lowered to StableHLO by itself, and counts as often as the model makes it. What is scored
is the calls that do not run on the chip, an operator once a model where data decide how often it is called (a read of
a value by Python, a loop over what was found). `--work` keeps graphs and real runs, which are not made again;
`--calls` writes the distinct calls for the scripts that measure the tables, `--json` the counts for
`accuracy_page.py`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import re
import sys
import tempfile
from collections import Counter
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.call import OperatorCall
from neuronlint.graph.opgraph import OPTIMIZER
from neuronlint.graph.rules import judged
from neuronlint.knowledge import Knowledge, Placement
from neuronlint.stack import Stack
from tests.accuracy._captured import MODES, graph_of, kept_file, references
from tests.accuracy._scores import Score

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuronlint.graph.opgraph import CallNode, OpGraph
    from neuronlint.knowledge import Verdict

DATA_DECIDES = frozenset(("data-branch", "shape-branch", "data-size", "host-read"))
"""Events of a graph after which the number of calls depends on the data of a run."""
LIBRARIES = ("torch", "torch_xla", "torch-mlir", "torchvision", "timm", "transformers", "diffusers")


class Xla:
    """Host fallbacks of whole models on torch_xla."""

    def __init__(self, functionalization: str, work: Path, knowledge: Knowledge) -> None:
        self.functionalization, self.work, self.knowledge = functionalization, work, knowledge

    def stack(self, mode: str) -> Stack:
        on = self.functionalization == "on"
        return Stack("trn1", "xla", "2.29", mode, "lazy", functionalization=on)

    def score(self, score: Score, reference: str, graph: OpGraph, mode: str, verdicts: Sequence[Verdict]) -> None:
        from tests.accuracy._run_xla import truth

        kept = kept_file(self.work, "truth-xla", reference, self.functionalization, mode)
        if not kept.exists():
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(gzip.compress(json.dumps(truth(reference, mode)).encode(), mtime=0))
        real = json.loads(gzip.decompress(kept.read_bytes()))
        if "died" in real:
            score.unscored[reference] = f"the real run {real['died']}"
            return
        host = Counter(name for verdict in verdicts if verdict.placement is Placement.CPU for name in verdict.host)
        seen = Counter(real["host"])
        if real["error"]:
            raising = {n.call.op for n, v in zip(graph.nodes, verdicts, strict=True) if v.placement is Placement.FAILS}
            score.raised[reference] = (real["error"], bool(raising))
            for op in raising:  # counted by torch_xla before it raised
                seen.pop("::".join(op.split(".")[:2]), None)
        if any(event.kind in DATA_DECIDES for event in graph.events):
            host, seen = _once(host), _once(seen)
        score.calls += len(graph.nodes)
        score.add(reference, host, seen, stopped=bool(real["error"]))


def _once(host: Counter[str]) -> Counter[str]:
    """Each operator once, for models whose data decide how often a call is made."""
    return Counter({op: min(count, 1) for op, count in host.items()})


class Native:
    """Failed lowerings of the distinct calls of models on torch-mlir."""

    def __init__(self, work: Path, knowledge: Knowledge) -> None:
        from tests.accuracy._native_pool import Worker

        self.knowledge = knowledge
        self.worker = Worker("tests.accuracy.lower_native", 20)
        self.kept = work / "native.jsonl"
        self.kept.parent.mkdir(parents=True, exist_ok=True)
        self.known: dict[str, str] = {}
        self.steps: dict[str, str] = {}
        if self.kept.exists():
            with self.kept.open() as lines:
                entries = (json.loads(line) for line in lines)
                self.known = {OperatorCall.from_json(e["call"]).signature: e["outcome"]["status"] for e in entries}

    def stack(self, mode: str) -> Stack:
        return Stack("trn2", "native", "2.33", mode, "compile")

    def score(self, score: Score, reference: str, graph: OpGraph, mode: str, _verdicts: Sequence[Verdict]) -> None:
        stack = self.stack(mode)
        predicted: Counter[str] = Counter()
        real: Counter[str] = Counter()
        for node in graph.nodes:
            if self._is_unseen(node, stack):
                continue
            status = self._of_step(node.call) if node.phase == OPTIMIZER else self._status(node.call)
            if status not in ("lowered", "failed", "break"):
                continue  # the lowering said nothing: it crashed, or torch itself refuses the call alone
            score.calls += 1
            row = self.knowledge.table("native").find(node.call, stack)
            predicted[node.call.op] += row is not None and row.placement in (Placement.FAILS, Placement.CPU)
            real[node.call.op] += status != "lowered"
        score.add(reference, predicted, real)

    def _is_unseen(self, node: CallNode, stack: Stack) -> bool:
        """Whether no backend is given the call, or another one in its place: it is no sample then."""
        return self.knowledge.lowering(node.call, stack, node.phase) is None

    def _of_step(self, call: OperatorCall) -> str:
        """The status of a call of an optimizer, which works element by element: once for all sizes."""
        like = re.sub(r'"(shape|stride)": \[([^]]*)\]', lambda match: str(match[2].count(",")), call.signature)
        if like not in self.steps:
            self.steps[like] = self._status(call)
        return self.steps[like]

    def _status(self, call: OperatorCall) -> str:
        name = call.signature
        if name not in self.known:
            outcome = self.worker.ask({"call": call.to_json()})
            self.known[name] = outcome["status"]
            with self.kept.open("a") as out:  # in the form of lower_native's --cache
                print(json.dumps({"call": call.to_json(), "outcome": outcome}), file=out)
        return self.known[name]


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    _start_over_with_switch(options)
    knowledge = Knowledge.load()
    with tempfile.TemporaryDirectory() as fresh:
        work = options.work or Path(fresh)
        _import_libraries()
        side = Xla(options.functionalization, work, knowledge) if options.frontend == "xla" else Native(work, knowledge)
        scores = {mode: Score() for mode in options.mode}
        calls: set[str] = set()
        verdicts: dict[str, Counter[Placement]] = {}
        for reference in references(options.only, options.subset):
            for mode, score in scores.items():
                graph, why = graph_of(reference, options.frontend, mode, work)
                if graph is None:
                    score.unscored[reference] = why
                else:
                    found = judged(graph, side.stack(mode), knowledge)
                    side.score(score, reference, graph, mode, found)
                    for node, verdict in zip(graph.nodes, found, strict=True):
                        verdicts.setdefault(node.call.op, Counter())[verdict.placement] += 1
                    if options.calls:
                        calls |= {json.dumps(node.call.to_json(), sort_keys=True) for node in graph.nodes}
                print(f"{mode} {reference}: {score}", flush=True)
        if isinstance(side, Native):
            side.worker.close()
    if options.calls:
        options.calls.write_text("".join(line + "\n" for line in sorted(calls)))
    _report(options, scores, verdicts)
    return 0 if all(min(score.precision, score.recall) >= options.min for score in scores.values()) else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("frontend", choices=["xla", "native"])
    parser.add_argument("--functionalization", choices=["off", "on"], default="off")
    parser.add_argument("--mode", nargs="*", default=list(MODES), choices=MODES)
    parser.add_argument("--only", nargs="*", default=[], metavar="WORD")
    parser.add_argument("--subset", action="store_true", help="only the models that are run on every change")
    parser.add_argument("--work", type=Path, help="folder that keeps graphs and real runs")
    parser.add_argument("--calls", type=Path, help="file for the distinct calls")
    parser.add_argument("--json", type=Path, help="file for the counts")
    parser.add_argument("--min", type=float, default=0.0, help="exit 1 where precision or recall is below")
    return parser


def _start_over_with_switch(options: argparse.Namespace) -> None:
    """torch_xla reads its switches when it starts: this process is replaced by one that has them."""
    if options.frontend != "xla" or "NEURONLINT_SCORING" in os.environ:
        return
    env = {**os.environ, "NEURONLINT_SCORING": "1", "PJRT_DEVICE": "CPU", "HF_HUB_OFFLINE": "1",
           "XLA_FLAGS": "--xla_backend_optimization_level=0"}  # fmt: skip
    env.pop("XLA_DISABLE_FUNCTIONALIZATION", None)
    if options.functionalization == "off":
        env["XLA_DISABLE_FUNCTIONALIZATION"] = "1"
    command = [sys.executable, "-W", "ignore", "-m", "tests.accuracy.score_models", *sys.argv[1:]]
    os.execve(sys.executable, command, env)  # noqa: S606 - this very script


def _import_libraries() -> None:
    """Once, so that each model's own process has them from the start."""
    import importlib
    from contextlib import suppress

    for name in ("torch_xla", "torchvision", "timm", "transformers", "diffusers"):
        with suppress(ImportError):
            importlib.import_module(name)


def _report(options: argparse.Namespace, scores: dict[str, Score], verdicts: dict[str, Counter[Placement]]) -> None:
    unknown = sorted(op for op, counts in verdicts.items() if counts[Placement.UNKNOWN])
    for mode, score in scores.items():
        print(f"{mode}: {score}")
        for (op, kind), found in sorted(score.faults.items()):
            print(f"    {kind} {op}: {', '.join(f'{count} in {model}' for model, count in found)}")
    print(f"no verdict: {len(unknown)} of {len(verdicts)} overloads: {' '.join(unknown)}")
    if options.json:
        data = {
            "frontend": options.frontend,
            "functionalization": options.functionalization if options.frontend == "xla" else None,
            "with": dict(_versions()),
            "modes": {mode: score.to_json() for mode, score in scores.items()},
            "overloads": len(verdicts),
            "unknown": unknown,
        }
        options.json.write_text(json.dumps(data, indent=1) + "\n")


def _versions() -> Iterator[tuple[str, str]]:
    for name in LIBRARIES:
        try:
            yield name, version(name).split("+")[0]
        except PackageNotFoundError:
            continue


if __name__ == "__main__":
    sys.exit(main())
