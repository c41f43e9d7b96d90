"""CUDA graphs, which the chip has no equivalent of."""

from __future__ import annotations

from neuronlint.source.apis import ApiRule


class CudaGraphs(ApiRule):
    code = "NRN726"
    table = "devices"
