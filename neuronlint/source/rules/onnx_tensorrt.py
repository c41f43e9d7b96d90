"""ONNX, ONNX Runtime and TensorRT: other ways to deploy than the chip's."""

from __future__ import annotations

from neuronlint.source.apis import ApiRule


class OnnxTensorrt(ApiRule):
    code = "NRN725"
    table = "devices"
