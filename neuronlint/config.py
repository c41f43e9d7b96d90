"""Settings: `[tool.neuronlint]` of the nearest `pyproject.toml`, or the nearest `neuronlint.toml`."""

from __future__ import annotations

import datetime as dt
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronlint.errors import ConfigurationError
from neuronlint.nearest import nearest as nearest_name

if TYPE_CHECKING:
    from collections.abc import Mapping

SEVERITIES = ("error", "warning", "info")
FAIL_ON = (*SEVERITIES, "never")
FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown")

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "mode": ("inference", "training"),
    "min-severity": SEVERITIES,
    "fail-on": FAIL_ON,
    "format": FORMATS,
}
_STRINGS = (
    "target",
    "frontend",
    "sdk",
    "mode",
    "execution",
    "min-severity",
    "fail-on",
    "format",
    "output",
    "optimizer",
    "baseline",
    "verify-python",
)
_LISTS = ("select", "extend-select", "exclude", "overlays")
_FLAGS = (
    "source-only",
    "graph-only",
    "no-exec",
    "observe",
    "no-cache",
    "force-exclude",
    "quiet",
    "verbose",
    "fix",
    "unsafe-fixes",
    "statistics",
    "verify",
    "watch",
)
_NUMBERS = ("timeout", "memory-limit")
_TABLES = ("ignore", "per-file-ignores", "models", "severity")
KEYS = (*_STRINGS, *_LISTS, *_FLAGS, *_NUMBERS, "jobs", *_TABLES)
"""Every key of the settings."""
COMMAND_LINE_ONLY = (
    "add-ignore",
    "config",
    "diff",
    "input",
    "model",
    "show-files",
    "show-hlo",
    "show-settings",
    "stdin-filename",
    "write-baseline",
)
"""Options of `check` that say what one run is to do: as settings they would surprise."""
_IGNORE_KEYS = ("module", "op", "rule", "reason", "until")
_MODEL_KEYS = ("path", "factory", "inputs", "kwargs")


@dataclass(frozen=True, slots=True)
class IgnoreEntry:
    """A suppression for findings that have no line of the user's own: globs over module path and operator."""

    rule: str
    reason: str
    module: str = "*"
    op: str = "*"
    until: dt.date | None = None
    line: int = 1
    end_line: int = field(default=0, compare=False)
    """The line after the entry's last, where it is a table of its own; else 0."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a settings file says; None or empty where it says nothing. `path` is the file, as shown to users."""

    path: str | None = None
    target: str | None = None
    frontend: str | None = None
    sdk: str | None = None
    mode: str | None = None
    execution: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    min_severity: str | None = None
    fail_on: str | None = None
    format: str | None = None
    output: str | None = None
    optimizer: str | None = None
    baseline: str | None = None
    exclude: tuple[str, ...] = ()
    overlays: tuple[str, ...] = ()
    timeout: float | None = None
    memory_limit: float | None = None
    jobs: int | None = None
    source_only: bool = False
    graph_only: bool = False
    no_exec: bool = False
    observe: bool = False
    no_cache: bool = False
    force_exclude: bool = False
    quiet: bool = False
    verbose: bool = False
    fix: bool = False
    unsafe_fixes: bool = False
    statistics: bool = False
    verify: bool = False
    verify_python: str | None = None
    watch: bool = False
    severity: Mapping[str, str] = field(default_factory=dict)
    per_file_ignores: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    models: tuple[Mapping[str, Any], ...] = ()
    ignore_entries: tuple[IgnoreEntry, ...] = ()
    lines: Mapping[str, int] = field(default_factory=dict, compare=False)
    """The line of the file that sets each key, for those that it sets."""

    @property
    def overlay_paths(self) -> tuple[Path, ...]:
        """The overlays as paths: they are named relative to the settings file.

        Raises `ConfigurationError` with its file and line where one is not there.
        """
        paths = tuple(Path(self.path or "").parent / name for name in self.overlays)
        for path in paths:
            if not path.is_file():
                raise ConfigurationError(
                    f"{self.where('overlays')}: {path.as_posix()}: no such overlay; write it with "
                    "`neuronlint knowledge harvest`, or take it out of `overlays`"
                )
        return paths

    def where(self, key: str) -> str:
        """`pyproject.toml:12`, for messages about a key."""
        return f"{self.path}:{self.lines[key]}" if key in self.lines else str(self.path)


def load(start: Path, explicit: Path | None = None) -> Settings:
    """The settings for files under `start`, or those of a file named by `--config`.

    Raises `ConfigurationError` with the file and line of what does not fit.
    """
    path = explicit or nearest(start)
    if path is None:
        return Settings()
    text, data = _read(path)
    table = data if path.name != "pyproject.toml" else data.get("tool", {}).get("neuronlint", {})
    if path.name != "pyproject.toml" and "neuronlint" in data.get("tool", {}):
        table = data["tool"]["neuronlint"]
    return _Reader(_shown(path), text, table).settings()


def nearest(start: Path) -> Path | None:
    """The first `neuronlint.toml`, or `pyproject.toml` with our table, from `start` upwards."""
    folder = start.resolve()
    for parent in (folder, *folder.parents):
        own = parent / "neuronlint.toml"
        if own.is_file():
            return own
        project = parent / "pyproject.toml"
        if project.is_file() and "neuronlint" in _read(project)[1].get("tool", {}):
            return project
    return None


def _read(path: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8")
        return text, tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ConfigurationError(f"{_shown(path)}: not valid TOML: {error}; mend the file") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise ConfigurationError(f"{_shown(path)}: cannot be read: {reason}; name another with --config") from None


def _shown(path: Path) -> str:
    try:
        return path.resolve().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return path.as_posix()


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads one table, and knows where in the file each key stands."""

    path: str
    text: str
    table: Mapping[str, Any]

    def settings(self) -> Settings:
        if not isinstance(self.table, dict):
            raise ConfigurationError(f"{self.path}:{self._line('neuronlint')}: `neuronlint` is a table")
        self._known(self.table, KEYS)
        values: dict[str, Any] = {"path": self.path, "lines": {key: self._line(key) for key in self.table}}
        for key, value in self.table.items():
            if key not in _TABLES:
                values[key.replace("-", "_")] = self._value(key, value)
        values["ignore"], values["ignore_entries"] = self._ignore(self.table.get("ignore", []))
        values["models"] = self._models(self.table.get("models", []))
        values["per_file_ignores"] = self._per_file(self.table.get("per-file-ignores", {}))
        values["severity"] = self._severity(self.table.get("severity", {}))
        return Settings(**values)

    def _value(self, key: str, value: Any) -> Any:
        if key in _CHOICES and value not in _CHOICES[key]:
            raise self._error(key, f"`{key}` is one of {', '.join(_CHOICES[key])}, not {value!r}")
        if key in _STRINGS:
            return self._typed(key, value, str, 'a string, as in "…"')
        if key in _LISTS:
            return self._strings(key, value)
        if key in _FLAGS:
            return self._typed(key, value, bool, "true or false")
        if key == "jobs":
            return self._positive(key, self._typed(key, value, int, "a whole number"))
        return self._positive(key, float(self._typed(key, value, (int, float), "a number")))

    def _typed(self, key: str, value: Any, kind: type | tuple[type, ...], wanted: str) -> Any:
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise self._error(key, f"`{key}` is {wanted}, not {value!r}")
        return value

    def _positive(self, key: str, value: Any) -> Any:
        if value <= 0:
            raise self._error(key, f"`{key}` is more than zero, not {value!r}")
        return value

    def _strings(self, key: str, value: Any) -> tuple[str, ...]:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self._error(key, f'`{key}` is a list of strings, as in ["…"], not {value!r}')
        return tuple(value)

    def _ignore(self, value: Any) -> tuple[tuple[str, ...], tuple[IgnoreEntry, ...]]:
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            return (), tuple(self._ignore_entry(item, number) for number, item in enumerate(value))
        return self._strings("ignore", value), ()

    def _ignore_entry(self, row: Mapping[str, Any], number: int) -> IgnoreEntry:
        self._known(row, _IGNORE_KEYS, "ignore")
        line = self._table_line("ignore", number)
        for key in ("rule", "reason"):
            if not isinstance(row.get(key), str) or not row[key].strip():
                raise ConfigurationError(f"{self.path}:{line}: an ignore entry needs `{key}`, a string")
        for key in ("module", "op"):
            self._typed(key, row.get(key, "*"), str, "a glob in a string")
        module, op = row.get("module", "*"), row.get("op", "*")
        return IgnoreEntry(row["rule"], row["reason"], module, op, self._until(row), line, self._table_end(line))

    def _until(self, row: Mapping[str, Any]) -> dt.date | None:
        value = row.get("until")
        if isinstance(value, dt.datetime):
            return value.date()
        if value is None or isinstance(value, dt.date):
            return value
        try:
            return dt.date.fromisoformat(value)
        except (TypeError, ValueError):
            raise self._error("until", f"`until` is a date, as in 2027-03-01, not {value!r}") from None

    def _models(self, value: Any) -> tuple[Mapping[str, Any], ...]:
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self._error("models", "`models` is a list of tables: write [[tool.neuronlint.models]]")
        for number, row in enumerate(value):
            self._known(row, _MODEL_KEYS, "models")
            if not isinstance(row.get("path"), str):
                line = self._table_line("models", number)
                raise ConfigurationError(f"{self.path}:{line}: a model needs `path`, the Python file that makes it")
        return tuple(value)

    def _per_file(self, value: Any) -> Mapping[str, tuple[str, ...]]:
        if not isinstance(value, dict):
            raise self._error("per-file-ignores", '`per-file-ignores` is a table, as in "tests/*" = ["NRN101"]')
        return {glob: self._strings(glob, codes) for glob, codes in value.items()}

    def _severity(self, value: Any) -> Mapping[str, str]:
        if not isinstance(value, dict):
            raise self._error("severity", '`severity` is a table, as in severity = { NRN701 = "warning" }')
        for code, word in value.items():
            if word not in SEVERITIES:
                raise self._error(code, f"the severity of `{code}` is one of {', '.join(SEVERITIES)}, not {word!r}")
        return dict(value)

    def _known(self, row: Mapping[str, Any], keys: tuple[str, ...], table: str = "") -> None:
        for key in row:
            if key in COMMAND_LINE_ONLY and not table:
                raise self._error(key, f"`{key}` is an option of the command line only; remove it here")
            if key not in keys:
                near = nearest_name(key.replace("_", "-"), keys, 0.5)
                hint = f"did you mean `{near}`?" if near else f"known are {', '.join(sorted(keys))}"
                raise self._error(key, f"unknown key `{key}`{f' in `{table}`' if table else ''}; {hint}")

    def _error(self, key: str, message: str) -> ConfigurationError:
        return ConfigurationError(f"{self.path}:{self._line(key)}: {message}")

    def _line(self, key: str) -> int:
        """The line that sets a key, or opens its table; by text, since TOML readers keep no positions."""
        name = re.escape(key)
        ours = re.compile(
            rf"""^\s*(["']?{name}["']?\s*=|\[+[^\]]*\b{name}["']?(\.[^\]]*)?\]+)|[{{,]\s*["']?{name}["']?\s*="""
        )
        start = 0
        lines = self.text.split("\n")
        for number, line in enumerate(lines):
            if re.match(r"\s*\[+\s*tool\s*\.\s*neuronlint", line):
                start = number
                break
        hits = [n for n, line in enumerate(lines[start:], start + 1) if ours.search(line)]
        return hits[0] if hits else start + 1

    def _table_line(self, name: str, number: int) -> int:
        header = re.compile(rf"^\s*\[\[\s*(tool\s*\.\s*neuronlint\s*\.\s*)?{name}\s*\]\]")
        hits = [n for n, line in enumerate(self.text.split("\n"), 1) if header.search(line)]
        return hits[number] if number < len(hits) else self._line(name)

    def _table_end(self, start: int) -> int:
        """The line after a table that stands by itself, with the blank lines that follow it; 0 for one in a list."""
        lines = self.text.removesuffix("\n").split("\n")
        if not lines[start - 1].lstrip().startswith("[["):
            return 0
        end = start
        for number, line in enumerate(lines[start:], start + 1):
            if line.lstrip().startswith("["):
                break
            if line.strip() and not line.lstrip().startswith("#"):
                end = number
        while end < len(lines) and not lines[end].strip():
            end += 1
        return end + 1
