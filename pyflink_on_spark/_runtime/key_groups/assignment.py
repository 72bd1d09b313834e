"""Which key group a key belongs to."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._runtime.key_groups.declared import DeclaredKeyHash
from pyflink_on_spark._runtime.key_groups.key_hash import KeyHash
from pyflink_on_spark._runtime.key_groups.murmur import key_group, key_groups
from pyflink_on_spark._runtime.key_groups.untyped import UntypedKeyHash

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
