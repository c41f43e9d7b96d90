"""What the dispatcher of an installed torch knows of operators: kernels of a backend, decompositions, fallbacks."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import torch

COMPOSITES = {
    "implicit": "CompositeImplicitAutograd",
    "explicit": "CompositeExplicitAutograd",
    "structured": "CompositeExplicitAutogradNonFunctional",
}
"""How torch takes an operator apart by itself: into others, or (structured) into a call of its own `out=` form."""


def registered(key: str, namespaces: Collection[str]) -> list[dict[str, Any]]:
    """One row an overload, sorted by its printed name, for a dispatch key such as `XLA` or `PrivateUse1`.

    Of these libraries every overload has a row, of any other those that the backend has a kernel for.

    `kernel` and `autograd` say whether the backend has its own on that key and on the autograd key of it, `composite`
    how the overload comes apart (see `COMPOSITES`) or None. `out=` overloads are left out: captured graphs are
    functional or in place.
    """
    rows = [_row(name, key) for name in sorted(torch._C._dispatch_get_all_op_names()) if _is_functional(name)]
    kept = [row for row in rows if row["op"].split(".")[0] in namespaces or row["kernel"] or row["autograd"]]
    return sorted(kept, key=lambda row: str(row["op"]))


def falls_back(key: str) -> bool:
    """Whether the backend has a kernel for every operator without one, which runs it on the host."""
    return bool(torch._C._dispatch_has_backend_fallback(getattr(torch._C.DispatchKey, key)))


def _is_functional(name: str) -> bool:
    namespace, _, rest = name.partition("::")
    if not torch._C._dispatch_has_kernel(name):
        return False
    operator, _, overload = rest.partition(".")
    try:
        schema = torch._C._get_schema(f"{namespace}::{operator}", overload)
    except RuntimeError:  # kernels of a library whose operators are not loaded
        return False
    return not any(argument.is_out for argument in schema.arguments)


def _row(name: str, key: str) -> dict[str, Any]:
    namespace, _, rest = name.partition("::")
    operator, _, overload = rest.partition(".")
    composite = next((kind for kind, at in COMPOSITES.items() if _has(name, at)), None)
    forms = [name, *_out_forms(f"{namespace}::{operator}", overload)] if composite == "structured" else [name]
    return {
        "op": f"{namespace}.{operator}.{overload or 'default'}", "kernel": any(_has(form, key) for form in forms),
        "autograd": _has(name, f"Autograd{key}"), "composite": composite,
    }  # fmt: skip


def _has(name: str, key: str) -> bool:
    """Whether a kernel that computes something is registered: a fallthrough hands the call on to the next key."""
    return bool(torch._C._dispatch_has_kernel_for_dispatch_key(name, key)) and not (
        torch._C._dispatch_kernel_for_dispatch_key_is_fallthrough(name, key)
    )


def _out_forms(operator: str, overload: str) -> list[str]:
    """The `out=` overload that a structured one is made of."""
    own = f"{operator}.{overload}_out"
    form = own if overload and torch._C._dispatch_has_kernel(own) else f"{operator}.out"
    return [form] if torch._C._dispatch_has_kernel(form) else []
