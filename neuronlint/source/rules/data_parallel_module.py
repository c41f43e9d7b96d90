"""nn.DataParallel, which splits a batch over the GPUs of one process."""

from __future__ import annotations

from neuronlint.source.apis import ApiRule


class DataParallelModule(ApiRule):
    code = "NRN718"
    words = ("DataParallel",)
    table = "devices"
