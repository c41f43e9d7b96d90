"""Overlays: what a harvest writes, what is read back, and that it comes before the shipped tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuronlint.call import OperatorCall, TensorMeta
from neuronlint.errors import KnowledgeError
from neuronlint.finding import Confidence, EvidenceKind
from neuronlint.knowledge import Knowledge, Placement, Reason, Verdict
from neuronlint.knowledge.harvest import Harvest, Joined, Registered, counts, joined
from neuronlint.knowledge.operators import OperatorRow, OperatorTable, RegistryRow, lowering_table
from neuronlint.knowledge.overlay import overlay_text, read_overlays
from neuronlint.stack import Stack

XLA = Stack("trn1", "xla", "2.29", "training", "lazy")
EAGER = Stack("trn2", "native", "2.33", "inference", "eager")
COMPILE = Stack("trn2", "native", "2.33", "inference", "compile")
X = TensorMeta("float32", (2, 4))


def harvest(*rows: Registered, backend: str = "xla", falls_back: bool = True) -> Harvest:
    return Harvest(backend, "device", "backend 9.9, torch 2.9.0", falls_back, rows)


def row(
    op: str, placement: Placement = Placement.NEURON, reason: Reason = Reason.LOWERED, **more: object
) -> OperatorRow:
    return OperatorRow(op, placement, reason, Confidence.HIGH, **more)  # type: ignore[arg-type]


TABLE = OperatorTable(
    {
        "aten.plain.default": (row("aten.plain.default", lowers_to=("add",)),),
        "aten.depends.default": (
            row("aten.depends.default", Placement.CPU, Reason.ATTRIBUTE, when="alpha != 1", host=("aten::depends",)),
            row("aten.depends.default"),
        ),
        "aten.always.default": (row("aten.always.default", Placement.CPU, Reason.NO_LOWERING),),
        "aten.lacked.default": (row("aten.lacked.default", Placement.CPU, Reason.NO_LOWERING),),
    }
)


def kernel(op: str, *, kernel: bool = True, autograd: bool = False, composite: str | None = None) -> Registered:
    return Registered(op, kernel, autograd, composite)


def test_a_harvest_is_joined_with_what_was_measured() -> None:
    found = joined(
        harvest(
            kernel("aten.plain.default"),
            kernel("aten.depends.default"),
            kernel("aten.lacked.default"),
            kernel("aten.new.default"),
            kernel("aten.always.default"),
            kernel("aten.none.default", kernel=False),
            kernel("aten.whole.default", kernel=False, composite="implicit"),
            kernel("aten.norm.default", autograd=True),
            kernel("aten.norm_backward.default", kernel=False),
        ),
        TABLE,
        {"aten.always.default": RegistryRow("aten.always.default", True, False, False)},
    )
    assert [(r.op, r.when) for r in found.rows] == [
        ("aten.plain.default", None),
        ("aten.depends.default", "alpha != 1"),
        ("aten.depends.default", None),
        ("aten.always.default", None),
    ]
    assert found.registered == ("aten.lacked.default", "aten.new.default", "aten.norm.default")
    assert found.missing == ("aten.none.default",)
    assert list(counts(found)) == [
        "1 operators have a kernel and were measured to lower",
        "2 have one whose arguments decide",
        "3 have one of which nothing was measured",
        "1 have none",
    ]


def test_what_torch_compile_was_measured_to_do_says_nothing_of_a_kernel_of_eager() -> None:
    found = joined(harvest(kernel("aten.plain.default"), backend="privateuse1"), TABLE, {})
    assert (found.rows, found.registered) == ((), ("aten.plain.default",))


@pytest.fixture
def overlay(tmp_path: Path) -> Path:
    path = tmp_path / "neuron-overlay.toml"
    found = joined(
        harvest(
            kernel("aten.erf.default"),
            kernel("aten.glu_backward.default"),
            kernel("aten.sin.default", kernel=False),
            kernel("aten.detach.default", kernel=False),
        ),
        lowering_table("xla"),
        {},
    )
    path.write_text(overlay_text(harvest(), found), encoding="utf-8")
    return path


def judged(knowledge: Knowledge, op: str, stack: Stack) -> Verdict:
    return knowledge.judge(OperatorCall(op, {"self": X}, (X,)), stack)


def test_an_overlay_comes_before_the_shipped_table(overlay: Path) -> None:
    shipped, harvested = Knowledge.load(), Knowledge.load([overlay])
    assert judged(shipped, "aten.glu_backward.default", XLA).placement is Placement.CPU
    gained = judged(harvested, "aten.glu_backward.default", XLA)
    assert (gained.placement, gained.reason, gained.confidence) == (
        Placement.NEURON, Reason.REGISTERED, Confidence.MEDIUM,
    )  # fmt: skip
    assert gained.evidence[0].kind is EvidenceKind.REGISTRY
    assert gained.evidence[0].source == "backend 9.9, torch 2.9.0, key XLA (neuron-overlay.toml)"
    assert judged(shipped, "aten.sin.default", XLA).placement is Placement.NEURON
    lost = judged(harvested, "aten.sin.default", XLA)
    assert (lost.placement, lost.host) == (Placement.CPU, ("aten::sin",))


def test_an_overlay_speaks_of_its_own_frontend_only(overlay: Path) -> None:
    assert judged(Knowledge.load([overlay]), "aten.sin.default", COMPILE).placement is Placement.NEURON


def test_what_no_backend_is_given_stays_so(overlay: Path) -> None:
    assert judged(Knowledge.load([overlay]), "aten.detach.default", XLA).reason is Reason.METADATA


def test_what_a_measured_kernel_lowers_to_is_judged_by_the_compilers_table(overlay: Path) -> None:
    assert judged(Knowledge.load([overlay]), "aten.erf.default", XLA).lowers_to == ("AwsNeuronGelu",)


@pytest.mark.parametrize(("falls_back", "placement"), [(True, Placement.CPU), (False, Placement.FAILS)])
def test_what_a_backend_lacks_runs_on_the_host_or_raises(
    tmp_path: Path, falls_back: bool, placement: Placement
) -> None:
    path = tmp_path / "overlay.toml"
    made = harvest(kernel("aten.sin.default", kernel=False), backend="privateuse1", falls_back=falls_back)
    path.write_text(overlay_text(made, joined(made, TABLE, {})))
    knowledge = Knowledge.load([path])
    eager, compiled = (judged(knowledge, "aten.sin.default", stack) for stack in (EAGER, COMPILE))
    assert eager.evidence[0].source == "backend 9.9, torch 2.9.0, key PrivateUse1 (overlay.toml)"
    assert read_overlays([path]).rows["aten.sin.default"][0].placement is placement
    assert compiled.placement is Placement.NEURON


def written(tmp_path: Path, *rows: Registered, backend: str = "xla", falls_back: bool = True) -> Knowledge:
    path = tmp_path / "overlay.toml"
    made = harvest(*rows, backend=backend, falls_back=falls_back)
    path.write_text(overlay_text(made, joined(made, lowering_table(made.frontend), {})))
    return Knowledge.load([path])


@pytest.mark.parametrize("has_kernel", [True, False])
@pytest.mark.parametrize("op", ["aten._local_scalar_dense.default", "aten.nonzero.default", "torchvision.nms.default"])
def test_a_kernel_makes_no_size_static_and_no_value_known_to_the_host(
    tmp_path: Path, op: str, has_kernel: bool
) -> None:
    call = OperatorCall(op, {"self": X}, (X,))
    for stack, backend in ((XLA, "xla"), (EAGER, "privateuse1")):
        shipped = Knowledge.load().judge(call, stack)
        harvested = written(tmp_path, kernel(op, kernel=has_kernel), backend=backend).judge(call, stack)
        if shipped.reason in (Reason.DATA_DEPENDENT, Reason.HOST_READ):
            assert (harvested.reason, harvested.family) == (shipped.reason, shipped.family)
    assert Knowledge.load().judge(call, XLA).family in ("NRN201", "NRN202")


def test_a_kernel_displaces_the_fact_that_there_is_none(tmp_path: Path) -> None:
    call = OperatorCall("torchvision.roi_align.default", {"self": X}, (X,))
    assert Knowledge.load().judge(call, XLA).family == "NRN401"
    assert written(tmp_path, kernel(call.op)).judge(call, XLA).placement is Placement.NEURON
    kept = written(tmp_path, kernel(call.op, kernel=False)).judge(call, XLA)
    assert (kept.placement, kept.family) == (Placement.CPU, "NRN401")


def test_a_custom_operator_that_the_backend_has_runs_there(tmp_path: Path) -> None:
    call = OperatorCall("mine.twice.default", {"x": X}, (X,))
    assert Knowledge.load().judge(call, EAGER).family == "NRN401"
    found = written(tmp_path, kernel(call.op), backend="privateuse1").judge(call, EAGER)
    assert (found.placement, found.reason) == (Placement.NEURON, Reason.REGISTERED)


def test_what_raises_without_a_fallback_does_not_run_on_the_host(tmp_path: Path) -> None:
    knowledge = written(tmp_path, kernel("aten.sin.default", kernel=False), backend="privateuse1", falls_back=False)
    verdict = judged(knowledge, "aten.sin.default", EAGER)
    assert (verdict.placement, verdict.reason, verdict.family) == (Placement.FAILS, Reason.RAISES, "NRN102")
    assert verdict.evidence[0].note == "no kernel is registered, and no fallback to the host"


def test_what_another_version_was_measured_to_do_is_of_medium_confidence(tmp_path: Path) -> None:
    verdict = judged(written(tmp_path, kernel("aten.relu.default")), "aten.relu.default", XLA)
    assert verdict.confidence is Confidence.MEDIUM
    measured, registered = verdict.evidence[-2:]
    assert (measured.kind, registered.kind) == (EvidenceKind.LOWERING, EvidenceKind.REGISTRY)
    assert measured.source.startswith("torch_xla 2.9.0 (")
    assert registered.source == "backend 9.9, torch 2.9.0, key XLA (overlay.toml)"
    same = Harvest("xla", "xla", "torch-xla 2.9.0, torch 2.9.0", True, (kernel("aten.relu.default"),))
    assert {row.confidence for row in joined(same, lowering_table("xla"), {}).rows} == {Confidence.HIGH}


def test_an_overlay_does_not_change_with_the_tables_that_ship(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    knowledge = written(tmp_path, kernel("aten.relu.default"))
    again = replace(knowledge, tables={"xla": OperatorTable(), "native": OperatorTable()})
    assert judged(again, "aten.relu.default", XLA) == judged(knowledge, "aten.relu.default", XLA)


def test_an_overlay_speaks_of_the_releases_of_its_torch(tmp_path: Path) -> None:
    knowledge = written(tmp_path, kernel("aten.sin.default", kernel=False))
    assert judged(knowledge, "aten.sin.default", XLA).placement is Placement.CPU
    assert judged(knowledge, "aten.sin.default", replace(XLA, sdk="2.20")).placement is Placement.NEURON


def test_of_several_overlays_the_first_decides(tmp_path: Path, overlay: Path) -> None:
    other = tmp_path / "other.toml"
    made = harvest(kernel("aten.sin.default"))
    other.write_text(overlay_text(made, joined(made, TABLE, {})))
    assert judged(Knowledge.load([other, overlay]), "aten.sin.default", XLA).placement is Placement.NEURON
    assert judged(Knowledge.load([overlay, other]), "aten.sin.default", XLA).placement is Placement.CPU


OPS = st.lists(st.from_regex(r"aten\.[a-z_]{1,12}\.default", fullmatch=True), unique=True, max_size=5)
TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
ROWS = st.lists(
    st.builds(
        OperatorRow,
        op=st.from_regex(r"torchvision\.[a-z]{1,9}\.default", fullmatch=True),
        placement=st.sampled_from([Placement.NEURON, Placement.CPU, Placement.FAILS]),
        reason=st.sampled_from([Reason.LOWERED, Reason.ATTRIBUTE, Reason.RAISES]),
        confidence=st.sampled_from(list(Confidence)),
        when=st.sampled_from([None, "alpha != 1", "any(d != 1 for d in dilation)", "reduce != 'add'"]),
        functionalization=st.sampled_from([None, "on", "off"]),
        host=st.lists(TEXT, max_size=2).map(tuple),
        lowers_to=st.lists(TEXT, max_size=3).map(tuple),
        error=TEXT,
        dynamic=st.booleans(),
        samples=st.integers(0, 99),
    ),
    max_size=4,
)


@given(OPS, OPS, ROWS)
def test_what_is_written_is_read_back(
    tmp_path_factory: pytest.TempPathFactory, registered: list[str], missing: list[str], rows: list[OperatorRow]
) -> None:
    path = tmp_path_factory.mktemp("overlay") / "overlay.toml"
    missing = [op for op in missing if op not in registered]
    path.write_text(overlay_text(harvest(), Joined(tuple(registered), tuple(missing), tuple(rows))), encoding="utf-8")
    table = read_overlays([path]).rows
    assert [op for op in registered if table[op][0].placement is Placement.NEURON] == registered
    assert [op for op in missing if table[op][0].placement is Placement.CPU] == missing
    read = [r for op in dict.fromkeys(r.op for r in rows) for r in table[op]]
    wanted = [r for op in dict.fromkeys(r.op for r in rows) for r in rows if r.op == op]
    columns = ("op", "placement", "reason", "confidence", "when", "functionalization", "host", "lowers_to", "error",
               "dynamic", "samples")  # fmt: skip
    assert [[getattr(r, c) for c in columns] for r in read] == [[getattr(r, c) for c in columns] for r in wanted]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (None, "no such overlay; write one with `neuronlint knowledge harvest`"),
        ("measured = [", "not valid TOML"),
        ("measured = []", "[overlay] lacks frontend, execution, sdk, key, device, with, fallback"),
        ("HEAD\n[[row]]\nop = 'a'", "row 1: the key 'placement' is missing"),
        ("HEAD\n[[row]]\nop = 'a'\nplacement = 'moon'\nreason = 'lowered'", "row 1: 'moon' is not a valid Placement"),
        ("row = 1\nHEAD", "`row` is a list of tables"),
        ("HEAD|frontend = 'xla'|frontend = 'moon'", "[overlay] frontend is one of 'native', 'xla', not 'moon'"),
        ("HEAD|execution = ''|execution = 'eager'", "[overlay] execution is one of '', 'trace', 'lazy', not 'eager'"),
        ("HEAD|sdk = '*'|sdk = 'new'", "[overlay] sdk: `new` is no range of SDK releases"),
        ("HEAD|fallback = true|fallback = 'no'", "[overlay] fallback is true or false, not 'no'"),
        ("missing = [1]\nHEAD", "`missing` is a list of operators"),
    ],
)
def test_a_broken_overlay_names_the_file_and_the_way_out(tmp_path: Path, text: str | None, words: str) -> None:
    path = tmp_path / "broken.toml"
    head = "[overlay]\nfrontend = 'xla'\nexecution = ''\nsdk = '*'\nkey = 'XLA'\ndevice = 'xla'\nwith = 'x'\n"
    head += "fallback = true\n"
    if text is not None:
        form, before, after = (*text.split("|"), "", "")[:3]
        path.write_text(form.replace("HEAD", head.replace(before, after)))
    with pytest.raises(KnowledgeError) as caught:
        Knowledge.load([path])
    assert str(caught.value).startswith(f"{path}: ")
    assert words in str(caught.value)
    assert "neuronlint knowledge harvest" in str(caught.value)
