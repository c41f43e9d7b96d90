"""Trainers of transformers and trl whose data set is no whole number of their batches."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from neuronlint.source.lengths import Lengths
from neuronlint.source.spread import given
from neuronlint.source.tree import constant, keyword

if TYPE_CHECKING:
    from neuronlint.source.file import SourceFile

DROP = "dataloader_drop_last"
SIZE = "per_device_train_batch_size"
_ARGUMENTS = ("transformers.*TrainingArguments", "trl.*Config")
_TRAINERS = ("transformers.*Trainer", "trl.*Trainer")


def uneven(file: SourceFile) -> Iterator[ast.Call]:
    """The arguments of a trainer whose last batch is smaller: only where the file says how many samples there are."""
    lengths = Lengths(file)
    for call in file.names.calls_like(_ARGUMENTS):
        dropped = given(file, call, DROP)
        batch = lengths.number(given(file, call, SIZE))
        sets = [keyword(made, "train_dataset") for made in file.names.calls_like(_TRAINERS)]
        count = lengths.length(sets[0]) if len(sets) == 1 else None
        if batch and count and count % batch and (dropped is None or constant(dropped) is False):
            yield call
