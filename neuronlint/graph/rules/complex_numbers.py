"""Complex tensors."""

from neuronlint.graph.rules.base import VerdictRule


class ComplexNumbers(VerdictRule):
    code = "NRN303"
