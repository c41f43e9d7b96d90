"""Devices of transformers pipelines, and indexes in a `device_map`: the table `pipeline`."""

from __future__ import annotations

from neuronlint.source.arguments import ArgumentRule


class PipelineDevice(ArgumentRule):
    code = "NRN729"
    table = "pipeline"
