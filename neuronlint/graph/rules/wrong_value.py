"""Calls that run and give wrong values."""

from neuronlint.graph.rules.base import VerdictRule


class WrongValue(VerdictRule):
    code = "NRN105"
