"""Scatters, index additions and collectives that combine integers."""

from neuronlint.graph.rules.base import VerdictRule


class IntegerReduction(VerdictRule):
    code = "NRN306"
