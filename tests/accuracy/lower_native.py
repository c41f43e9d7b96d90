"""Measures which operator calls upstream torch-mlir lowers to StableHLO, for the native compile frontend.

    python -m tests.accuracy.lower_native [--calls FILE.jsonl]… [--cache FILE] [--only NAME]

It needs torch, torchvision and torch-mlir (`envs.sh zoo`) and takes about ten minutes on one idle core. Each distinct
call of torch's operator database, of its gradients and of optimizer steps (`_gradients.py`), of `_native_extras.py`
and of `--calls` is lowered by itself, in a worker process, and the outcomes are put in rows of
`rules/operators/native-torch_mlir-VERSION.jsonl`, told apart by the conditions of `native-conditions.toml` and by
found ones. `emits` of a row names element types that the lowering brings in by itself; `--cache FILE --from-cache`
makes the rows anew in seconds.

Calls go through AOTAutograd alone, since Dynamo only wraps them: `--check-dynamo N` compares the verdicts of N calls
with those that come through `torch.compile`. With torch 2.14.1, 297 of 300 agreed, and on the rest (sparse tensors, a
view outside its own storage) Dynamo broke the graph.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint.edits import write_atomically
from tests.accuracy._native_pool import Worker, serve_forever
from tests.accuracy._native_table import Measured, read_conditions, table

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from neuronlint.call import OperatorCall

ROOT = Path(__file__).resolve().parents[2]
OPERATORS = ROOT / "rules" / "operators"
MADE_BY = "tests/accuracy/lower_native.py"


def main(argv: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(argv)
    if options.worker:
        from neuronlint.capture.lowering_native import serve

        serve_forever(serve)
        return 0
    worker = Worker("tests.accuracy.lower_native", options.timeout)
    try:
        measured = _cached(options.cache) if options.from_cache else _measure(_calls(options), worker, options.cache)
        if options.check_dynamo:
            return _check_dynamo(measured, worker, options.check_dynamo)
    finally:
        worker.close()
    return _write(measured, options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=Path, action="append", default=[], help="calls of real models, JSON lines")
    parser.add_argument("--cache", type=Path, help="outcomes of an earlier run, read and brought up to date")
    parser.add_argument("--from-cache", action="store_true", help="make the table of the cache alone, without torch")
    parser.add_argument("--only", default="", help="operators of op_db whose name holds this; writes nothing")
    parser.add_argument("--timeout", type=float, default=20, help="seconds for one call")
    parser.add_argument("--check-dynamo", type=int, default=0, metavar="N", help="compare N calls with torch.compile")
    parser.add_argument("--output", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return parser


def _calls(options: argparse.Namespace) -> list[OperatorCall]:
    """The calls to lower, from each of the three sources so many of an overload at most."""
    from tests.accuracy._native_calls import (
        LIMIT,
        CallBook,
        read_calls,
        record_composites,
        record_extras,
        record_op_db,
        record_training,
    )
    from tests.accuracy._native_extras import composites, extras

    logging.disable(logging.CRITICAL)  # torch logs every sample that it refuses
    books = [CallBook(LIMIT), CallBook(3 * LIMIT), CallBook(LIMIT), CallBook(LIMIT)]
    record_op_db(books[0], options.only)
    record_training(books[3], options.only)
    for op in books[0].by_op:
        books[3].by_op.pop(op, None)  # gradients of most operators are made of others, which have their samples
    if not options.only:
        refused = record_extras(books[1], extras())
        record_composites(books[1], composites())
        print(f"{refused} extra calls could not be run", file=sys.stderr)
        for path in options.calls:
            read_calls(books[2], path.read_text().splitlines())
    distinct = {call.signature: call for book in books for call in book.selection()}
    print(f"{len(distinct)} calls of {len({call.op for call in distinct.values()})} overloads", file=sys.stderr)
    return [distinct[name] for name in sorted(distinct)]


def _measure(calls: Iterable[OperatorCall], worker: Worker, cache: Path | None) -> list[Measured]:
    """Lowers each call, or takes its outcome from the cache."""
    known = {item.call.signature: item.outcome for item in _cached(cache)}
    measured = []
    with open(os.devnull if cache is None else cache, "a") as out:
        for count, call in enumerate(calls):
            name = call.signature
            if name not in known:
                known[name] = worker.ask({"call": call.to_json()})
                print(json.dumps({"call": call.to_json(), "outcome": known[name]}), file=out, flush=True)
            measured.append(Measured(call, known[name]))
            if count % 1000 == 999:
                print(f"{count + 1} calls lowered", file=sys.stderr)
    if cache is not None:
        lines = (json.dumps({"call": item.call.to_json(), "outcome": item.outcome}) for item in measured)
        cache.write_text("".join(line + "\n" for line in lines))
    return measured


def _cached(cache: Path | None) -> list[Measured]:
    """What an earlier run measured."""
    from neuronlint.call import OperatorCall

    if cache is None or not cache.exists():
        return []
    entries = [json.loads(line) for line in cache.read_text().splitlines()]
    return [Measured(OperatorCall.from_json(entry["call"]), entry["outcome"]) for entry in entries]


def _check_dynamo(measured: Sequence[Measured], worker: Worker, count: int) -> int:
    """Lowers some calls through Dynamo too, one or two of an overload, and prints those whose verdict differs."""
    by_op: dict[tuple[str, str], Measured] = {}
    for item in measured:
        by_op.setdefault((item.call.op, str(item.outcome["status"])), item)
    items = [by_op[name] for name in sorted(by_op)]
    step = max(1, len(items) // count)
    differ = 0
    for item in items[::step][:count]:
        other = worker.ask({"call": item.call.to_json(), "path": "dynamo"})
        if other["status"] != item.outcome["status"]:
            differ += 1
            print(f"{item.call.op}: {item.outcome['status']}, through Dynamo {other['status']} {other.get('error')}")
    print(f"{differ} of {min(count, len(items))} differ", file=sys.stderr)
    return int(differ > 0)


def _write(measured: Sequence[Measured], options: argparse.Namespace) -> int:
    torch_mlir = version("torch-mlir")
    output = options.output or OPERATORS / f"native-torch_mlir-{torch_mlir}.jsonl"
    made = {"made_by": MADE_BY, "with": f"torch-mlir {torch_mlir}, torch {version('torch').split('+')[0]}"}
    conditions = read_conditions(OPERATORS / "native-conditions.toml")
    rows = [{**row, **made} for row in table(measured, conditions, lambda note: print(note, file=sys.stderr))]
    if options.only:
        print("\n".join(json.dumps(row) for row in rows))
        return 0
    write_atomically(output, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode())
    print(f"{len(rows)} rows in {output}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
