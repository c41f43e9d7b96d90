"""One run of `check`: from what was typed to the exit code."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from neuronlint import runner
from neuronlint.cli.app import BROKEN, FOUND, OK, complain, report_crash
from neuronlint.cli.check_options import STDIN, refuse_conflicts, refuse_with_stdin, runner_options
from neuronlint.cli.chosen import COMMAND_LINE, Chosen, choose
from neuronlint.cli.options import load_settings, resolve_stack
from neuronlint.cli.output import ProgressLine, view, write
from neuronlint.finding import Severity
from neuronlint.render import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuronlint.config import Settings
    from neuronlint.report import Report
    from neuronlint.runner import CheckOptions, Outcome


@dataclass(frozen=True, slots=True)
class Check:
    """What was typed, the settings, and what both come to."""

    given: dict[str, Any]
    settings: Settings
    chosen: Chosen
    options: CheckOptions

    @classmethod
    def prepare(
        cls, paths: tuple[str, ...], config: Path | None, given: dict[str, Any], typed: Callable[[str], bool]
    ) -> Check:
        """Reads the settings. Raises `ConfigurationError` for what does not fit or does not go together."""
        named = (given["stdin_filename"],) if STDIN in paths and given["stdin_filename"] else paths
        settings = load_settings(named, config)
        chosen = choose(given, typed, settings)
        refuse_conflicts(given, typed, chosen)
        refuse_with_stdin(paths, given, typed)
        return cls(
            given, settings, chosen, runner_options(paths, given, chosen, settings, resolve_stack(given, settings))
        )

    @property
    def acts(self) -> bool:
        """Whether the command line asks for something else than to check, or to check and fix."""
        return bool(self.given["diff"] or self.given["add_ignore"] is not None or self.given["write_baseline"])

    def once(self) -> int:
        """Checks, does what is to be done about the findings, and shows the rest; the exit code."""
        if STDIN in self.options.paths:
            name = self.given["stdin_filename"] or "stdin.py"
            return self._with_stdin(name, sys.stdin.buffer.read())._run_stdin()
        if self.acts:
            return self._act()
        outcome = self._run()
        report = self._compared(outcome.report)
        if not self.chosen["fix"]:
            return self._shown(outcome, report)
        from neuronlint.cli import mending

        changed, failed = mending.fix(report, self.options, self.chosen["unsafe-fixes"])
        if changed:
            outcome = self._run()
            report = self._compared(outcome.report)
        return self._shown(outcome, report, BROKEN if failed else OK)

    def _act(self) -> int:
        """`--diff`, `--add-ignore` or `--write-baseline`."""
        from neuronlint.add_ignore import checked_reason
        from neuronlint.cli import baselining, mending

        reason = checked_reason(self.given["add_ignore"]) if self.given["add_ignore"] is not None else ""
        outcome = self._run()
        if self.given["write_baseline"]:
            report, line = baselining.record(outcome.report, self.options, self._baseline())
            mending.tell([line])
            return self._shown(outcome, report)
        report = self._compared(outcome.report)
        if reason:
            return self._told(outcome, mending.add_ignores(report, self.options, reason))
        fixed = mending.plan(report, self.options, self.chosen["unsafe-fixes"])
        return self._told(outcome, mending.show_diff(fixed, self._write))

    def _with_stdin(self, name: str, data: bytes) -> Check:
        return replace(self, options=replace(self.options, paths=(), stdin=(name, data)))

    def _run_stdin(self) -> int:
        """What `-` reads, checked under its name; mended, it goes to stdout and the report to stderr."""
        outcome = self._run()
        report = self._compared(outcome.report)
        if not self.given["diff"] and not self.chosen["fix"]:
            return self._shown(outcome, report)
        from neuronlint.cli import mending

        fixed = mending.plan(report, self.options, self.chosen["unsafe-fixes"])
        if self.given["diff"]:
            return self._told(outcome, mending.show_diff(fixed, self._write))
        mending.tell(fixed.notes)
        name, data = self.options.stdin or ("", b"")
        after = fixed.changes[0].after if fixed.changes else data
        sys.stdout.buffer.write(after)
        sys.stdout.flush()
        outcome = self._with_stdin(name, after)._run()
        report = self._compared(outcome.report)
        click.echo(self._text(report), err=True, nl=False)
        return self._told(outcome, self._exit_code(report))

    def _run(self) -> Outcome:
        with ProgressLine(enabled=not self.chosen["quiet"]) as progress:
            return runner.run(replace(self.options, progress=progress))

    def _baseline(self) -> str:
        """The file of the baseline; one that the settings name is beside them."""
        named: str = self.chosen["baseline"] or ""
        if not named or self.chosen.origins["baseline"] == COMMAND_LINE:
            return named
        return (Path(self.settings.path or "").parent / named).as_posix()

    def _compared(self, report: Report) -> Report:
        path = self._baseline()
        if not path or self.given["write_baseline"]:
            return report
        from neuronlint.baseline import read
        from neuronlint.cli.baselining import with_baseline

        return with_baseline(report, self.options, read(path))

    def _shown(self, outcome: Outcome, report: Report, code: int = OK) -> int:
        self._write(self._text(report))
        return self._told(outcome, code or self._exit_code(report))

    def _told(self, outcome: Outcome, code: int) -> int:
        """The exit code, after what could not be checked was told."""
        for problem in outcome.problems:
            complain(problem)
        for crash in outcome.crashes:
            report_crash(crash)
        return BROKEN if outcome.problems or outcome.crashes else code

    def _text(self, report: Report) -> str:
        form, unsafe = self.chosen["format"], self.chosen["unsafe-fixes"]
        if not self.chosen["statistics"]:
            quiet, verbose = self.chosen["quiet"], self.chosen["verbose"]
            return render(report, form, view(quiet, verbose, self._output(), self._exit_code(report), unsafe))
        from neuronlint import statistics

        rows = statistics.rows(report.findings, unsafe)
        return statistics.as_json(rows) if form == "json" else statistics.as_text(rows, unsafe)

    def _write(self, text: str) -> None:
        write(text, self._output())

    def _output(self) -> Path | None:
        return Path(self.chosen["output"]) if self.chosen["output"] else None

    def _exit_code(self, report: Report) -> int:
        if self.chosen["fail-on"] == "never":
            return OK
        floor = Severity(self.chosen["fail-on"]).rank
        return FOUND if any(finding.severity.rank >= floor for finding in report.findings) else OK
