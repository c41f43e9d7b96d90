"""Single tensors above the size that one graph input or output may have."""

from neuronlint.graph.rules.base import VerdictRule


class SizeLimit(VerdictRule):
    code = "NRN602"
