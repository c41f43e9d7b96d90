"""Writes which operator overloads of torch have an XLA kernel, and which decompose: the table of last resort.

Run from the root of the repository with an interpreter that has torch, torch_xla and torchvision:

    python -m tests.accuracy.registry_xla

An overload without an XLA kernel that is not composite runs on the host, through torch_xla's boxed CPU fallback.
`out=` overloads are left out: captured graphs are functional or in-place, and they would nearly double the file.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import torch

from tests.accuracy.lower_xla import RULES, write

NAMESPACES = ("aten", "torchvision", "_c10d_functional")
EXPLICIT = ("CompositeExplicitAutograd", "CompositeExplicitAutogradNonFunctional")


def registry() -> list[dict[str, Any]]:
    """One row an overload, sorted by name."""
    import torch_xla  # noqa: F401 - registers its operators
    import torchvision  # noqa: F401 - registers its operators

    return [_row(name) for name in sorted(torch._C._dispatch_get_all_op_names()) if _kept(name)]


def _kept(name: str) -> bool:
    namespace, _, rest = name.partition("::")
    if namespace not in NAMESPACES or not torch._C._dispatch_has_kernel(name):
        return False
    operator, _, overload = rest.partition(".")
    schema = torch._C._get_schema(f"{namespace}::{operator}", overload)
    return not any(argument.is_out for argument in schema.arguments)


def _row(name: str) -> dict[str, Any]:
    def has(key: str) -> bool:
        return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key))

    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    composite = "implicit" if has("CompositeImplicitAutograd") else "explicit" if any(map(has, EXPLICIT)) else None
    return {
        "op": f"{namespace}.{operator}.{overload or 'default'}", "xla": has("XLA"), "autograd_xla": has("AutogradXLA"),
        "composite": composite,
    }  # fmt: skip


def main() -> None:
    rows = sorted(registry(), key=lambda row: str(row["op"]))
    write(RULES / f"xla-registry-torch_xla-{version('torch_xla').rsplit('.', 1)[0]}.jsonl", rows)


if __name__ == "__main__":
    main()
