"""What one rule says of a text, and what its fixes make of it."""

from __future__ import annotations

import ast
from functools import cache
from textwrap import dedent

from neuronlint.finding import Edit, Finding
from neuronlint.source.file import SourceFile
from neuronlint.source.rules import rules
from neuronlint.stack import Stack, resolve

_STACKS = {
    "native": ("trn2", "native", None, "training", "compile"),
    "lazy": ("trn1", "xla", "2.29", "training", "lazy"),
    "old": ("trn1", "xla", "2.20", "training", "lazy"),
    "trace": ("inf2", "xla", None, "inference", "trace"),
}


@cache
def stack_named(name: str) -> Stack:
    """One of the stacks that the tests speak of: native, lazy, old (lazy on an early release) and trace."""
    return resolve(*_STACKS[name]).stack


def found(code: str, text: str, stack: str = "native", path: str = "t.py") -> list[Finding]:
    """The findings of one rule, none where its words or its stacks leave the file out."""
    file = SourceFile.parse(path, dedent(text))
    rule = next(rule for rule in rules() if rule.code == code)
    if not rule.applies(stack_named(stack)) or not file.holds(rule.words):
        return []
    return sorted(set(rule.check(file, stack_named(stack))), key=lambda finding: finding.sort_key)


def said(code: str, text: str, stack: str = "native", path: str = "t.py") -> list[tuple[int, str]]:
    """The line and the severity of each finding of a rule."""
    return [(f.span.line if f.span else 0, str(f.severity)) for f in found(code, text, stack, path)]


def fixed(code: str, text: str, stack: str = "native") -> str:
    """A text after all fixes of a rule, proven to parse and to hold no more of them."""
    after = _applied(dedent(text), found(code, text, stack))
    ast.parse(after)
    assert _applied(after, found(code, after, stack)) == after, "the fix is not idempotent"
    return after


def _applied(text: str, findings: list[Finding]) -> str:
    edits = [edit for finding in findings if finding.fix for edit in finding.fix.edits]
    for edit in sorted(edits, key=lambda edit: (edit.line, edit.column), reverse=True):
        text = text[: _offset(text, edit.line, edit.column)] + edit.text + text[_end(text, edit) :]
    return text


def _end(text: str, edit: Edit) -> int:
    return _offset(text, edit.end_line, edit.end_column)


def _offset(text: str, line: int, column: int) -> int:
    return sum(len(row) + 1 for row in text.split("\n")[: line - 1]) + column - 1
