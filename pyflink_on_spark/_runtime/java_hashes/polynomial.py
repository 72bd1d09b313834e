"""Java's hash code of a sequence: the sum of its items by powers of 31, in 32 bits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from operator import mul
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MASK = 0xFFFFFFFF
_WIDTH = 256
_WEIGHTS: tuple[int, ...] = tuple(pow(31, _WIDTH - 1 - place, 1 << 32) for place in range(_WIDTH))
_SHORT = 64
_WEIGHTS_OF_SHORT = tuple(_WEIGHTS[_WIDTH - size :] for size in range(_SHORT + 1))
MOST_AT_ONCE = 1 << 20


def polynomial(items: Sequence[int]) -> int:
    """Return the sum for one sequence; only the low 32 bits count."""
    size = len(items)
    if size <= _SHORT:
        return sum(map(mul, items, _WEIGHTS_OF_SHORT[size]))
    head = size % _WIDTH
    total: int = sum(map(mul, items[:head], _WEIGHTS[_WIDTH - head :]))
    for start in range(head, size, _WIDTH):
        block = sum(map(mul, items[start : start + _WIDTH], _WEIGHTS))
        total = total * _WEIGHTS[0] * 31 + block & MASK
    return total


def signed(content: bytes) -> Sequence[int]:
    """Return bytes as Java counts them, from -128 to 127."""
    return content if content.isascii() else memoryview(content).cast("b")


def bytes_hash(content: bytes) -> int:
    """Return ``Arrays.hashCode`` of an array of bytes."""
    # Java begins with 1 in front of an array's items.
    return polynomial(signed(b"\x01" + content))


def polynomials(items: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the sums of many sequences.

    Args:
        items: the items of all sequences, one sequence after the other.
        sizes: how many items each sequence has.
    """
    import numpy as np

    if len(items) > MOST_AT_ONCE:
        return _one_by_one(items, sizes)
    rising, falling = _powers((len(items) + 1).bit_length())
    sums = np.zeros(len(items) + 1, np.uint32)
    np.cumsum(items * falling[: len(items)], dtype=np.uint32, out=sums[1:])
    ends = np.cumsum(sizes)
    found: NDArray[np.uint32] = (sums[ends] - sums[ends - sizes]) * rising[ends]
    return found


def _one_by_one(items: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.uint32]:
    import numpy as np

    parts = np.split(items, np.cumsum(sizes)[:-1])
    return np.array([polynomial(part.tolist()) & MASK for part in parts], np.uint32)


@lru_cache(maxsize=2)
def _powers(bits: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the powers of 31 from the 0th, and those of its inverse from the first."""
    import numpy as np

    rising = np.full(1 << bits, 31, np.uint32)
    rising[0] = 1
    falling = np.full(1 << bits, pow(31, -1, 1 << 32), np.uint32)
    return np.cumprod(rising, dtype=np.uint32), np.cumprod(falling, dtype=np.uint32)
