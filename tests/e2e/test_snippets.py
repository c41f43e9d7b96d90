"""The snippets of the graph rules, captured for real: what a rule's page shows as reported is, and the rest is not.

All snippets of a front end are captured in one child process, each as a factory of one file that the settings name,
so that their inputs are specs as a user writes them. Judging needs no torch and is done here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from textwrap import indent

import pytest

from neuronlint.capture.client import capture_models
from neuronlint.capture.messages import CaptureRequest, CaptureResult
from neuronlint.finding import Severity
from neuronlint.graph.opgraph import OpGraph
from neuronlint.graph.rules import findings, rules
from neuronlint.knowledge import Knowledge
from neuronlint.knowledge.checks import Snippet, check
from neuronlint.stack import Stack, resolve

pytest.importorskip("torch", reason="graph checks need torch")

IMPORTS = ("import torch", "from torch import nn", "import torch.nn.functional as F")
FILE = "snippets.py"


@dataclass(frozen=True)
class Case:
    """One snippet of a rule; `wanted` says whether the rule is to report it."""

    code: str
    index: int
    wanted: bool
    snippet: Snippet

    @property
    def name(self) -> str:
        return f"{self.code}_{'bad' if self.wanted else 'good'}_{self.index}"

    @cached_property
    def stack(self) -> Stack:
        words = self.snippet.stack
        return resolve(
            words.get("target"), words.get("frontend"), words.get("sdk"), words.get("mode", "inference"),
            words.get("execution"),
        ).stack  # fmt: skip


def cases() -> Iterator[Case]:
    for rule in rules():
        texts = check(rule.code)
        for wanted, snippets in ((True, texts.reported), (False, texts.passed)):
            for index, snippet in enumerate(snippets):
                yield Case(rule.code, index, wanted, snippet)


CASES = list(cases())


def written(chosen: list[Case]) -> str:
    """A file with one factory a snippet, which keeps the names of one from those of the others."""
    lines = dict.fromkeys([*IMPORTS, *(line for case in chosen for line in case.snippet.imports)])
    factories = [f"def {case.name}():\n{indent(case.snippet.code, '    ')}\n    return Model()\n" for case in chosen]
    return "\n\n".join(["\n".join(lines), *factories])


class Captured:
    """Captures the snippets of a front end and mode when the first of them is asked for."""

    def __init__(self) -> None:
        self._results: dict[tuple[str, str], CaptureResult] = {}

    def graph(self, case: Case) -> OpGraph:
        """The graph of a snippet. Fails with what capture said where there is none."""
        result = self.result(case.stack.frontend, case.stack.mode)
        found = next((graph for graph in result.graphs if graph.name == case.name), None)
        said = [failure.message for failure in result.failures if failure.model in (case.name, None)]
        assert found is not None, f"{case.name} was not captured: {said}\n{case.snippet.code}"
        return found

    def result(self, frontend: str, mode: str) -> CaptureResult:
        key = (frontend, mode)
        if key not in self._results:
            chosen = [case for case in CASES if (case.stack.frontend, case.stack.mode) == key]
            with open(FILE, "w", encoding="utf-8") as file:
                file.write(written(chosen))
            rows = tuple({"path": FILE, "factory": case.name, "inputs": case.snippet.inputs} for case in chosen)
            self._results[key] = capture_models(
                CaptureRequest(path=FILE, frontend=frontend, mode=mode, settings_models=rows)
            )
        return self._results[key]


@pytest.fixture(scope="module")
def captured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Captured]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("snippets"))
        yield Captured()


@pytest.fixture(scope="module")
def knowledge() -> Knowledge:
    return Knowledge.load()


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_snippet(case: Case, captured: Captured, knowledge: Knowledge) -> None:
    """A bad one is reported by its rule; a good one is not, nor does it trade one warning for another."""
    graph = captured.graph(case)
    found = findings(graph, case.stack, knowledge)[0]
    said = f"{case.stack}: {[(finding.code, str(finding.severity)) for finding in found]}\n{case.snippet.code}"
    assert (case.code in {finding.code for finding in found}) == case.wanted, said
    assert case.wanted or all(finding.severity is Severity.INFO for finding in found), said
    assert graph.status == "captured"


def test_every_rule_has_both() -> None:
    codes = {rule.code for rule in rules()}
    for wanted in (True, False):
        assert {case.code for case in CASES if case.wanted is wanted} == codes
