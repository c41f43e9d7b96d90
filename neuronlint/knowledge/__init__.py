"""What is known of operators on Neuron: one question, `Knowledge.judge`, answered from the data of `rules/`."""

from neuronlint.knowledge.judge import Knowledge
from neuronlint.knowledge.verdict import Advice, Consequence, Placement, Reason, Verdict

__all__ = ["Advice", "Consequence", "Knowledge", "Placement", "Reason", "Verdict"]
