"""What is known of operators on Neuron: one question, `Knowledge.judge`, answered from the data of `rules/`.

The names are loaded when they are first asked for: the texts of the rules, in this package too, are wanted by commands
that judge nothing.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from neuronlint.knowledge.judge import Knowledge
    from neuronlint.knowledge.verdict import Advice, Consequence, Placement, Reason, Verdict

__all__ = ["Advice", "Consequence", "Knowledge", "Placement", "Reason", "Verdict"]


def __getattr__(name: str) -> object:
    if name not in __all__:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    home = "judge" if name == "Knowledge" else "verdict"
    return getattr(importlib.import_module(f"{__name__}.{home}"), name)
