"""`--baseline` and `--write-baseline`: what a report becomes by them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from neuronlint import baseline
from neuronlint.cli.mending import checked
from neuronlint.knowledge import checks
from neuronlint.source.rules import on
from neuronlint.sources import Sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuronlint.baseline import Baseline, Key, LookedFor
    from neuronlint.finding import Finding, Span
    from neuronlint.knowledge.checks import Check
    from neuronlint.report import Report
    from neuronlint.runner import CheckOptions


def with_baseline(report: Report, options: CheckOptions, known: Baseline) -> Report:
    """The report without what the baseline knows, and with a finding for what of it is gone."""
    compared = baseline.compare(known, report.findings, _sources(report), _looked_for(report, options))
    new = list(compared.new)
    if compared.stale:
        new += _shown([baseline.stale_finding(known, compared.stale)], options)
    return _hiding(report, new, compared.known)


def record(report: Report, options: CheckOptions, path: str) -> tuple[Report, str]:
    """Writes the baseline; the report without its findings, and a line that says what was written."""
    old = baseline.read(path) if Path(path).exists() else baseline.Baseline(path)
    new = baseline.updated(old, report.findings, _sources(report), _looked_for(report, options))
    baseline.write(new)
    count, before = sum(new.counts.values()), sum(old.counts.values())
    gone = sum(max(number - new.counts.get(key, 0), 0) for key, number in old.counts.items())
    line = f"Wrote {count} finding{'' if count == 1 else 's'} to {path}"
    line += f" ({count - before + gone} new, {gone} gone)." if before else "."
    return _hiding(report, [], report.findings), line


def _hiding(report: Report, left: Sequence[Finding], hidden: Sequence[Finding]) -> Report:
    order = sorted([*report.hidden, *hidden], key=lambda finding: finding.sort_key)
    return replace(
        report,
        findings=tuple(sorted(left, key=lambda finding: finding.sort_key)),
        hidden=tuple(order),
        suppressed=report.suppressed + len(hidden),
    )


def _shown(findings: list[Finding], options: CheckOptions) -> list[Finding]:
    floor = options.min_severity.rank
    return [finding for finding in options.selection.pick(findings) if finding.severity.rank >= floor]


def _sources(report: Report) -> baseline.Sources:
    def lines(span: Span) -> tuple[str, ...]:
        if isinstance(report.sources, Sources):
            return report.sources.around(span)
        return report.sources.get(span.path, ())

    return lines


def _looked_for(report: Report, options: CheckOptions) -> LookedFor:
    """What this run looked for; in doubt it did not, so that nothing is forgotten that may still be there."""
    captured = {model.name for model in report.models if model.status == "captured"}
    whole = {model.path for model in report.models} - {m.path for m in report.models if m.status != "captured"}
    unread = {f.span.path for f in (*report.findings, *report.hidden) if f.span and f.code == "NRN901"}
    read = (set(dict([options.stdin])) if options.stdin else checked(options)) - unread
    of_source = on(options.resolved.stack)

    def looked_for(key: Key) -> bool:
        if key.rule not in checks.codes():
            return True
        rule = checks.check(key.rule)
        if not _shows(rule, options) or options.selection.ignored_in(key.path, key.rule):
            return False
        if not key.path:
            return any(key.scope == name or key.scope.startswith(f"{name}.") for name in captured)
        if rule.lane == "graph":
            return key.path in whole
        if rule.lane == "source":
            return key.path in read and key.rule in of_source and not options.graph_only
        return key.path in read | unread

    return looked_for


def _shows(rule: Check, options: CheckOptions) -> bool:
    """Whether a rule's findings get as far as the report."""
    severity = rule.severity_for(options.resolved.stack)
    return severity.rank >= options.min_severity.rank and options.selection.on(rule.code)
