"""Counts of predictions held against real lowerings: per operator call, over models."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class Score:
    """Calls that do not run on the chip: predicted and real (`hit`), predicted only (`false`), real only (`missed`).

    `calls` counts all operator calls of the models. `faults` are the false and missed calls by operator with the
    models that have them, `unscored` the models that were not captured whole or whose real run died, `raised` those
    whose real run stopped, with whether that was predicted; only the calls up to there were compared.
    """

    models: int = 0
    calls: int = 0
    hit: int = 0
    false: int = 0
    missed: int = 0
    faults: dict[tuple[str, str], list[tuple[str, int]]] = field(default_factory=dict)
    unscored: dict[str, str] = field(default_factory=dict)
    raised: dict[str, tuple[str, bool]] = field(default_factory=dict)

    def add(self, model: str, predicted: Counter[str], real: Counter[str], *, stopped: bool = False) -> None:
        """Counts one model's calls by operator; where its run `stopped`, what was predicted beyond says nothing."""
        self.models += 1
        for op in sorted({*predicted, *real}):
            foreseen, seen = predicted[op], real[op]
            self.hit += min(foreseen, seen)
            if seen > foreseen:
                self.missed += seen - foreseen
                self._fault("missed", op, model, seen - foreseen)
            elif foreseen > seen and not stopped:
                self.false += foreseen - seen
                self._fault("false", op, model, foreseen - seen)

    def _fault(self, kind: str, op: str, model: str, count: int) -> None:
        self.faults.setdefault((op, kind), []).append((model, count))

    @property
    def precision(self) -> float:
        return self.hit / (self.hit + self.false) if self.false else 1.0

    @property
    def recall(self) -> float:
        return self.hit / (self.hit + self.missed) if self.missed else 1.0

    def __str__(self) -> str:
        counts = f"{self.models} models, {self.calls} calls, {self.hit} right, {self.false} false, {self.missed} missed"
        return f"{counts}: precision {self.precision:.4f}, recall {self.recall:.4f}"

    def to_json(self) -> dict[str, Any]:
        faults = [
            {"op": op, "kind": kind, "calls": sum(count for _, count in found), "models": [model for model, _ in found]}
            for (op, kind), found in sorted(self.faults.items())
        ]
        return {
            "models": self.models, "calls": self.calls, "hit": self.hit, "false": self.false, "missed": self.missed,
            "precision": round(self.precision, 4), "recall": round(self.recall, 4), "faults": faults,
            "unscored": self.unscored,
            "raised": {model: {"error": error, "predicted": known} for model, (error, known) in self.raised.items()},
        }  # fmt: skip
