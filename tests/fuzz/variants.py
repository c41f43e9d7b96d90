"""Python files as nobody should write them: real ones cut, re-encoded and spliced, and made ones, deep or long."""

from __future__ import annotations

import ast
import io
import json
import random
import warnings
from collections.abc import Callable, Iterator, Sequence

Change = Callable[[bytes, random.Random], bytes | None]
"""What is done to a file; nothing where it cannot be done to this one."""

LATIN = "# -*- coding: latin-1 -*-\n"


def _text(data: bytes) -> str:
    return data.decode("utf-8", errors="replace")


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(len(data) + 1)]


def _latin(data: bytes) -> bytes:
    """With a letter that is one byte in latin-1 and no UTF-8."""
    return (_text(data) + "\n# caf\u00e9\n").encode("latin-1", errors="replace")


def _with_nulls(data: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(data) + 1)
    return data[:at] + b"\0" * chance.randrange(1, 4) + data[at:]


def _flipped(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(min(len(data), 5)):
        changed[chance.randrange(len(data))] = chance.randrange(256)
    return bytes(changed)


def _shuffled(data: bytes, chance: random.Random) -> bytes:
    """Lines out of order: indentation, brackets and strings that do not fit."""
    lines = data.splitlines(keepends=True)
    for _ in range(min(len(lines) // 2, 5)):
        a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
        lines[a], lines[b] = lines[b], lines[a]
    return b"".join(lines)


def _notebook(data: bytes, chance: random.Random) -> bytes | None:
    """The file in cells of whole statements, with magics; nothing for a file that has no such parts."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            body = ast.parse(_text(data)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    starts = {min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) for node in body}
    return _cells(data, chance, sorted(starts))


def _pieces(data: bytes, chance: random.Random) -> bytes:
    """The file in cells cut anywhere."""
    return _cells(data, chance, range(1, len(_lines(data)) + 1))


def _cells(data: bytes, chance: random.Random, starts: Sequence[int]) -> bytes:
    """Cells of some neighbouring parts each, that begin at these lines."""
    lines, cuts, at = _lines(data), [0], 0
    while (at := at + chance.randrange(1, 40)) < len(starts):
        cuts.append(starts[at] - 1)
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None,
         "source": ["%matplotlib inline\n", "!pip list\n", *lines[first:last]]}
        for first, last in zip(cuts, [*cuts[1:], len(lines)], strict=True)
    ]  # fmt: skip
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def _lines(data: bytes) -> list[str]:
    """Lines as Python counts them, which a form feed does not end."""
    return list(io.StringIO(_text(data), newline=None))


def _odd_notebook(data: bytes, chance: random.Random) -> bytes:
    """JSON whose values are of other types than a notebook's."""
    odd = chance.choice([None, 3, "x", [], {}, [None], [[1]], {"cells": 1}])
    shape = chance.choice([odd, {"cells": odd}, {"cells": [odd]}, {"cells": [{"cell_type": "code", "source": odd}]}])
    return json.dumps(shape).encode()


CHANGES: dict[str, Change] = {
    "as it is": lambda data, _: data,
    "cut": _cut,
    "latin-1": lambda data, _: _latin(data),
    "latin-1 with cookie": lambda data, _: LATIN.encode() + _latin(data),
    "wrong cookie": lambda data, _: b"# coding: no-such-codec\n" + data,
    "utf-16": lambda data, _: _text(data).encode("utf-16"),
    "BOM": lambda data, _: b"\xef\xbb\xbf" + data,
    "CRLF": lambda data, _: data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n"),
    "CR": lambda data, _: data.replace(b"\n", b"\r"),
    "nulls": _with_nulls,
    "flipped bytes": _flipped,
    "shuffled lines": _shuffled,
    "notebook": _notebook,
    "notebook in pieces": _pieces,
    "cut notebook": lambda data, chance: _cut(_pieces(data, chance), chance),
    "odd notebook": _odd_notebook,
}
"""What can be done to a real file, by name; those with `notebook` in it are written as .ipynb."""

DEPTHS = (1_000, 10_000, 100_000)


def deep() -> Iterator[tuple[str, str]]:
    """Names and texts of expressions and blocks nested in each other."""
    wraps = {
        "parentheses": ("(", "1", ")"),
        "lists": ("[", "1", "]"),
        "dicts": ("{1: ", "1", "}"),
        "open parentheses": ("(", "", ""),
        "calls in calls": ("f(", "1", ")"),
        "calls of calls": ("", "f", "()"),
        "attributes": ("", "model", ".to"),
        "subscripts": ("", "x", "[0]"),
        "sums": ("", "1", " + x"),
        "powers": ("", "1", " ** x"),
        "negations": ("not ", "x", ""),
        "signs": ("-", "x", ""),
        "lambdas": ("lambda: ", "x", ""),
        "conditionals": ("1 if x else ", "1", ""),
        "comparisons": ("", "x", " < x"),
        "and": ("", "x", " and (x or x)"),
        "comprehensions": ("[", "x", " for x in x]"),
        "awaits": ("await ", "x", ""),
        "moves": ("", "torch.nn.Linear(2, 2)", ".to('cuda')"),
        "conditions": ("torch.where(x > 0, ", "x", ", x)"),
    }
    for name, (before, middle, after) in wraps.items():
        for depth in DEPTHS:
            yield f"{name} {depth}", f"import torch\ny = {before * depth}{middle}{after * depth}\n"
    for depth in DEPTHS:
        yield f"elif {depth}", "if x: pass\n" + "elif x: pass\n" * depth
        yield f"targets {depth}", "x = " * depth + "1\n"
        yield f"strings {depth}", "x = (" + "'a' " * depth + ")\n"
        yield f"blocks {depth}", _blocks("if x:", depth)
        yield f"decorators {depth}", "@f\n" * depth + "def g(): pass\n"
        yield f"continuations {depth}", "x = 1" + " \\\n + 1" * depth + "\n"
    for keyword in ("def f():", "class C:", "for x in y:", "with x:", "try:", "while x:", "async def f():"):
        yield f"90 times {keyword}", _blocks(keyword, 90)


def _blocks(opening: str, depth: int) -> str:
    """Blocks in blocks, by one space each; cut off where the text would outgrow any real file."""
    depth = min(depth, 5_000)
    tail = "".join(f"{' ' * at}finally: pass\n" for at in reversed(range(depth))) if opening == "try:" else ""
    return "".join(f"{' ' * at}{opening}\n" for at in range(depth)) + " " * depth + "pass\n" + tail


def long(lines: int = 100_000) -> Iterator[tuple[str, str]]:
    """Names and texts of files with many lines, or much on one line."""
    head = "import torch\nfrom torch import nn\nmodel = nn.Linear(2, 2).cuda()\n"
    yield "assignments", head + "x = model(torch.ones(2))\n" * lines
    yield "chained names", head + "x0 = model\n" + "".join(f"x{n + 1} = x{n}\n" for n in range(lines))
    yield "functions", head + "def f(x):\n    return x.item()\n" * (lines // 2)
    yield "classes", head + "class M(nn.Module):\n    def forward(self, x):\n        return x.cuda()\n" * (lines // 3)
    yield "one loop", head + "for x in model:\n" + "    print(x.item())\n" * lines
    yield "loops", head + "for x in model:\n    x.backward()\n    opt.step()\n" * (lines // 3)
    yield "imports", "".join(f"import torch.a{n} as b{n}\n" for n in range(lines))
    yield "comments", "# neuronlint: ignore[NRN701] why\n" * lines
    yield "suppressed lines", head + "x = x.cuda()  # neuronlint: ignore[NRN1, NRN7] why\n" * lines
    yield "wrong suppressions", "x = 1  # neuronlint: ignore\n" * lines
    yield "blank lines", head + "\n" * lines
    yield "one string", f"x = '''{'text and ' * lines}'''\n"
    yield "one line", head + "x = [" + "model.cuda(), " * lines + "]\n"
    yield "statements on a line", head + "x.cuda(); " * lines + "\n"
    yield "one dict", "x = {\n" + "".join(f"    {n}: 'cuda:{n}',\n" for n in range(lines)) + "}\n"
    yield "one call", head + "f(\n" + "    x.cuda(),\n" * lines + ")\n"
    yield "wide line", f"x = 1  # {'é' * 10_000_000}\n"
    yield "unclosed at the end", head + "x = 1\n" * lines + "y = (\n"


def changed(data: bytes, chance: random.Random, names: Sequence[str] = ()) -> Iterator[tuple[str, bytes]]:
    """The file as each change leaves it; empty files only as they are."""
    for name in names or CHANGES:
        made = CHANGES[name](data, chance) if data or name == "as it is" else None
        if made is not None:
            yield name, made
