"""Counts by rule, as text and as JSON."""

from __future__ import annotations

import json

from neuronlint.finding import Confidence, Edit, Finding, Fix, Severity
from neuronlint.statistics import as_json, as_text, rows

SAFE = Fix("mend it", (Edit(1, 1, 1, 1, "x"),))
UNSAFE = Fix("mend it", (Edit(1, 1, 1, 1, "x"),), safe=False)


def finding(code: str, name: str, fix: Fix | None = None) -> Finding:
    return Finding(code, name, Severity.WARNING, Confidence.HIGH, "m", fix=fix)


FOUND = [
    finding("NRN801", "host-read"),
    *[finding("NRN701", "cuda-only-call", SAFE)] * 10,
    finding("NRN702", "some", SAFE),
    finding("NRN702", "some", UNSAFE),
    finding("NRN101", "cpu-fallback"),
]


def test_nothing_found() -> None:
    assert as_text(rows([])) == ""
    assert json.loads(as_json(rows([]))) == []


def test_without_fixes_there_are_no_marks() -> None:
    assert as_text(rows([finding("NRN801", "host-read")])) == "1  NRN801  host-read\n"


def test_the_most_frequent_first_then_by_code() -> None:
    assert as_text(rows(FOUND)) == (
        "10  NRN701  [*] cuda-only-call\n"
        " 2  NRN702  [-] some\n"
        " 1  NRN101      cpu-fallback\n"
        " 1  NRN801      host-read\n"
        "[*] fixable with --fix\n"
        "[-] some fixable with --fix\n"
    )


def test_unsafe_fixes_count_when_asked_for() -> None:
    assert " 2  NRN702  [*] some\n" in as_text(rows(FOUND, unsafe=True), unsafe=True)
    assert as_text(rows(FOUND, unsafe=True), unsafe=True).endswith("[*] fixable with --fix --unsafe-fixes\n")


def test_json() -> None:
    data = json.loads(as_json(rows(FOUND)))
    assert data[1] == {"code": "NRN702", "name": "some", "count": 2, "fixable": True, "fixable_count": 1}
    assert [row["fixable"] for row in data] == [True, True, False, False]
