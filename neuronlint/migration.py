"""From paths to the plan of a migration: which files, which stack, and what the codemods make of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from neuronlint.config import load
from neuronlint.discovery import discover
from neuronlint.errors import ConfigurationError
from neuronlint.migrate import Journey, migrate
from neuronlint.migrate.plan import Plan
from neuronlint.stack import resolve

_TARGETS = {"native": "trn2", "xla": "trn1"}
_TRAINS = (b".backward(", b"Trainer(")


@dataclass(frozen=True, slots=True)
class Options:
    """What a migration is asked for."""

    paths: tuple[str, ...]
    to: str = "native"
    origin: str = ""
    unsafe: bool = False
    annotate: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """The plan, and one line for each path that could not be read."""

    plan: Plan
    problems: tuple[str, ...] = ()


def run(options: Options) -> Outcome:
    """Reads the files of the paths and plans their migration; nothing is written. Raises `ConfigurationError`."""
    if options.origin == options.to:
        raise ConfigurationError("--from xla and --to xla are one stack; --to native is the other")
    settings = load(Path.cwd())
    found = discover(options.paths, settings.exclude)
    problems = list(found.problems)
    files: dict[str, bytes] = {}
    for file in found.files:
        try:
            files[file.path] = Path(file.path).read_bytes()
        except OSError as error:
            problems.append(f"{file.path}: cannot be read: {error.strerror or error}")
    trains = any(word in data for data in files.values() for word in _TRAINS)
    stack = resolve(_TARGETS[options.to], options.to, mode="training" if trains else "inference").stack
    journey = Journey(options.to, stack, options.origin, unsafe=options.unsafe, annotate=options.annotate)
    plans = migrate(files, journey, found.packages)
    problems += [plan.problem for plan in plans if plan.problem]
    return Outcome(Plan(options.to, str(stack), tuple(plans)), tuple(problems))
