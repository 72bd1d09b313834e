"""How keys are written in the database: equal keys alike, and so that they can be read back."""

from __future__ import annotations

import pickle
from typing import Any

from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.elements.keys import Key


def encode_key(key: Any) -> tuple[bytes, bytes | None]:
    """Return what a key is found by, and what it is read back from if that does not say it all."""
    kind = type(key)
    if kind is str:
        return b"s" + key.encode("utf-8", "surrogatepass"), None
    if kind is int:
        return b"i%d" % key, None
    if kind is bytes:
        return b"b" + key, None
    if kind is Key:
        return b"k" + repr(key.identity).encode("utf-8", "surrogatepass"), serialize(key)
    return b"o" + serialize(key), None


def decode_key(encoded: bytes, original: bytes | None) -> Any:
    """Return a key."""
    if original is not None:
        return pickle.loads(original)
    kind, content = encoded[:1], encoded[1:]
    if kind == b"s":
        return content.decode("utf-8", "surrogatepass")
    if kind == b"i":
        return int(content)
    if kind == b"b":
        return content
    return pickle.loads(content)
