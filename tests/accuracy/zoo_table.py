"""How the models of `zoo.toml` are captured and judged: the table of the closing notes.

    python -m tests.accuracy.zoo_table [--only WORD…] [--min SHARE]

Needs torch with timm, torchvision, transformers and diffusers. Each model is captured at full size on fake weights,
once for trn2 native compile and once for inf2 xla. Below the table: the share captured whole, the share of distinct
overloads without a verdict on each stack, and the findings at error level on known-good models on inf2 xla.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from neuronlint.capture.client import capture_models
from neuronlint.capture.messages import CaptureRequest
from neuronlint.finding import Severity
from neuronlint.graph.opgraph import OpGraph
from neuronlint.graph.rules import findings
from neuronlint.knowledge import Knowledge, Placement
from neuronlint.stack import Stack
from tests.accuracy._captured import ZOO

STACKS = {
    "native": Stack("trn2", "native", "2.33", "inference", "compile"),
    "xla": Stack("inf2", "xla", "2.33", "inference", "trace"),
}
SECONDS = 300


@dataclass
class Totals:
    """What the table adds up to. `verdicts` counts, by overload, the calls of each placement."""

    models: int = 0
    whole: int = 0
    verdicts: dict[str, dict[str, Counter[Placement]]] = field(default_factory=lambda: {"native": {}, "xla": {}})
    errors: list[str] = field(default_factory=list)

    def unknown(self, frontend: str) -> tuple[list[str], int]:
        """Overloads with a call that has no verdict, and how many overloads there are."""
        table = self.verdicts[frontend]
        return sorted(op for op, counts in table.items() if counts[Placement.UNKNOWN]), len(table)


def capture(reference: str, frontend: str) -> tuple[OpGraph | None, str]:
    """A model's graph, and what stopped it otherwise."""
    result = capture_models(CaptureRequest(model=reference, frontend=frontend), timeout=SECONDS)
    if result.graphs:
        return result.graphs[0], ""
    return None, result.failures[0].message if result.failures else result.skipped or "no model"


def row(entry: dict[str, Any], knowledge: Knowledge, totals: Totals) -> str:
    """One line of the table."""
    totals.models += 1
    cells: list[str] = []
    for frontend, stack in STACKS.items():
        graph, why = capture(entry["model"], frontend)
        if graph is None:
            cells += ["failed", why[:60]]
            continue
        found, verdicts = findings(graph, stack, knowledge)
        totals.whole += frontend == "xla" and graph.status == "captured"
        counts = Counter(verdict.placement for verdict in verdicts)
        for node, verdict in zip(graph.nodes, verdicts, strict=True):
            totals.verdicts[frontend].setdefault(node.call.op, Counter())[verdict.placement] += 1
        wrong = [f"{f.code} {f.op or ''}".strip() for f in found if f.severity is Severity.ERROR]
        if frontend == "xla" and entry.get("known_good") and wrong:
            totals.errors.append(f"{entry['model']}: {', '.join(wrong)}")
        if frontend == "native":
            cells += [graph.status, f"{graph.seconds:.1f}", str(len(graph.nodes))]
        cells.append(" ".join(f"{counts[p]}" for p in Placement) + f" ({len(wrong)} errors)")
    return " | ".join([entry["model"].split(":", 1)[-1][:48].ljust(48), *cells])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--min", type=float, default=0.0, help="exit 1 where fewer models are captured whole")
    options = parser.parse_args()
    knowledge, totals = Knowledge.load(), Totals()
    print(f"model | status | seconds | calls | trn2 native: {' '.join(Placement)} | inf2 xla: {' '.join(Placement)}")
    for entry in tomllib.loads(ZOO.read_text())["model"]:
        if not options.only or any(word.lower() in entry["model"].lower() for word in options.only):
            print(row(entry, knowledge, totals), flush=True)
    share = totals.whole / max(1, totals.models)
    print(f"captured whole: {totals.whole} of {totals.models} ({share:.1%})")
    for frontend, stack in STACKS.items():
        names, count = totals.unknown(frontend)
        unknown = len(names) / max(1, count)
        print(f"no verdict on {stack}: {len(names)} of {count} overloads ({unknown:.1%}): {' '.join(names)}")
    print(f"errors on known-good models on inf2 xla: {'; '.join(totals.errors) or 'none'}")
    return 0 if share >= options.min else 1


if __name__ == "__main__":
    raise SystemExit(main())
