"""Runs Microsoft's SARIF validator over files, or over the hand-made reports, with its rules for code scanning.

    python -m tests.render.validate_sarif [FILE.sarif ...]

Needs npm, which fetches `@microsoft/sarif-multitool` once; not part of the normal test run. Exits with 1 for any error,
warning or note, but for notes on addresses that cannot be reached and on a run outside of a repository: those ask for
another place to run in, not for another file.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

from neuronlint.render import View, render
from neuronlint.render.checkout import Checkout
from tests.render.conftest import REPORTS

TOOLS = Path(os.environ.get("SARIF_TOOLS", Path(tempfile.gettempdir()) / "sarif-tools"))
PACKAGE = "@microsoft/sarif-multitool"
ALLOWED = ("SARIF2003", "SARIF2006")
HERE = Checkout("", "https://github.com/me/repo", "0" * 40, "main")


def main(arguments: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(name) for name in arguments] or _reports(Path(folder))
        found = [line for file in files for line in _validate(file.resolve(), Path(folder))]
    print("\n".join([*found, f"{len(files)} files, {len(found)} remarks"]))
    return 1 if found else 0


def _reports(folder: Path) -> list[Path]:
    """The reports of the snapshots, as a run in a repository gives them, without files that are not at hand."""
    files = []
    for name, report in REPORTS.items():
        kept = [f for f in report.findings if f.through_text or (f.span and f.span.path in report.sources)]
        with patch("neuronlint.render.sarif.checkout", lambda: HERE):
            text = render(replace(report, findings=tuple(kept), hidden=()), "sarif", View(exit_code=1))
        files.append(folder / f"{name}.sarif")
        files[-1].write_text(text, encoding="utf-8")
    return files


def _validate(file: Path, folder: Path) -> list[str]:
    out = folder / "remarks.json"
    arguments = ["--rule-kind", "Sarif;Ghas", "--level", "Error;Warning;Note", "--log", "ForceOverwrite;PrettyPrint"]
    done = subprocess.run(
        [_validator(), "validate", str(file), *arguments, "--output", str(out)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in (0, 1) or not out.exists():
        raise SystemExit(f"{file}: the validator broke\n{done.stdout}{done.stderr}")
    run = json.loads(out.read_text(encoding="utf-8-sig"))["runs"][0]
    remarks = [(r["ruleId"], r.get("level", "warning"), r["message"].get("arguments")) for r in run.get("results", [])]
    return [f"{file.name}: {level} {rule} {words}" for rule, level, words in remarks if rule not in ALLOWED]


def _validator() -> str:
    """The program of the package for this system, fetched when it is not there yet."""
    pattern = f"node_modules/{PACKAGE}-*/Sarif.Multitool*"
    if not any(TOOLS.glob(pattern)):
        TOOLS.mkdir(parents=True, exist_ok=True)
        subprocess.run(["npm", "install", "--prefix", str(TOOLS), PACKAGE], check=True, stdout=sys.stderr)
    program = next(
        path for path in TOOLS.glob(pattern) if path.suffix in ("", ".exe") or path.name == "Sarif.Multitool"
    )
    program.chmod(0o755)
    return str(program)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
