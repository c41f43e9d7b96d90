"""Integer powers and shifts."""

from neuronlint.graph.rules.base import VerdictRule


class IntegerArithmetic(VerdictRule):
    code = "NRN607"
