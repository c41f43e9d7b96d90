"""Operators that lower with some arguments and not with those of this call."""

from neuronlint.graph.rules.base import VerdictRule


class ConditionallySupported(VerdictRule):
    code = "NRN103"
