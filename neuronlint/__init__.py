"""neuronlint: a graph compatibility linter and migration assistant for the AWS Neuron stack."""

__version__ = "0.1.0"
