"""Calls that documents or measurements of users show to be slow."""

from neuronlint.graph.rules.base import VerdictRule


class DocumentedSlow(VerdictRule):
    code = "NRN501"
