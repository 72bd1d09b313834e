"""Which key group a key belongs to: Flink's murmur hash, of 32 bits, of the key's hash code."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.key_groups.declared import DeclaredKeyHash
from pyflink_on_spark._runtime.key_groups.key_hash import KeyHash
from pyflink_on_spark._runtime.key_groups.untyped import UntypedKeyHash

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MASK = 0xFFFFFFFF
_SIGN = 0x80000000
AT_ONCE = 4096
WORTH_AN_ARRAY = 64
WORTH_AN_IMPORT = 1024


class KeyGroups:
    """The key groups of the keys of an operator, the smallest units in which keyed state moves.

    Args:
        max_parallelism: how many key groups there are.
        key_type: the declared type of the keys, or None.
    """

    def __init__(self, max_parallelism: int, key_type: Any = None) -> None:
        self.count = max_parallelism
        self._hash: KeyHash = UntypedKeyHash() if key_type is None else DeclaredKeyHash(key_type)

    def of(self, key: Any) -> int:
        """Return the key group of a key, which is as the engine has it."""
        return key_group(self._hash.code(key), self.count)

    def of_all(self, keys: Iterable[Any]) -> list[int]:
        """Return the key group of each of many keys, in less time."""
        keys = list(keys)
        if len(keys) < (WORTH_AN_ARRAY if "numpy" in sys.modules else WORTH_AN_IMPORT):
            return list(map(self.of, keys))
        groups: list[int] = []
        for start in range(0, len(keys), AT_ONCE):
            codes = self._hash.codes(keys[start : start + AT_ONCE])
            groups += key_groups(codes, self.count)
        return groups


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
