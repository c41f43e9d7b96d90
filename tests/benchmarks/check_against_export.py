"""The whole check of Llama-3-70B against a process that only builds the model and exports it, in one run.

    python tests/benchmarks/check_against_export.py [--rounds N]

Needs torch and transformers. Prints the wall time and the peak resident memory of both, run in turn, and the ratio of
their medians; exits 1 where the check is not the faster or takes more than 4 GiB.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time

CONFIG = (
    "LlamaConfig(hidden_size=8192,intermediate_size=28672,num_hidden_layers=80,num_attention_heads=64,"
    "num_key_value_heads=8,vocab_size=128256,max_position_embeddings=8192)"
)
EXPORT = f"""
import torch
from transformers import LlamaConfig, LlamaForCausalLM
with torch.device("meta"):
    model = LlamaForCausalLM({CONFIG}).eval()
ids = torch.ones(1, 128, dtype=torch.int64, device="meta")
torch.export.export(model, (ids,), {{"attention_mask": torch.ones_like(ids), "use_cache": False}})
"""
CHECK = [
    sys.executable,
    "-m",
    "neuronlint",
    "check",
    "--fail-on",
    "never",
    "--model",
    f"transformers:LlamaForCausalLM({CONFIG})",
]
LIMIT_GIB = 4.0


def run(command: list[str]) -> tuple[float, float]:
    """Wall seconds and peak GiB of a command and its children."""
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command[:4]} ended with {process.returncode}")
    return time.perf_counter() - started, usage.ru_maxrss / (1 << 20)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    rounds = [(run(CHECK), run([sys.executable, "-c", EXPORT])) for _ in range(parser.parse_args().rounds)]
    check, export = ([pair[i] for pair in rounds] for i in (0, 1))
    ratio = statistics.median(c[0] / e[0] for c, e in rounds)
    peak = max(gib for _, gib in check)
    for name, measured in (("check", check), ("export", export)):
        print(
            f"{name:7} {statistics.median(s for s, _ in measured):6.1f} s  {max(gib for _, gib in measured):5.2f} GiB"
        )
    print(f"check / export: {ratio:.2f}")
    return 0 if ratio <= 1 and peak <= LIMIT_GIB else 1


if __name__ == "__main__":
    raise SystemExit(main())
