"""The data of `rules/`: every file fits its schema, every condition compiles, every error code is accounted for."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from neuronlint.knowledge.predicate import compile_predicate
from neuronlint.knowledge.verdict import Consequence, Reason
from neuronlint.stack import sdk_matches

RULES = Path(__file__).parents[2] / "rules"
FILES = {
    "errors/codes.toml": "codes",
    "errors/calls.toml": "calls",
    "hlo/opcodes.toml": "opcodes",
    "hlo/custom_calls.toml": "custom_calls",
    "hlo/conditions.toml": "hlo_conditions",
    "dtypes/autocast.toml": "autocast",
    "dtypes/dtypes.toml": "dtypes",
    "limits/limits.toml": "limits",
    "hardware/chips.toml": "chips",
    "stacks/stacks.toml": "stacks",
    "operators/facts.toml": "facts",
    "migrate/remaining.toml": "remaining",
    "operators/backends.toml": "backends",
    "operators/xla-conditions.toml": "conditions",
    "operators/native-conditions.toml": "conditions",
}
CHECKS = sorted((RULES / "checks").glob("*.toml"))
TABLES = sorted((RULES / "operators").glob("*.jsonl"))


def read(name: str) -> dict[str, Any]:
    return tomllib.loads((RULES / name).read_text(encoding="utf-8"))


def schema(name: str) -> Any:
    return json.loads((RULES / "schema" / f"{name}.schema.json").read_text(encoding="utf-8"))


def faults(data: Any, schema_name: str) -> list[str]:
    """What a validator says, with the place in the file."""
    errors = Draft202012Validator(schema(schema_name)).iter_errors(data)
    return [f"{error.json_path}: {error.message[:200]}" for error in errors]


def rows_with(data: Any, key: str) -> Iterator[dict[str, Any]]:
    """Every table, however deep, that has a key."""
    if isinstance(data, dict):
        if key in data:
            yield data
        for value in data.values():
            yield from rows_with(value, key)
    elif isinstance(data, list):
        for value in data:
            yield from rows_with(value, key)


CODES = read("errors/codes.toml")["code"]
CALLS = read("errors/calls.toml")["row"]


@pytest.mark.parametrize("path", sorted((RULES / "schema").glob("*.json")), ids=lambda path: path.stem)
def test_schemas_are_schemas(path: Path) -> None:
    Draft202012Validator.check_schema(json.loads(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("name", FILES)
def test_files_fit_their_schema(name: str) -> None:
    assert faults(read(name), FILES[name]) == []


@pytest.mark.parametrize("path", CHECKS, ids=lambda path: path.stem)
def test_checks_fit_their_schema(path: Path) -> None:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    assert faults(data, "checks") == []
    assert data["code"] == path.stem


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_operator_tables_fit_their_schema(path: Path) -> None:
    validator = Draft202012Validator(schema("registry" if "-registry-" in path.name else "operators"))
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        row = json.loads(line)
        assert [error.message for error in validator.iter_errors(row)] == [], f"{path.name}:{number}"
        if "when" in row:
            compile_predicate(row["when"])


def test_schemas_know_the_words_of_the_code() -> None:
    row = schema("calls")["properties"]["row"]["items"]["properties"]
    assert row["reason"]["enum"] == [str(reason) for reason in Reason]
    assert row["consequence"]["enum"] == [str(consequence) for consequence in Consequence]
    assert schema("operators")["properties"]["reason"] == row["reason"]


@pytest.mark.parametrize("name", FILES)
def test_sdk_ranges_and_evidence(name: str) -> None:
    data = read(name)
    for row in rows_with(data, "sdk"):
        assert isinstance(sdk_matches(row["sdk"], "2.33"), bool)
    for row in rows_with(data, "evidence"):
        assert row["evidence"], row
        assert all(not item["note"].startswith("TODO") and item["source"].strip() for item in row["evidence"])


@pytest.mark.parametrize(
    ("name", "table", "key"),
    [
        ("errors/codes.toml", "code", "code"),
        ("errors/calls.toml", "row", "id"),
        ("hlo/opcodes.toml", "op", "opcode"),
        ("hlo/custom_calls.toml", "call", "target"),
        ("dtypes/dtypes.toml", "dtype", "id"),
        ("dtypes/dtypes.toml", "flag", "flag"),
        ("limits/limits.toml", "limit", "id"),
        ("hardware/chips.toml", "chip", "target"),
        ("hardware/chips.toml", "core", "name"),
        ("hardware/chips.toml", "constant", "name"),
        ("hardware/chips.toml", "instance", "name"),
        ("stacks/stacks.toml", "release", "sdk"),
        ("stacks/stacks.toml", "target", "name"),
    ],
)
def test_keys_are_unique(name: str, table: str, key: str) -> None:
    counts = Counter(row[key] for row in read(name)[table])
    assert [value for value, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("row", CALLS, ids=lambda row: row["id"])
def test_conditions_compile(row: dict[str, Any]) -> None:
    for field in ("when", "report_when"):
        if field in row:
            compile_predicate(row[field])


@pytest.mark.parametrize("row", CALLS, ids=lambda row: row["id"])
def test_severity_fits_the_evidence(row: dict[str, Any]) -> None:
    """Low confidence makes no error, and an error on native has a documented or reported reason."""
    if row["severity"] == "error":
        assert row["placement"] == "fails"
        assert row["confidence"] != "low"
        if "native" in row.get("frontends", ["native"]):
            assert {item["kind"] for item in row["evidence"]} & {"documented", "reported"}
    if row["placement"] == "fails":
        assert row["severity"] != "info"


def test_all_codes_are_there() -> None:
    assert len(CODES) == 75
    assert sum(row["documented"] for row in CODES) == 61


def test_codes_that_a_call_reaches_have_a_row() -> None:
    named = {code for row in CALLS for code in (row["code"], *row.get("also", ()))}
    reachable = {row["code"] for row in CODES if row["origin"] == "aten" and row["predictable"] == "yes"}
    assert reachable - named == set()


def test_rows_name_codes_that_a_call_can_reach() -> None:
    reachable = {row["code"] for row in CODES if row["origin"] == "aten"} | {""}
    named = {code for row in CALLS for code in (row["code"], *row.get("also", ()))}
    assert named - reachable == set()
    known = {row["code"] for row in CODES}
    for name in ("hlo/opcodes.toml", "hlo/custom_calls.toml", "dtypes/dtypes.toml", "limits/limits.toml"):
        assert {code for row in rows_with(read(name), "codes") for code in row["codes"]} - known == set()


def test_the_default_stacks_exist() -> None:
    """The newest release of each combination: open ones reach the newest SDK, training on xla ended with 2.29."""
    data = read("stacks/stacks.toml")
    releases = [row["sdk"] for row in data["release"]]
    assert releases[-1] == "2.33"
    for row in data["stack"]:
        assert row["since"] in releases
        assert (row["until"] == "") == (row["status"] == "current")
        assert bool(row["ended_note"]) == (row["status"] == "ended")
        if row["frontend"] == "xla" and row["modes"] == ["training"]:
            assert row["until"] == "2.29"
    pairs = Counter((r["frontend"], t, m) for r in data["stack"] for t in r["targets"] for m in r["modes"])
    assert max(pairs.values()) == 1
    assert len(pairs) == 12


def test_chips_add_up() -> None:
    data = read("hardware/chips.toml")
    cores = {row["name"]: row for row in data["core"]}
    for chip in data["chip"]:
        assert chip["core"] in cores
        assert chip["logical_cores"] * chip["lnc_default"] == chip["physical_cores"]
        assert chip["hbm_gib_per_logical_core"] * chip["logical_cores"] == chip["hbm_gib"]
        assert chip["hbm_gb_s_per_logical_core"] * chip["logical_cores"] == chip["hbm_gb_s"]
    chips = {row["target"]: row for row in data["chip"]}
    for instance in data["instance"]:
        chip = chips[instance["target"]]
        assert instance["hbm_gib"] == instance["chips"] * chip["hbm_gib"]
        assert instance["logical_cores"] == instance["chips"] * chip["logical_cores"]
    limits = {row["id"]: row["value"] for row in read("limits/limits.toml")["limit"]}
    for target, chip in chips.items():
        assert limits[f"hbm_per_logical_core_{target}"] == chip["hbm_gib_per_logical_core"]
