"""Python source as text, the way Python itself reads it."""

from __future__ import annotations

import io
import tokenize


def decode(data: bytes) -> str:
    """Source by its encoding line or mark, line ends made `\\n`.

    Raises `SyntaxError`, `UnicodeDecodeError`, `LookupError` or `ValueError` where it cannot be decoded.
    """
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).read()
