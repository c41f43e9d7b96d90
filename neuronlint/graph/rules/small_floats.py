"""Floats of eight and four bits that a target does not know."""

from neuronlint.graph.rules.base import VerdictRule


class SmallFloats(VerdictRule):
    code = "NRN304"
