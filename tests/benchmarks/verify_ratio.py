"""How much sooner the tables answer than a real lowering: `check` with and without `--verify`, in one run.

    python tests/benchmarks/verify_ratio.py [--python PATH] [--target inf2] [MODEL…]

Times are of whole processes, capture included; what is printed and tested is the ratio of the medians. Exits with 1
where `--verify` takes less than five times as long for the judgement itself, capture left out.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from typing import TYPE_CHECKING

from neuronlint import graph_lane
from neuronlint.capture.messages import CaptureRequest
from neuronlint.graph_lane import Verify
from neuronlint.limits import Limits
from neuronlint.stack import resolve

if TYPE_CHECKING:
    from neuronlint.capture.messages import CaptureResult
    from neuronlint.stack import Stack

MODELS = (
    "transformers:BertModel(BertConfig(num_hidden_layers=2))",
    "transformers:GPT2LMHeadModel(GPT2Config(n_layer=2))",
    "transformers:ViTModel(ViTConfig(num_hidden_layers=2))",
    "transformers:T5Model(T5Config(num_layers=2))",
    "transformers:Wav2Vec2Model(Wav2Vec2Config(num_hidden_layers=2))",
)
BOUND = 5.0
LIMITS = Limits(timeout=600)


def seconds(request: CaptureRequest, result: CaptureResult, stack: Stack, verify: Verify | None) -> float:
    """How long the judgement of a captured model takes."""
    started = time.perf_counter()
    lane = graph_lane.judge(request, result, stack, LIMITS, verify)
    assert lane.models, lane.problem or lane.skipped
    return time.perf_counter() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="*", default=MODELS)
    parser.add_argument("--python", help="the interpreter that lowers")
    parser.add_argument("--target")
    options = parser.parse_args()
    stack = resolve(options.target, None, None, "inference", None).stack
    graph_lane.knowledge()
    ratios, whole = [], []
    for model in options.models:
        request = CaptureRequest(model=model, frontend=stack.frontend)
        started = time.perf_counter()
        result = graph_lane.capture(request, LIMITS)
        captured = time.perf_counter() - started
        by_tables = min(seconds(request, result, stack, None) for _ in range(3))
        lowered = seconds(request, result, stack, Verify(options.python))
        ratios.append(lowered / by_tables)
        whole.append((captured + lowered) / (captured + by_tables))
        print(f"{model}: capture {captured:.2f} s, tables {by_tables:.3f} s, lowering {lowered:.2f} s", flush=True)
    found = {"judgement": round(statistics.median(ratios), 1), "whole check": round(statistics.median(whole), 1)}
    print(json.dumps({"stack": str(stack), "median times slower with --verify": found}))
    return 0 if statistics.median(ratios) >= BOUND else 1


if __name__ == "__main__":
    sys.exit(main())
