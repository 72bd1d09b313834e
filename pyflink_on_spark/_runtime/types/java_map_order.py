"""The order in which Java's HashMap lists its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

_MASK = 0xFFFFFFFF


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
