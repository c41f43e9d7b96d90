"""The largest k of integers."""

from neuronlint.graph.rules.base import VerdictRule


class IntegerTopk(VerdictRule):
    code = "NRN307"
