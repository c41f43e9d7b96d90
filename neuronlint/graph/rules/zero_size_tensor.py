"""Tensors without elements, which the compiler does not take."""

from neuronlint.graph.rules.base import VerdictRule


class ZeroSizeTensor(VerdictRule):
    code = "NRN203"
