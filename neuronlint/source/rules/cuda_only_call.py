"""Calls of torch.cuda that raise, or do nothing, where there is no CUDA: the table `cuda`."""

from __future__ import annotations

from neuronlint.source.apis import ApiRule


class CudaOnlyCall(ApiRule):
    code = "NRN703"
    words = ("cuda",)
    table = "cuda"
