"""Whether a script never leaves the host, so that none of its loops waits for a device."""

from __future__ import annotations

import re

from neuronlint.source.file import SourceFile, once
from neuronlint.source.ragged import in_tests

_PLACES = re.compile(r"\.to\(|cuda|device|xla|neuron|accelerat|fabric|\bgpu|\bnpu|\bmps\b|deepspeed|Parallel", re.I)
_MAIN = "__main__"


@once
def stays_on_host(file: SourceFile) -> bool:
    """Whether a file with a main part of its own says nothing of a device, or holds tests.

    A function that other files call may be given what they have placed.
    """
    if in_tests(file) and file.holds(("pytest", "unittest")):
        return True
    if _PLACES.search(file.text) or file.roles.step_is_owned:
        return False  # a trainer of a library places the model by itself
    return _MAIN in file.text or any(file.tree.function(item.loop) is None for item in file.passes.training)
