"""The files of a new rule, as `neuronlint rules new` writes them."""

from __future__ import annotations

import re
from pathlib import Path

from neuronlint.errors import ConfigurationError
from neuronlint.knowledge import checks

FAMILIES = {"source": "2345678", "graph": "1234567"}

TEXTS = '''\
code = "{code}"
name = "{name}"
lane = "{lane}"
severity = "warning"

[text]
headline = "TODO: the thing and the consequence, at most 100 characters"
then = "TODO: what happens; a table keyed by stack where stacks differ"
help = ["TODO: what to do"]

[[bad]]
code = """
import torch

TODO = "code that the rule reports"
"""

[[good]]
code = """
import torch
"""

[[evidence]]
kind = "documented"
source = "TODO: a page, an issue or a measurement"
sdk = "*"
'''

SOURCE = '''\
"""TODO: what the rule finds, in one line."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules.base import SourceRule
from neuronlint.stack import Stack


class {title}(SourceRule):
    code = "{code}"

    def check(self, file: SourceFile, stack: Stack) -> Iterator[Finding]:
        for node in file.tree.of(ast.Name):
            if node.id == "TODO":
                yield self.at(file, node, stack)
'''

GRAPH = '''\
"""TODO: what the rule finds, in one line."""

from __future__ import annotations

from collections.abc import Iterator

from neuronlint.finding import Finding
from neuronlint.graph.rules.base import Context, GraphRule


class {title}(GraphRule):
    code = "{code}"

    def check(self, context: Context) -> Iterator[Finding]:
        for node, verdict in context.judged():
            if node.call.op == "aten.TODO.default":
                yield self.at_call(context, node, verdict)
'''

SOURCE_TEST = '''\
"""{code} {name}: what it passes over, and what it reports."""

from __future__ import annotations

from neuronlint.source_lane import check_text
from neuronlint.stack import resolve


def codes(text: str) -> list[str]:
    return [finding.code for finding in check_text("script.py", text, resolve().stack).findings]


def test_passes_over() -> None:
    assert "{code}" not in codes("import torch\\n")


def test_reports() -> None:
    assert "{code}" in codes("import torch\\n\\nTODO = 1\\n")
'''

GRAPH_TEST = '''\
"""{code} {name}: what it passes over, and what it reports."""

from __future__ import annotations

from neuronlint.call import OperatorCall
from neuronlint.graph.opgraph import OpGraph
from neuronlint.graph.rules import findings
from neuronlint.knowledge import Knowledge
from neuronlint.stack import resolve
from tests.graph.graphs import call, graph, tensor


def codes(made: OpGraph) -> list[str]:
    return [finding.code for finding in findings(made, resolve().stack, Knowledge.load())[0]]


def node(op: str) -> OperatorCall:
    return call(op, tensor(4), self=tensor(4))


def test_passes_over() -> None:
    assert "{code}" not in codes(graph(node("aten.relu.default")))


def test_reports() -> None:
    assert "{code}" in codes(graph(node("aten.TODO.default")))
'''


def scaffold(root: Path, code: str, name: str, lane: str) -> list[Path]:
    """Writes the three files of a rule. Raises `ConfigurationError` where one is there, or the code is not free.

    The root is a checkout: an installed neuronlint has no place for a rule.
    """
    if not (root / "rules" / "checks").is_dir() or not (root / "neuronlint" / lane / "rules").is_dir():
        raise ConfigurationError(f"{root}: no checkout of neuronlint; go to one, or name it with --root")
    _validate(root, code, name, lane)
    module = name.replace("-", "_")
    words = {"code": code, "name": name, "lane": lane, "title": "".join(word.capitalize() for word in name.split("-"))}
    files = {
        root / "rules" / "checks" / f"{code}.toml": TEXTS,
        root / "neuronlint" / lane / "rules" / f"{module}.py": SOURCE if lane == "source" else GRAPH,
        root / "tests" / lane / f"test_{module}.py": SOURCE_TEST if lane == "source" else GRAPH_TEST,
    }
    for path in files:
        if path.exists():
            raise ConfigurationError(f"{path}: there is such a file already; choose another name")
    for path, template in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        text = re.sub(r"\{(code|name|lane|title)\}", lambda match: words[match[1]], template)
        path.write_text(text, encoding="utf-8", newline="\n")
    if lane == "source":
        _enter(root / "neuronlint" / lane / "rules" / "index.py", code, module)
    return list(files)


def _enter(index: Path, code: str, module: str) -> None:
    """Puts a rule into the index of its lane, in the order of the codes."""
    lines = index.read_text(encoding="utf-8").split("\n")
    entries = [number for number, line in enumerate(lines) if re.match(r' {4}"NRN', line)]
    below = [number for number in entries if lines[number] > f'    "{code}"']
    lines.insert(below[0] if below else lines.index("}  # fmt: skip"), f'    "{code}": ("{module}", ("TODO",)),')
    index.write_text("\n".join(lines), encoding="utf-8", newline="\n")


def _validate(root: Path, code: str, name: str, lane: str) -> None:
    if not re.fullmatch(rf"NRN[{FAMILIES[lane]}]\d\d", code):
        families = ", ".join(f"NRN{digit}xx" for digit in FAMILIES[lane])
        raise ConfigurationError(f"`{code}` is no code for a {lane} rule; they are {families}")
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise ConfigurationError(f"`{name}` is no kebab-case name; write it as cpu-fallback")
    taken = {path.stem for path in (root / "rules" / "checks").glob("NRN*.toml")} | set(checks.codes())
    if code in taken:
        raise ConfigurationError(f"{code} is taken; the next free one is {_next_free(code, taken)}")
    if name in checks.names():
        raise ConfigurationError(f"the name `{name}` is taken by {checks.names()[name]}; choose another")


def _next_free(code: str, taken: set[str]) -> str:
    """After the highest of its hundred: a code that was given up is never used again."""
    family = code[:4]
    highest = max(int(known[4:]) for known in taken if known.startswith(family))
    return f"{family}{highest + 1:02}"
