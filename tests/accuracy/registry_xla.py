"""Writes which operator overloads of torch have an XLA kernel, and which decompose: the table of last resort.

Run from the root of the repository with an interpreter that has torch, torch_xla and torchvision:

    python -m tests.accuracy.registry_xla

An overload without an XLA kernel that is not composite runs on the host, through torch_xla's boxed CPU fallback.
"""

from __future__ import annotations

from importlib.metadata import version

from neuronlint.capture.registered import registered
from neuronlint.knowledge.harvest import namespaces
from tests.accuracy.lower_xla import RULES, write


def main() -> None:
    import torch_xla  # noqa: F401 - registers its operators
    import torchvision  # noqa: F401 - registers its operators

    rows = [
        {
            "op": row["op"],
            "xla": row["kernel"],
            "autograd_xla": row["autograd"],
            "composite": "explicit" if row["composite"] == "structured" else row["composite"],
        }
        for row in registered("XLA", namespaces())
        if row["op"].split(".")[0] in namespaces()  # kernels of other libraries are no operators of models
    ]
    write(RULES / f"xla-registry-torch_xla-{version('torch_xla').rsplit('.', 1)[0]}.jsonl", rows)


if __name__ == "__main__":
    main()
