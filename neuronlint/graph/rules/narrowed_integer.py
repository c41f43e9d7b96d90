"""Integers that the front end narrows, and values that do not survive it."""

from neuronlint.graph.rules.base import VerdictRule


class NarrowedInteger(VerdictRule):
    code = "NRN302"
