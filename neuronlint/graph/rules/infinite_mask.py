"""Masks of minus infinity."""

from neuronlint.graph.rules.base import VerdictRule


class InfiniteMask(VerdictRule):
    code = "NRN308"
