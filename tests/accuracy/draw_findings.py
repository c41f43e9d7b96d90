"""Draws findings of the source lane over real code, with a fixed seed, to be read and judged one by one.

    python -m tests.accuracy.draw_findings --corpus torchvision=PATH timm=PATH … > drawn.jsonl

At most five a rule and, where they can be had, one a file; the rules take turns, so that rare ones are not drowned by
common ones. Each row has the finding as its user sees it on one of two stacks (trn2 native, trn1 lazy) and the source
around it. The judged table is `findings.toml`; `score_findings.py` checks and sums it up.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import warnings
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neuronlint.finding import Finding
from neuronlint.source_lane import check_text
from neuronlint.stack import Stack, resolve
from neuronlint.text import decode

SEED = 20261130
MOST, MOST_A_RULE = 100, 5
STACKS = {
    "native": resolve("trn2", "native").stack,
    "xla": resolve("trn1", "xla", "2.29", "training", "lazy").stack,
}
AROUND = 4


def found(name: str, root: Path, stack: Stack) -> Iterator[tuple[Finding, list[str]]]:
    """Every finding of the source rules under a folder, with its file's lines."""
    for path in sorted(root.rglob("*.py")):
        try:
            text = decode(path.read_bytes())
            result = check_text(f"{name}/{path.relative_to(root).as_posix()}", text, stack)
        except (SyntaxError, ValueError, LookupError):
            continue
        yield from ((finding, text.split("\n")) for finding in result.findings)


def row(stack: str, finding: Finding, lines: list[str]) -> dict[str, Any]:
    span = finding.span
    assert span is not None
    first = max(span.line - 1 - AROUND, 0)
    return {
        "code": finding.code, "stack": stack, "severity": str(finding.severity), "path": span.path, "line": span.line,
        "source": lines[span.line - 1].strip(), "message": finding.message, "then": finding.then,
        "help": finding.help, "around": lines[first : span.end_line + AROUND],
    }  # fmt: skip


def drawn(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """A fair draw: rule by rule in turn, files not seen before first, the same place on both stacks only once."""
    random.Random(SEED).shuffle(rows)  # noqa: S311 - a draw, no secret
    by_rule: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for item in rows:
        by_rule[item["code"]].append(item)
    chosen: list[dict[str, Any]] = []
    places: set[tuple[str, str, int]] = set()
    for _ in range(MOST_A_RULE):
        for code in sorted(by_rule):
            files = {item["path"] for item in chosen if item["code"] == code}
            left = [item for item in by_rule[code] if (code, item["path"], item["line"]) not in places]
            fresh = [item for item in left if item["path"] not in files] or left
            if fresh and len(chosen) < MOST:
                chosen.append(fresh[0])
                places.add((code, fresh[0]["path"], fresh[0]["line"]))
    return sorted(chosen, key=lambda item: (item["code"], item["path"], item["line"]))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--corpus", nargs="+", required=True, metavar="NAME=PATH")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    corpus = [entry.split("=", 1) for entry in options.corpus]
    rows = [
        row(stack_name, finding, lines)
        for stack_name, stack in STACKS.items()
        for name, root in corpus
        for finding, lines in found(name, Path(root), stack)
    ]
    for item in drawn(rows):
        sys.stdout.write(json.dumps(item) + "\n")
    sys.stderr.write(f"{len(rows)} findings of {len({item['code'] for item in rows})} rules\n")


if __name__ == "__main__":
    main()
