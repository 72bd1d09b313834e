"""From a hash code to a key group: Flink's murmur hash of 32 bits."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MASK = 0xFFFFFFFF
_SIGN = 0x80000000


def key_group(code: int, max_parallelism: int) -> int:
    """Return the key group of a hash code, of which the low 32 bits count."""
    code = code * 0xCC9E2D51 & _MASK
    code = (code << 15 | code >> 17) * 0x1B873593 & _MASK
    code = (code << 13 | code >> 19) * 5 + 0xE6546B64 & _MASK ^ 4
    code = (code ^ code >> 16) * 0x85EBCA6B & _MASK
    code = (code ^ code >> 13) * 0xC2B2AE35 & _MASK
    code ^= code >> 16
    if code > _SIGN:
        code = -code & _MASK
    elif code == _SIGN:
        code = 0
    return code % max_parallelism


def key_groups(codes: NDArray[np.uint32], max_parallelism: int) -> list[int]:
    """Return the key groups of many hash codes; changes the array."""
    import numpy as np

    codes *= np.uint32(0xCC9E2D51)
    codes = codes << np.uint32(15) | codes >> np.uint32(17)
    codes *= np.uint32(0x1B873593)
    codes = codes << np.uint32(13) | codes >> np.uint32(19)
    codes *= np.uint32(5)
    codes += np.uint32(0xE6546B64)
    codes ^= np.uint32(4)
    codes ^= codes >> np.uint32(16)
    codes *= np.uint32(0x85EBCA6B)
    codes ^= codes >> np.uint32(13)
    codes *= np.uint32(0xC2B2AE35)
    codes ^= codes >> np.uint32(16)
    codes = np.where(codes < _SIGN, codes, -codes & np.uint32(_SIGN - 1))
    groups: list[int] = (codes % np.uint32(max_parallelism)).tolist()
    return groups
