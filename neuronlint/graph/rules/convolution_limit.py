"""Convolutions whose arguments the compiler does not take."""

from neuronlint.graph.rules.base import VerdictRule


class ConvolutionLimit(VerdictRule):
    code = "NRN604"
