"""Binding a process to a CUDA device by its index."""

from __future__ import annotations

from neuronlint.source.apis import ApiRule


class DeviceBinding(ApiRule):
    code = "NRN735"
    table = "distributed"
