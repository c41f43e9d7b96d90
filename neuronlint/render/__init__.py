"""Renderers: one module a format, each a function from a report to text, imported when first asked for."""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuronlint.report import Report

FORMATS = ("text", "concise", "json", "sarif", "github", "gitlab", "junit", "markdown")


@dataclass(frozen=True, slots=True)
class View:
    """How to show a report.

    `width` is that of a terminal, None where the output is a file or a pipe; `exit_code` is the one that the command
    ends with, None where there is no command; `unsafe_fixes` says that unsafe fixes are wanted too.
    """

    quiet: bool = False
    verbose: bool = False
    colour: bool = False
    width: int | None = None
    exit_code: int | None = None
    unsafe_fixes: bool = False


def render(report: Report, name: str, view: View = View()) -> str:
    """The report in the format of that name, one of `FORMATS`, ending in a newline unless it is empty."""
    module = importlib.import_module(f"neuronlint.render.{name}")
    renderer: Callable[[Report, View], str] = module.render
    return renderer(report, view)
