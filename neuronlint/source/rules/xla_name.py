"""Names of PyTorch/XLA: on TorchNeuron none exists, on PyTorch/XLA some are old."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from neuronlint.finding import Finding, Fix, Severity
from neuronlint.source.apis import Api, ApiRule, imports, rows
from neuronlint.source.edits import replaced
from neuronlint.source.file import SourceFile
from neuronlint.source.guarding import xla_guard
from neuronlint.source.literals import names_device
from neuronlint.source.tables import table
from neuronlint.source.tree import FUNCTIONS, argument
from neuronlint.stack import Stack, sdk_matches
