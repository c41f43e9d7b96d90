"""Stacks: target, frontend, SDK release, mode and execution, and which of them go together.

What exists is data, in `rules/stacks/stacks.toml`; this module only combines it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, cast

from neuronlint.data import load_toml, rules_root
from neuronlint.errors import ConfigurationError
from neuronlint.nearest import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

TARGETS = ("inf2", "trn1", "trn2", "trn3")
FRONTENDS = ("native", "xla")
MODES = ("inference", "training")
EXECUTIONS = {"native": ("compile", "eager"), "xla": ("trace", "lazy")}
DEFAULT_TARGET = "trn2"

Release = tuple[int, ...]


def release(text: str) -> Release:
    """`2.33` or `2.33.0` as (2, 33). Raises `ConfigurationError` where it is no release."""
    if not re.fullmatch(r"\d+\.\d+(\.\d+)*", text.strip()):
        raise ConfigurationError(f"`{text}` is no SDK release; write it as 2.33")
    major, minor = text.strip().split(".")[:2]
    return int(major), int(minor)


def sdk_matches(spec: str, sdk: str) -> bool:
    """Whether an SDK release lies in a range such as `>=2.27,<2.32` or `*`."""
    if spec in ("", "*"):
        return True
    return _matches(spec, release(sdk))


@cache
def _parse_range(spec: str) -> tuple[tuple[str, Release], ...]:
    parts = []
    for part in spec.split(","):
        match = re.fullmatch(r"\s*(>=|<=|<|>|==)?\s*(\d+(?:\.\d+)*)\s*", part)
        if match is None:
            raise ConfigurationError(f"`{spec}` is no range of SDK releases; write it as >=2.27,<2.32")
        numbers = tuple(int(n) for n in match[2].split("."))[:2]
        parts.append((match[1] or "==", numbers if len(numbers) == 2 else (*numbers, 0)))
    return tuple(parts)


@cache
def _matches(spec: str, sdk: Release) -> bool:
    tests = {
        ">=": sdk.__ge__, "<=": sdk.__le__, "<": sdk.__lt__, ">": sdk.__gt__, "==": sdk.__eq__,
    }  # fmt: skip
    return all(tests[sign](bound) for sign, bound in _parse_range(spec))


@dataclass(frozen=True, slots=True)
class Stack:
    """One way to a chip. `functionalization` is torch_xla's switch: off in torch-neuronx, and moot on native."""

    target: str = DEFAULT_TARGET
    frontend: str = "native"
    sdk: str = "2.33"
    mode: str = "inference"
    execution: str = "compile"
    functionalization: bool = False

    def __str__(self) -> str:
        return f"{self.target}, {self.frontend} {self.execution}, SDK {self.sdk}, {self.mode}"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A stack, and what to tell the user of it (an ended combination), or an empty string."""

    stack: Stack
    note: str = ""


def resolve(
    target: str | None = None,
    frontend: str | None = None,
    sdk: str | None = None,
    mode: str = "inference",
    execution: str | None = None,
) -> Resolved:
    """The stack that the words name, defaults filled in.

    Raises `ConfigurationError` for a word that is unknown and for a combination that never existed, naming those
    that do. One that has ended is given with a note.
    """
    target = _target(target or str(_data()["defaults"]["target"]))
    frontend = _known("frontend", frontend, FRONTENDS) if frontend else default_frontend(target)
    mode = _known("mode", mode, MODES)
    row = _row(target, frontend, mode)
    execution = _execution(execution, frontend, mode, row)
    chosen = newest_sdk(row) if sdk is None else _sdk(sdk, row, target, mode)
    ended = bool(row["until"]) and (sdk is None or release(chosen) > release(row["until"]))
    return Resolved(Stack(target, frontend, chosen, mode, execution), row["ended_note"] if ended else "")


def default_frontend(target: str) -> str:
    return str(_data()["defaults"]["frontend"].get(target, "native"))


def newest_sdk(row: Mapping[str, Any]) -> str:
    """The newest release of a combination: its last one where it has ended."""
    return str(row["until"] or _data()["release"][-1]["sdk"])


def describe(target: str) -> str:
    """The combinations that exist for a target, in words, for messages."""
    rows = [row for row in _data()["stack"] if target in row["targets"]]
    return ", ".join(
        f"{row['frontend']} {'/'.join(row['executions'])} {'/'.join(row['modes'])} ({_sdk_words(row)})" for row in rows
    )


def releases_with(frontend: str, torch: str) -> str:
    """The range of SDK releases that have a frontend with this version of torch; `*` where none names it."""
    short = ".".join(torch.split(".")[:2])
    releases = [row["sdk"] for row in _data()["release"]]
    having = [row["sdk"] for row in _data()["release"] if short in row[f"{frontend}_torch"]]
    if not having:
        return "*"
    return f">={having[0]}" if having[-1] == releases[-1] else f">={having[0]},<={having[-1]}"


@cache
def _data() -> dict[str, Any]:
    return load_toml(rules_root() / "stacks" / "stacks.toml")


def _known(what: str, word: str, known: Sequence[str]) -> str:
    if word in known:
        return word
    near = nearest(word.lower(), known, 0.4)
    hint = f"did you mean `{near}`? " if near else ""
    raise ConfigurationError(f"unknown {what} `{word}`; {hint}known are {', '.join(known)}")


def _target(word: str) -> str:
    rows = {row["name"]: row for row in _data()["target"]}
    if word in rows and rows[word]["status"] != "refused":
        return word
    if word in rows:
        raise ConfigurationError(f"target `{word}`: {rows[word]['reason']}")
    return _known("target", word, tuple(name for name, row in rows.items() if row["status"] != "refused"))


def _row(target: str, frontend: str, mode: str) -> Mapping[str, Any]:
    for row in _data()["stack"]:
        if row["frontend"] == frontend and target in row["targets"] and mode in row["modes"]:
            return cast("Mapping[str, Any]", row)
    raise ConfigurationError(
        f"{mode} with {frontend} on {target} does not exist; for {target} there is {describe(target)}"
    )


def _execution(word: str | None, frontend: str, mode: str, row: Mapping[str, Any]) -> str:
    if word is None:
        return str(_data()["defaults"]["execution"][f"{frontend}/{mode}"])
    if word in row["executions"]:
        return word
    _known("execution", word, sorted({name for names in EXECUTIONS.values() for name in names}))
    others = [name for name, words in EXECUTIONS.items() if word in words and name != frontend]
    hint = f"; `{word}` belongs to --frontend {others[0]}" if others else ""
    raise ConfigurationError(f"{mode} with {frontend} runs as {' or '.join(row['executions'])}, not as `{word}`{hint}")


def _sdk(text: str, row: Mapping[str, Any], target: str, mode: str) -> str:
    wanted = release(text)
    shown, newest = f"{wanted[0]}.{wanted[1]}", _data()["release"][-1]["sdk"]
    if wanted > release(newest):
        raise ConfigurationError(
            f"no SDK release {shown} is known here; the newest is {newest}: give that, or update neuronlint"
        )
    if wanted < release(row["since"]):
        name = f"{mode} with {row['frontend']} on {target}"
        raise ConfigurationError(
            f"{name} exists from SDK {row['since']}, not in {shown}; for {target} there is {describe(target)}"
        )
    return shown


def _sdk_words(row: Mapping[str, Any]) -> str:
    return f"SDK {row['since']} to {row['until']}" if row["until"] else f"from SDK {row['since']}"
