"""Windowed reductions whose arguments the compiler does not take."""

from neuronlint.graph.rules.base import VerdictRule


class WindowLimit(VerdictRule):
    code = "NRN605"
