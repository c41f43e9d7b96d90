"""Operators that the frontend has no lowering for: they run on the host."""

from neuronlint.graph.rules.base import VerdictRule


class CpuFallback(VerdictRule):
    code = "NRN101"
