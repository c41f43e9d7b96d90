"""Recall of the source lane on scripts whose migration patterns a person has named.

    python -m tests.accuracy.recall_scripts FOLDER

FOLDER holds `NAME.before.py` (or a folder `NAME.before`) beside `NAME.notes.md` with a line `Patterns: DEV005, …`. A
pattern counts as found when a rule that names it in `rules/checks` reports something in the script on any stack (trn2
native, trn1 lazy, inf2 trace). What is missed is printed, and the share found: of all pairs, and without those of
`recall_exempt.toml`, in which nothing is wrong or another finding tells of the cause.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from neuronlint.data import load_toml
from neuronlint.knowledge import checks
from neuronlint.source_lane import check_text
from neuronlint.stack import resolve
from tests.accuracy.draw_findings import STACKS

_STACKS = (*STACKS.values(), resolve("inf2", "xla").stack)
_EXEMPT = Path(__file__).with_name("recall_exempt.toml")


def wanted(notes: Path) -> list[str]:
    match = re.search(r"^Patterns: (.*?)\.?$", notes.read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r"[A-Z]+\d{3}", match[1]) if match else []


def reported(scripts: list[Path]) -> set[str]:
    """The patterns of the rules that report something in any of these scripts."""
    found: set[str] = set()
    for path in scripts:
        for stack in _STACKS:
            for finding in check_text(path.name, path.read_text(encoding="utf-8"), stack).findings:
                found.update(checks.check(finding.code).patterns)
    return found


def exempt() -> dict[tuple[str, str], str]:
    """Why a pair of script and pattern is not to be found."""
    return {(row["script"], row["pattern"]): row["reason"] for row in load_toml(_EXEMPT)["pair"]}


def main() -> int:
    folder, hits, total = Path(sys.argv[1]), 0, 0
    reasons, silent = exempt(), list[tuple[str, str]]()
    for notes in sorted(folder.glob("*.notes.md")):
        name = notes.name.removesuffix(".notes.md")
        scripts = sorted([*folder.glob(f"{name}.before.py"), *(folder / f"{name}.before").glob("*.py")])
        patterns, found = wanted(notes), reported(scripts)
        missed = [pattern for pattern in patterns if pattern not in found]
        silent += [(name, pattern) for pattern in missed if (name, pattern) in reasons]
        hits, total = hits + len(patterns) - len(missed), total + len(patterns)
        real = [pattern for pattern in missed if (name, pattern) not in reasons]
        sys.stdout.write(
            f"{name}: {len(patterns) - len(missed)} of {len(patterns)}; missed: {', '.join(real) or '-'}\n"
        )
    for pair in silent:
        sys.stdout.write(f"not to be found: {pair[0]} {pair[1]}: {reasons[pair]}\n")
    left = total - len(silent)
    sys.stdout.write(f"recall: {hits} of {total} ({hits / max(total, 1):.1%}); ")
    sys.stdout.write(f"{hits} of {left} ({hits / max(left, 1):.1%}) of those to be found\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
