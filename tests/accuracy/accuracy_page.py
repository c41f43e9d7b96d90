"""Writes `docs/accuracy.md` from the counts that `score_models.py --json` left in `tests/accuracy/scores/`.

    python -m tests.accuracy.accuracy_page [docs/accuracy.md]

The causes of what is missed come from `tests/accuracy/causes.toml`; one without a cause is an error, so that the page
never shows a miss that nobody looked into.
"""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuronlint.edits import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

FOLDER = Path(__file__).parent
PAGE = Path("docs/accuracy.md")
TITLES = {
    "xla-off": "xla, functionalization off (torch-neuronx's default)",
    "xla-on": "xla, functionalization on",
    "native": "native, compile",
}
INTRODUCTION = """\
# How accurate the tables are

The operator tables are measured on single calls. Here they are held against the real lowering of whole models of timm,
torchvision, transformers and diffusers, in evaluation and in training with AdamW. A call counts that does not run on
the chip: on xla a call that torch_xla ran on the host, on native one that upstream torch-mlir did not lower to
StableHLO. *Precision* is the share of such predictions that were real, *recall* the share of real ones that were
predicted. What a real compiler and a real device do afterwards was not measured here. The tables were measured on
torch's own operator database, on calls written by hand and on a spread of the calls of these very models, so that this
says how well rows and conditions carry over to all calls of whole models, and less how they would do on others.

This page is written by `python -m tests.accuracy.accuracy_page` from what `python -m tests.accuracy.score_models`
counted; its docstring says how.
"""


def page(scores: Mapping[str, Any], causes: Mapping[tuple[str, str], str]) -> str:
    """The page. Raises `SystemExit` where a false or missed call has no cause."""
    return "\n".join([INTRODUCTION, *_overview(scores), *_sections(scores, causes)]).rstrip() + "\n"


def _overview(scores: Mapping[str, Any]) -> Iterator[str]:
    yield "| frontend | mode | models | calls | not on the chip | precision | recall |"
    yield "|---|---|---|---|---|---|---|"
    for name, title in TITLES.items():
        for mode, score in scores.get(name, {"modes": {}})["modes"].items():
            off_chip = score["hit"] + score["missed"]
            yield (
                f"| {title} | {mode} | {score['models']} | {score['calls']:,} | {off_chip:,} "
                f"| {score['precision']:.4f} | {score['recall']:.4f} |"
            )
    yield ""


def _sections(scores: Mapping[str, Any], causes: Mapping[tuple[str, str], str]) -> Iterator[str]:
    for name, title in TITLES.items():
        if name not in scores:
            continue
        data = scores[name]
        yield f"## {title}\n"
        yield f"Measured with {', '.join(f'{package} {version}' for package, version in data['with'].items())}.\n"
        yield _unknown(data)
        for mode, score in data["modes"].items():
            yield f"### {mode}\n"
            yield from _faults(data["frontend"], score, causes)
            yield from _left_out(score)


def _unknown(data: Mapping[str, Any]) -> str:
    share = len(data["unknown"]) / max(1, data["overloads"])
    named = f": {', '.join(f'`{op}`' for op in data['unknown'])}" if data["unknown"] else ""
    return (
        f"Of {data['overloads']} overloads, {len(data['unknown'])} ({share:.1%}) have calls without a verdict{named}.\n"
    )


def _faults(frontend: str, score: Mapping[str, Any], causes: Mapping[tuple[str, str], str]) -> Iterator[str]:
    if not score["faults"]:
        yield "Nothing was missed, and nothing predicted that was not real.\n"
        return
    yield "| operator | what | calls | models | cause |"
    yield "|---|---|---|---|---|"
    for fault in score["faults"]:
        cause = causes.get((frontend, fault["op"]))
        if cause is None:
            raise SystemExit(f"tests/accuracy/causes.toml says nothing of {fault['op']} on {frontend}")
        models = ", ".join(_short(model) for model in fault["models"][:4])
        more = f" and {len(fault['models']) - 4} more" if len(fault["models"]) > 4 else ""
        yield f"| `{fault['op']}` | {fault['kind']} | {fault['calls']} | {models}{more} | {cause} |"
    yield ""


def _left_out(score: Mapping[str, Any]) -> Iterator[str]:
    if score["raised"]:
        yield "Runs that stopped, compared up to there:\n"
        for model, raised in score["raised"].items():
            known = "predicted" if raised["predicted"] else "not predicted"
            yield f"- {_short(model)} ({known}): {raised['error'][:160]}"
        yield ""
    if score["unscored"]:
        yield "Not scored:\n"
        yield from (f"- {_short(model)}: {why[:160]}" for model, why in score["unscored"].items())
        yield ""


def _short(reference: str) -> str:
    """`timm: resnet18`, without the arguments of a configuration."""
    module, _, expression = reference.partition(":")
    name = expression.removeprefix("create_model('").split("(")[0].removesuffix("')")
    return f"{module.split('.')[0]} {name}"


def read_scores() -> dict[str, Any]:
    return {path.stem: json.loads(path.read_text()) for path in sorted((FOLDER / "scores").glob("*.json"))}


def read_causes() -> dict[tuple[str, str], str]:
    rows = tomllib.loads((FOLDER / "causes.toml").read_text())["cause"]
    return {(row["frontend"], row["op"]): row["text"] for row in rows}


def main(arguments: Sequence[str]) -> int:
    path = Path(arguments[0]) if arguments else PAGE
    write_atomically(path, page(read_scores(), read_causes()).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
