"""Matrix products of integers."""

from neuronlint.graph.rules.base import VerdictRule


class IntegerMatmul(VerdictRule):
    code = "NRN305"
