"""Recall of the source lane on scripts whose migration patterns a person has named.

    python -m tests.accuracy.recall_scripts FOLDER

FOLDER holds `NAME.before.py` (or a folder `NAME.before`) beside `NAME.notes.md` with a line `Patterns: DEV005, …`. A
pattern counts as found when a rule that names it in `rules/checks` reports something in the script on either stack
(trn2 native, trn1 lazy), as not to be found where no rule has it. Prints what is missed, and the share found.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from neuronlint.knowledge import checks
from neuronlint.source_lane import check_text
from tests.accuracy.draw_findings import STACKS


def wanted(notes: Path) -> list[str]:
    match = re.search(r"^Patterns: (.*?)\.?$", notes.read_text(encoding="utf-8"), re.MULTILINE)
    return re.findall(r"[A-Z]+\d{3}", match[1]) if match else []


def reported(scripts: list[Path]) -> set[str]:
    """The patterns of the rules that report something in any of these scripts."""
    found: set[str] = set()
    for path in scripts:
        for stack in STACKS.values():
            for finding in check_text(path.name, path.read_text(encoding="utf-8"), stack).findings:
                found.update(checks.check(finding.code).patterns)
    return found


def main() -> int:
    folder, hits, total = Path(sys.argv[1]), 0, 0
    ruled = {pattern for code in checks.codes() for pattern in checks.check(code).patterns}
    for notes in sorted(folder.glob("*.notes.md")):
        name = notes.name.removesuffix(".notes.md")
        scripts = sorted([*folder.glob(f"{name}.before.py"), *(folder / f"{name}.before").glob("*.py")])
        patterns, found = wanted(notes), reported(scripts)
        missed = [f"{p}{'' if p in ruled else ' (no rule)'}" for p in patterns if p not in found]
        hits, total = hits + len(patterns) - len(missed), total + len(patterns)
        sys.stdout.write(
            f"{name}: {len(patterns) - len(missed)} of {len(patterns)}; missed: {', '.join(missed) or '-'}\n"
        )
    sys.stdout.write(f"recall: {hits} of {total} ({hits / max(total, 1):.1%})\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
