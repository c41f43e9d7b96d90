"""The errors that end a run: each knows its exit code and says, in one line, what to do."""

from __future__ import annotations


class NeuronlintError(Exception):
    """The base: a user error prints one line and the way out, exit code 2."""

    exit_code = 2


class ConfigurationError(NeuronlintError):
    """An option, a settings file or a stack that does not fit: names the file and the line where it can."""


class InputSpecError(NeuronlintError):
    """An `--input` that does not parse, or does not fit the model."""


class KnowledgeError(NeuronlintError):
    """A file of `rules/` or an overlay that cannot be read: names the file and the line."""
