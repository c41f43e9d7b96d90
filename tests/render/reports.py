"""Strategies for reports with findings of any content."""

from __future__ import annotations

from hypothesis import strategies as st

from neuronlint.finding import (
    Confidence,
    Edit,
    Evidence,
    EvidenceKind,
    Finding,
    Fix,
    Neighbour,
    Neighbourhood,
    Severity,
    Span,
)
from neuronlint.report import Report, Skipped
from neuronlint.stack import Stack

TEXT = st.text(max_size=30)
SOME = st.text(min_size=1, max_size=30)
PATHS = st.sampled_from(
    ["a.py", "src/größe me.py", "../out/side.py", "/abs/olute.py", "C:/x.py", "n.ipynb", "a#b?c%.py"]
)
NUMBERS = st.integers(1, 6)
SPANS = st.builds(Span, PATHS, NUMBERS, NUMBERS, st.integers(0, 6), st.integers(0, 6), st.sampled_from([0, 0, 2]))
EDITS = st.builds(Edit, NUMBERS, NUMBERS, NUMBERS, NUMBERS, TEXT)
FIXES = st.builds(Fix, TEXT, st.lists(EDITS, max_size=3).map(tuple), st.booleans())
CALLS = st.builds(Neighbour, st.integers(0, 4), TEXT)
AROUND = st.builds(
    Neighbourhood,
    CALLS,
    st.lists(CALLS, max_size=2, unique_by=lambda call: call.index).map(tuple),
    st.lists(CALLS, max_size=2, unique_by=lambda call: call.index).map(tuple),
)
FINDINGS = st.builds(
    Finding,
    code=st.sampled_from(["NRN101", "NRN912", "XYZ1"]),
    name=st.sampled_from(["cpu-fallback", "x"]),
    severity=st.sampled_from(Severity),
    confidence=st.sampled_from(Confidence),
    message=TEXT,
    span=st.none() | SPANS,
    model=st.none() | SOME,
    module_path=st.none() | TEXT,
    op=st.none() | SOME,
    count=st.integers(1, 3),
    details=TEXT,
    then=TEXT,
    help=st.none() | TEXT,
    evidence=st.just((Evidence(EvidenceKind.LOWERING, "torch_xla"),)) | st.just(()),
    fix=st.none() | FIXES,
    through=st.none() | SPANS,
    through_text=TEXT,
    around=st.none() | AROUND,
)
LINES = st.lists(TEXT.map(lambda text: text.replace("\n", " ")), max_size=5).map(tuple)
REPORTS = st.builds(
    Report,
    stack=st.just(Stack()),
    findings=st.lists(FINDINGS, max_size=4).map(tuple),
    hidden=st.lists(FINDINGS, max_size=2).map(tuple),
    skipped=st.lists(st.builds(Skipped, PATHS, TEXT), max_size=2).map(tuple),
    files=st.integers(0, 3),
    sources=st.dictionaries(PATHS, LINES, max_size=2),
)
