"""Reads compiled programs from text into operator graphs, without torch: StableHLO and HLO."""

from __future__ import annotations

from pathlib import Path

from neuronlint.errors import ConfigurationError
from neuronlint.graph.opgraph import OpGraph

_HLO_HEAD = "HloModule"


def read_artefact(path: str) -> OpGraph:
    """The graph of a text file. Raises `ConfigurationError`, with the line, where it is no such text."""
    import time

    from neuronlint.graph.artefacts.build import graph_of
    from neuronlint.graph.artefacts.cursor import TextError
    from neuronlint.graph.artefacts.hlo_text import read_hlo
    from neuronlint.graph.artefacts.stablehlo_text import read_stablehlo

    started = time.perf_counter()
    text = _text(path)
    is_hlo = text.lstrip("\ufeff \t\r\n").startswith(_HLO_HEAD) or _is_hlo_name(path)
    kind = "hlo" if is_hlo else "stablehlo"
    try:
        program = (read_hlo if is_hlo else read_stablehlo)(text, _name(path))
        graph = graph_of(program, path, kind)
    except TextError as error:
        raise ConfigurationError(
            f"{path}:{error.line}:{error.column}: not readable as {_SAID[kind]}: {error}; {_WAYS[kind]}"
        ) from None
    graph.seconds = time.perf_counter() - started
    return graph


_SAID = {"hlo": "HLO text", "stablehlo": "StableHLO text"}
_WAYS = {
    "hlo": "write it again as XLA prints it, from `HloModule` on",
    "stablehlo": "write it again as MLIR prints it (bytecode and VHLO cannot be read), or check the model itself",
}


def _text(path: str) -> str:
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise ConfigurationError(f"{path}: cannot be read: {error.strerror or error}") from None
    if data[:4] == b"ML\xefR":
        raise ConfigurationError(
            f"{path}: MLIR bytecode, not text; `stablehlo-translate --deserialize` or `mlir-opt` prints it as text"
        )
    try:
        return data.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(
            f"{path}:{line}: not a text (byte 0x{data[error.start]:02x}); give HLO or StableHLO as text, not as a proto"
        ) from None


def _is_hlo_name(path: str) -> bool:
    return path.endswith((".hlo", ".hlo.txt"))


def _name(path: str) -> str:
    """The file's name without its suffixes, as the model's."""
    name = path.replace("\\", "/").rsplit("/", 1)[-1]
    for suffix in (".hlo.txt", ".stablehlo.mlir", ".hlo", ".mlir", ".stablehlo"):
        if name.endswith(suffix) and name != suffix:
            return name.removesuffix(suffix)
    return name
