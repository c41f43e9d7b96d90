"""The value in force for every setting, and where it comes from: the command line, the settings file, or a default."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from neuronlint.config import KEYS, Settings
from neuronlint.limits import Limits

if TYPE_CHECKING:
    from neuronlint.stack import Stack

COMMAND_LINE, DEFAULT = "command line", "default"
_LISTED = ("exclude", "extend-select", "ignore")
_TABLES = ("models", "per-file-ignores", "severity")
_DEFAULTS: Mapping[str, Any] = {
    "select": ("NRN",),
    "extend-select": (),
    "ignore": (),
    "exclude": (),
    "min-severity": "info",
    "fail-on": "error",
    "format": "text",
    "timeout": Limits().timeout,
    "memory-limit": Limits().memory_gib,
    "optimizer": "AdamW",
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """Values and origins by the keys of the settings."""

    values: Mapping[str, Any]
    origins: Mapping[str, str]

    def __getitem__(self, key: str) -> Any:
        return self.values[key]

    def set_by(self, key: str) -> bool:
        """Whether the command line or the settings say anything."""
        return self.origins[key] != DEFAULT


def choose(given: Mapping[str, Any], typed: Callable[[str], bool], settings: Settings) -> Chosen:
    """The command line over the settings over the defaults; lists of codes and globs add up.

    `typed` says whether a parameter stands on the command line.
    """
    values, origins = {}, {}
    for key in KEYS:
        name = key.replace("-", "_")
        options = [(given[name], COMMAND_LINE)] if key not in _TABLES and typed(name) else []
        if key in settings.lines:
            options.append((getattr(settings, name), settings.where(key)))
        if key in _LISTED and options:
            values[key] = tuple(item for value, _ in options for item in _items(key, value))
            origins[key] = " and ".join(origin for _, origin in options)
        else:
            value, origins[key] = options[0] if options else (_default(key, settings), DEFAULT)
            values[key] = _items(key, value) if key == "select" else value
    _one_lane(values, origins)
    return Chosen(values, origins)


def _default(key: str, settings: Settings) -> Any:
    if key in _DEFAULTS:
        return _DEFAULTS[key]
    return getattr(settings, key.replace("-", "_")) if key not in _LISTED else ()


def _items(key: str, values: tuple[str, ...]) -> tuple[str, ...]:
    """`NRN1,NRN2` given as one value is two codes; a glob may hold a comma."""
    return values if key == "exclude" else codes(values)


def codes(values: tuple[str, ...]) -> tuple[str, ...]:
    """The codes of values that each may hold several, by commas."""
    return tuple(item.strip() for value in values for item in value.split(",") if item.strip())


def _one_lane(values: dict[str, Any], origins: Mapping[str, str]) -> None:
    """A lane asked for on the command line wins over the other one in the settings."""
    for lane, other in (("source-only", "graph-only"), ("graph-only", "source-only")):
        if origins[lane] == COMMAND_LINE and origins[other] != COMMAND_LINE:
            values[other] = False


def show(chosen: Chosen, stack: Stack, settings: Settings, form: str) -> str:
    """Every setting in force, one a line with where it comes from, or as JSON."""
    rows = {key: chosen[key] for key in sorted(KEYS)}
    rows |= {key: getattr(stack, key) for key in ("target", "frontend", "sdk", "mode", "execution")}
    rows["ignore"] = [*chosen["ignore"], *(f"{e.rule} in {e.module}, {e.op}" for e in settings.ignore_entries)]
    if form == "json":
        import json

        values = {key: {"value": _plain(value), "from": chosen.origins[key]} for key, value in rows.items()}
        return json.dumps({"settings_file": settings.path, "settings": values}, indent=2) + "\n"
    shown = {key: _shown(key, value) for key, value in rows.items()}
    width = max(map(len, shown))
    values_width = min(max(map(len, shown.values())), 40)
    lines = [f"{'settings file':<{width}}  {settings.path or 'none'}"]
    lines += [f"{key:<{width}}  {text:<{values_width}}  {chosen.origins[key]}" for key, text in shown.items()]
    return "\n".join(lines) + "\n"


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, tuple | list) else value


def _shown(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "; ".join(f"{name}: {_shown('', item)}" for name, item in value.items()) or "none"
    if key == "models":
        return str(len(value))
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    if key == "jobs" and value is None:
        return "the number of cores"
    unit = {"timeout": " s", "memory-limit": " GiB"}.get(key, "")
    return "none" if value is None else f"{value:g}{unit}" if isinstance(value, float) else f"{value}{unit}"
