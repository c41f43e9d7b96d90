"""Graphs of the models of `zoo.toml`, captured as `check` does and kept in a folder."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronlint.graph.opgraph import OpGraph
from tests.accuracy._forks import forked

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ZOO = Path(__file__).with_name("zoo.toml")
SECONDS = 300.0
MODES = ("inference", "training")


def references(words: Sequence[str] = (), subset: bool = False) -> Iterator[str]:
    """The models, at the size named `small` where there is one; with `subset` those for every change."""
    for row in tomllib.loads(ZOO.read_text())["model"]:
        reference = row.get("small") or row["model"]
        if (not subset or row.get("subset")) and (not words or any(w.lower() in reference.lower() for w in words)):
            yield reference


def graph_of(reference: str, frontend: str, mode: str, work: Path) -> tuple[OpGraph | None, str]:
    """A model's graph, from `work` where it is kept; else None and what stopped it."""
    kept = kept_file(work, "graph", reference, frontend, mode)
    if not kept.exists():
        kept.parent.mkdir(parents=True, exist_ok=True)
        data, why = forked(lambda: _capture(reference, frontend, mode), SECONDS)
        kept.write_bytes(gzip.compress(json.dumps(data or {"why": why}).encode(), mtime=0))
    data = json.loads(gzip.decompress(kept.read_bytes()))
    if "graph" not in data:
        return None, data["why"]
    return OpGraph.from_json(data["graph"]), ""


def kept_file(work: Path, *words: str) -> Path:
    """A file of its own for these words."""
    return work / words[0] / f"{hashlib.sha256(' '.join(words).encode()).hexdigest()[:16]}.json.gz"


def _capture(reference: str, frontend: str, mode: str) -> dict[str, Any]:
    """The work of the capture process, in this one."""
    from neuronlint.capture.worker import Worker

    results = io.StringIO()
    request: dict[str, Any] = {
        "path": None, "model": reference, "inputs": [], "mode": mode, "frontend": frontend, "observe": False,
        "optimizer": None, "settings_models": [], "skip": [],
    }  # fmt: skip
    Worker(request, results).run()
    lines = [json.loads(line) for line in results.getvalue().splitlines()]
    found = next((line for line in lines if "graph" in line), None)
    if found is not None and found["graph"]["status"] == "captured":
        return {"graph": found["graph"]}
    said = next((line.get("message") or line.get("why") for line in lines if "fail" in line or "missing" in line), None)
    return {"why": said or "captured in part"}
