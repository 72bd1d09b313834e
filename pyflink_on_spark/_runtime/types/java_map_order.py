"""The order in which Java's HashMap lists its keys, and the hash codes it comes from."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from struct import Struct
from typing import Any

_MASK = 0xFFFFFFFF
_DOUBLE_BITS, _LONG_BITS = Struct(">d"), Struct(">Q")
_FLOAT_BITS, _INT_BITS = Struct(">f"), Struct(">I")


def in_java_order(keys: Iterable[Any], key_hash: Callable[[Any], int]) -> list[Any]:
    """Sort keys as a HashMap that was made for that many lists them.

    Args:
        keys: the keys in the order in which they were put.
        key_hash: Java's hash code of a key; only its low 32 bits count.
    """
    ordered = list(keys)
    capacity = 1
    while capacity * 3 < len(ordered) * 4:
        capacity *= 2

    def bucket(key: Any) -> int:
        code = key_hash(key) & _MASK
        return (code ^ code >> 16) & (capacity - 1)

    ordered.sort(key=bucket)
    return ordered


def string_hash(value: str) -> int:
    """Return ``String.hashCode``, which goes by UTF-16 code units."""
    code = 0
    for unit in value.encode("ascii") if value.isascii() else _utf_16_units(value):
        code = (code * 31 + unit) & _MASK
    return code


def _utf_16_units(value: str) -> list[int]:
    encoded = value.encode("utf-16-be", "surrogatepass")
    return [high << 8 | low for high, low in zip(encoded[::2], encoded[1::2], strict=True)]


def int_hash(value: int) -> int:
    """Return ``Integer.hashCode``, that of Short and Byte, too."""
    return value


def long_hash(value: int) -> int:
    """Return ``Long.hashCode``."""
    bits = value & 0xFFFFFFFFFFFFFFFF
    return bits ^ bits >> 32


def boolean_hash(value: bool) -> int:
    """Return ``Boolean.hashCode``."""
    return 1231 if value else 1237


def double_hash(value: float) -> int:
    """Return ``Double.hashCode``."""
    bits: int = _LONG_BITS.unpack(_DOUBLE_BITS.pack(value))[0]
    return bits ^ bits >> 32


def float_hash(value: float) -> int:
    """Return ``Float.hashCode``."""
    code: int = _INT_BITS.unpack(_FLOAT_BITS.pack(value))[0]
    return code
