"""Indices that run past the dimension they read or write."""

from neuronlint.graph.rules.base import VerdictRule


class IndexLimit(VerdictRule):
    code = "NRN606"
