"""Measures what torch_xla lowers, call by call, and writes `rules/operators/xla-torch_xla-<version>.jsonl`.

Run from the root of the repository with an interpreter that has torch, torch_xla and torchvision:

    python -m tests.accuracy.lower_xla [--calls FILE.jsonl ...] [--work DIR]

Calls come from torch's operator database, from its gradients and from optimizer steps (`_gradients.py`), from
`_extra_calls.py`, and from files of harvested calls. Each is replayed
with functionalization off, which is torch-neuronx's default, and on. With `--work`, what is recorded and replayed is
kept in that folder and not done again; without it, every run starts afresh.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import sys
import tempfile
import tomllib
import zlib
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from neuronlint.capture.replaying import overload
from neuronlint.edits import write_atomically
from tests.accuracy._extra_calls import extra_calls
from tests.accuracy._harvested import read_calls
from tests.accuracy._record import Recorder, Sample, record_op_db, record_training, seed, select, spread
from tests.accuracy._replay import MODES, Outcome, replay
from tests.accuracy._tabulate import Condition, Measured, homogeneous, majority, partition, row, verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

RULES = Path("rules/operators")
CONDITIONS = RULES / "xla-conditions.toml"
PER_HARVESTED, COMPARED_PER_OPERATOR, MAX_COMPARED = 40, 16, 1 << 16
SCRIPT = "tests/accuracy/lower_xla.py"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=Path, nargs="*", default=[], help="files of calls as OperatorCall.to_json")
    parser.add_argument("--work", type=Path, help="folder that keeps recorded calls and outcomes")
    parser.add_argument("--lowering-only", action="store_true", help="quick look: compare no values")
    options = parser.parse_args()
    if os.environ.get("PYTHONHASHSEED") != "0":  # some sample generators walk over sets
        command = [sys.executable, "-m", "tests.accuracy.lower_xla", *sys.argv[1:]]
        os.execve(sys.executable, command, {**os.environ, "PYTHONHASHSEED": "0"})  # noqa: S606 - this very script
    with tempfile.TemporaryDirectory() as fresh:
        work = options.work or Path(fresh)
        work.mkdir(parents=True, exist_ok=True)
        samples = collect(options.calls, work)
        compared = set() if options.lowering_only else to_compare(samples)
        outcomes = {mode: observe_all(samples, mode, work, compared) for mode in MODES}
    write(RULES / f"xla-torch_xla-{version('torch_xla').rsplit('.', 1)[0]}.jsonl", table(samples, outcomes))


def version(package: str) -> str:
    from importlib.metadata import version as installed

    return installed(package)


def collect(files: Sequence[Path], work: Path) -> list[Sample]:
    """The calls to replay, sorted: a selection of those recorded, and all forms of those given."""
    database = _recorded(work / "op_db.pickle", record_op_db)
    training = _recorded(work / "training.pickle", record_training)
    forward = {sample.call.op for sample in database.values()}
    training = {key: sample for key, sample in training.items() if sample.call.op not in forward}
    extra = Recorder()
    seed("extra")
    for thunk in extra_calls():
        extra.run(thunk)
    chosen = {**harvested(files), **database, **training, **extra.samples}
    return [chosen[key] for key in sorted(chosen)]


def _recorded(kept: Path, record: Callable[[Recorder], None]) -> dict[str, Sample]:
    """A selection of what is recorded, or the one that an earlier run kept."""
    if kept.exists():
        samples: dict[str, Sample] = pickle.loads(kept.read_bytes())  # noqa: S301
        return samples
    recorder = Recorder()
    record(recorder)
    samples = {sample.key: sample for sample in select(recorder.samples)}
    kept.write_bytes(pickle.dumps(samples))
    return samples


def harvested(files: Sequence[Path]) -> dict[str, Sample]:
    """Calls of real models, a bounded number of each overload."""
    by_op: dict[str, dict[str, Sample]] = defaultdict(dict)
    for path in files:
        for sample in read_calls(path):
            by_op[sample.call.op].setdefault(sample.key, sample)
    return {key: by_op[op][key] for op in by_op for key in spread(sorted(by_op[op]), PER_HARVESTED)}


def to_compare(samples: Sequence[Sample]) -> set[str]:
    """The calls whose values are compared as well: a spread of each overload's, as each costs a compilation."""
    by_op: dict[str, list[str]] = defaultdict(list)
    for sample in samples:
        small = sum(tensor.numel for tensor in sample.call.tensors()) <= MAX_COMPARED
        if small and sample.has_values and sample.call.arguments.get("sorted") is not False:
            by_op[sample.call.op].append(sample.key)
    return {key for keys in by_op.values() for key in spread(keys, COMPARED_PER_OPERATOR)}


def observe_all(samples: Sequence[Sample], mode: str, work: Path, compared: set[str]) -> dict[str, Outcome]:
    """The outcome of every call by its key: first all are lowered, then the chosen ones that lower are run as well.

    Wrong values count where a second run gives them too, among other calls and in a shuffled order: torch_xla's cache
    of compiled graphs takes some calls for one another (`pixel_shuffle` with different factors, `avg_pool3d` with
    different divisors). Outcomes kept in `work` are not observed again.
    """
    kept = work / f"outcomes-{mode}.json"
    outcomes: dict[str, Outcome] = json.loads(kept.read_text()) if kept.exists() else {}
    _observe([sample for sample in samples if sample.key not in outcomes], outcomes, kept, mode, compare=False)
    runs = [sample for sample in samples if sample.key in compared and _worth_running(outcomes[sample.key])]
    _observe(runs, outcomes, kept, mode, compare=True)
    wrong = [s for s in samples if "wrong" in outcomes[s.key] and "confirmed" not in outcomes[s.key]]
    _observe(wrong, outcomes, kept, mode, compare=True, mark="confirmed")
    return outcomes


def _worth_running(outcome: Outcome) -> bool:
    return not outcome.keys() & {"compared", "skip", "crash", "error", "custom_calls"}


def _observe(
    samples: Sequence[Sample],
    outcomes: dict[str, Outcome],
    kept: Path,
    mode: str,
    compare: bool,
    mark: str = "compared",
) -> None:
    shuffled = sorted(samples, key=lambda sample: zlib.crc32(sample.key.encode()))
    calls = [(sample.call.op, sample.args, sample.kwargs, compare) for sample in shuffled]
    for sample, outcome in zip(shuffled, replay(calls, mode, kept.parent), strict=True):
        outcomes[sample.key] = {**outcome, "compared": True, mark: True} if compare else outcome
    kept.write_text(json.dumps(outcomes))


def table(samples: Sequence[Sample], outcomes: dict[str, dict[str, Outcome]]) -> list[dict[str, Any]]:
    """Every row of the table; mixed operators are named on stderr."""
    conditions = [
        Condition(entry["op"], entry["when"], entry.get("functionalization"))
        for entry in tomllib.loads(CONDITIONS.read_text())["condition"]
    ]
    by_op: dict[str, list[Sample]] = defaultdict(list)
    for sample in samples:
        by_op[sample.call.op].append(sample)
    rows: list[dict[str, Any]] = []
    for op in sorted(by_op):
        per_mode = {mode: list(_rows(op, mode, by_op[op], outcomes[mode], conditions)) for mode in MODES}
        rows.extend(_merged(per_mode["off"], per_mode["on"]))
    _summarise(rows)
    return [{**made, "made_by": SCRIPT, "with": f"torch_xla {version('torch_xla')}"} for made in rows]


def _rows(
    op: str, mode: str, samples: Sequence[Sample], outcomes: dict[str, Outcome], conditions: Sequence[Condition]
) -> Iterator[dict[str, Any]]:
    """The rows of one operator in one mode. That made-up values bring a process down says nothing of the operator."""
    if not is_asked_for(op):
        return
    lowered = has_kernel(op)
    samples = [sample for sample in samples if sample.has_values or "crash" not in outcomes[sample.key]]
    seen_of = {sample.key: outcomes[sample.key] for sample in samples}
    if not any("wrong" in seen_of[sample.key] and _is_precise(sample) for sample in samples):
        seen_of = {key: _but_wrong(outcome) for key, outcome in seen_of.items()}
    if any("wrong" in outcome for outcome in seen_of.values()):  # then to lower says little of the values
        samples = [sample for sample in samples if _settled(seen_of[sample.key])]
    judged = [(sample.call, verdict(seen_of[sample.key], lowered)) for sample in samples]
    measured = [Measured(call, seen) for call, seen in judged if seen is not None]
    if not measured:
        return
    groups = partition(op, mode, measured, conditions)
    for group in groups:
        if not homogeneous(group.samples):
            counts = Counter(" ".join(sample.verdict.kind) for sample in group.samples)
            print(
                f"mixed, {mode}: {op} when {group.when}: {dict(counts)} -> {majority(group.samples)}", file=sys.stderr
            )
        yield row(op, group)
    if groups[-1].when is not None:
        yield {"op": op, "placement": "unknown", "reason": "unmeasured", "confidence": "low", "samples": 0}


def _is_precise(sample: Sample) -> bool:
    """Whether no operand is of half precision, where another order of roundings is no wrong value."""
    return not any(meta.dtype in ("float16", "bfloat16") for meta in sample.call.tensors())


def _but_wrong(outcome: Outcome) -> Outcome:
    return {name: value for name, value in outcome.items() if name != "wrong"}


def is_asked_for(op: str) -> bool:
    """Whether a device of torch_xla is ever asked for a gradient: not where the forward has an autograd kernel."""
    import torch_xla  # noqa: F401 - registers its operators

    name, ending, variant = overload(op).name().partition("_backward")
    if not ending or variant or not torch._C._dispatch_has_kernel(name):
        return True
    return not torch._C._dispatch_has_kernel_for_dispatch_key(name, "AutogradXLA")


def _settled(outcome: Outcome) -> bool:
    return bool(outcome.keys() & {"compared", "error", "crash"} or outcome.get("host"))


def has_kernel(op: str) -> bool:
    """Whether torch_xla registers a kernel of its own for an overload; importing it registers them."""
    import torch_xla  # noqa: F401 - registers its operators
    import torchvision  # noqa: F401 - registers its operators

    name = overload(op).name()
    return any(torch._C._dispatch_has_kernel_for_dispatch_key(name, key) for key in ("XLA", "AutogradXLA"))


_AGREE = ("when", "placement", "reason", "custom_calls", "dynamic")


def _merged(off: list[dict[str, Any]], on: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """One list of rows where both modes agree, else those of `off` and then those of `on`."""
    if [[made.get(name) for name in _AGREE] for made in off] != [[made.get(name) for name in _AGREE] for made in on]:
        for mode, part in (("off", off), ("on", on)):
            for made in part:
                yield {"op": made["op"], "functionalization": mode, **made}
        return
    for one, other in zip(off, on, strict=True):
        both = {name: sorted({*one.get(name, ()), *other.get(name, ())}) for name in ("host", "lowers_to")}
        yield {**one, **{name: value for name, value in both.items() if value}}


def _summarise(rows: Sequence[dict[str, Any]]) -> None:
    counts = Counter((made.get("functionalization", "both"), made["placement"]) for made in rows)
    for (mode, placement), count in sorted(counts.items()):
        print(f"{count:6} rows {placement}, functionalization {mode}", file=sys.stderr)
    print(f"{len({made['op'] for made in rows}):6} operators", file=sys.stderr)


def write(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Writes lines of JSON in one step, so that no reader sees half a table."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(json.dumps(made, ensure_ascii=False) + "\n" for made in rows).encode())


if __name__ == "__main__":
    main()
