"""Renderers against committed snapshots; `NEURONLINT_UPDATE=1 pytest tests/render` writes them anew."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from neuronlint.finding import Span
from neuronlint.render import FORMATS, View, render
from neuronlint.render.excerpt import LONGEST, excerpt
from neuronlint.render.styled import plain
from neuronlint.render.words import amount, shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuronlint.report import Report

EXPECTED = Path(__file__).parents[2] / "fixtures" / "reports"
SUFFIX = {
    "text": "txt",
    "concise": "concise.txt",
    "json": "json",
    "sarif": "sarif",
    "github": "github.txt",
    "gitlab": "gitlab.json",
    "junit": "xml",
    "markdown": "md",
}


def compare(name: str, text: str) -> None:
    path = EXPECTED / name
    if os.environ.get("NEURONLINT_UPDATE"):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def rendered(report: Report, form: str, quiet: bool = False) -> str:
    """The report; in SARIF with the names of the rules alone, since their texts have tests of their own."""
    text = render(report, form, View(quiet=quiet))
    if form != "sarif":
        return text
    log = json.loads(text)
    driver = log["runs"][0]["tool"]["driver"]
    driver["rules"] = [rule["id"] for rule in driver["rules"]] if report.findings or report.hidden else "all"
    return json.dumps(log, indent=2) + "\n"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["empty", "clean", "full", "library", "several"])
def test_snapshot(name: str, form: str, reports: Mapping[str, Report]) -> None:
    """Each report reads as the committed file, byte for byte."""
    compare(f"{name}.{SUFFIX[form]}", rendered(reports[name], form))


@pytest.mark.parametrize("form", FORMATS)
def test_quiet_snapshot(form: str, reports: Mapping[str, Report]) -> None:
    compare(f"full.quiet.{SUFFIX[form]}", rendered(reports["full"], form, quiet=True))


def test_text_at_a_terminals_width(reports: Mapping[str, Report]) -> None:
    compare("full.80.txt", render(reports["full"], "text", View(width=80, verbose=True)))


def test_colours_add_escapes_and_nothing_else(reports: Mapping[str, Report]) -> None:
    """Without its escapes, the coloured report is the plain one."""
    import re

    coloured = render(reports["full"], "text", View(colour=True))
    assert "\x1b[1;31merror[NRN101]" in coloured
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in bare.split("\n")] == render(reports["full"], "text").split("\n")


def test_plain_text_has_no_escapes(reports: Mapping[str, Report]) -> None:
    """Not even those that a message, a path or the source brought along."""
    assert "\x1b" not in render(reports["full"], "text") + render(reports["full"], "concise")


def test_never_a_bare_hundred_percent(reports: Mapping[str, Report]) -> None:
    assert "100 %" not in "".join(render(report, "text") for report in reports.values())


def test_a_share_just_below_one_is_rounded_down(reports: Mapping[str, Report]) -> None:
    """99.987 % with a call on the host is not 100.0 %."""
    assert "99.9 % known to run on the chip" in render(reports["full"], "text")


def test_unknown_operators_are_named(reports: Mapping[str, Report]) -> None:
    assert "unknown      mylib.scan.default" in render(reports["full"], "text")


def test_json_findings_are_sorted_however_they_came(reports: Mapping[str, Report]) -> None:
    report = reports["full"]
    backwards = replace(report, findings=report.findings[::-1])
    assert render(backwards, "json") == render(report, "json")


def test_json_has_every_key_with_null_where_there_is_nothing(reports: Mapping[str, Report]) -> None:
    data = json.loads(render(reports["full"], "json"))
    keys = {
        "code", "name", "severity", "confidence", "message", "path", "cell", "line", "column", "end_line",
            "end_column",
        "model", "module_path", "op", "count", "help", "evidence", "compiler_code", "impact", "fix", "url",
    }  # fmt: skip
    assert all(set(finding) == keys for finding in data["findings"])
    assert data["findings"][-1]["path"] is None
    assert [model["status"] for model in data["models"]] == ["captured", "failed"]
    assert data["models"][1]["placement"] == {"neuron": 0, "cpu": 0, "fails": 0, "unknown": 0}


def test_a_finding_in_library_code_alone_is_headed_by_the_librarys_line(reports: Mapping[str, Report]) -> None:
    """People and editors go there; JSON has a path for the user's own files only."""
    text = render(reports["library"], "text")
    assert "timm/models/volo.py:87:17: error[NRN101]" in text
    assert "87 | attn = self.unfold(x)" in text
    assert "through timm" not in text
    assert render(reports["library"], "concise").startswith("timm/models/volo.py:87:17: error[NRN101]")
    assert [f["path"] for f in json.loads(render(reports["library"], "json"))["findings"]] == [None, None]


def test_quiet_json_leaves_seconds_out(reports: Mapping[str, Report]) -> None:
    loud = json.loads(render(reports["full"], "json"))["models"][0]
    quiet = json.loads(render(reports["full"], "json", View(quiet=True)))["models"][0]
    assert set(loud) - set(quiet) == {"seconds"}


def marked(span: Span, *lines: str) -> list[str]:
    return plain(excerpt(span, lines, ["here"], "")).split("\n")[:-1]


def test_no_excerpt_without_the_line() -> None:
    """A file that changed since, or that could not be read, gives no excerpt rather than a wrong one."""
    assert excerpt(Span("a.py", 7), ["x = 1"], [], "") == []
    assert excerpt(Span("a.py", 1), [], [], "") == []


def test_an_empty_span_marks_the_word_there() -> None:
    assert marked(Span("a.py", 1, 5), "x = torch.fft(y)") == [
        "  |",
        "1 | x = torch.fft(y)",
        "  |     ^^^^^^^^^ here",
        "  |",
    ]


def test_tabs_and_wide_characters_keep_the_carets_in_place() -> None:
    rows = marked(Span("a.py", 1, 7, 1, 8), "\ta = '寸'")
    assert rows[1] == "1 |     a = '寸'"
    assert rows[2] == "  |          ^^ here"


def test_a_span_beyond_the_line_still_has_a_caret() -> None:
    assert marked(Span("a.py", 1, 90, 1, 95), "x")[2].endswith("^ here")


def test_a_very_long_line_is_cut_around_the_span() -> None:
    line = "a" * 3000 + "BAD" + "b" * 3000
    rows = marked(Span("a.py", 1, 3001, 1, 3004), line)
    at = rows[2].index("^")
    assert rows[1][at : at + 3] == "BAD"
    assert len(rows[1]) <= LONGEST + 10


def test_a_long_span_is_shortened() -> None:
    lines = ["f("] + [f"    {n}," for n in range(30)] + [")"]
    rows = marked(Span("a.py", 1, 1, 32, 2), *lines)
    assert len(rows) < 14
    assert any(row.startswith("...") for row in rows)
    assert "32 | | )" in rows


@pytest.mark.parametrize(
    ("number", "text"), [(0, "0"), (812, "812"), (41_755_286, "41.8 M"), (70_553_706_496, "70.6 B")]
)
def test_amounts(number: int, text: str) -> None:
    assert amount(number) == text


def test_control_characters_are_made_visible() -> None:
    assert shown("a\x1b[31mb\nc") == "a\\x1b[31mb c"
