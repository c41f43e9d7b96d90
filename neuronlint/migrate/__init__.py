"""Migration of scripts: what codemods change, and what is left to a person."""

from __future__ import annotations

from neuronlint.migrate.engine import migrate
from neuronlint.migrate.journey import Journey

__all__ = ["Journey", "migrate"]
