"""Double precision, which the chip does not compute in."""

from neuronlint.graph.rules.base import VerdictRule


class Float64(VerdictRule):
    code = "NRN301"
