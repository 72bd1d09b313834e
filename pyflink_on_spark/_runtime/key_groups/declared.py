"""Hash codes of keys with a declared type, which Flink has as Java's objects of that type."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.keys import PLAIN_KEY_TYPES, unwrap_key
from pyflink_on_spark._runtime.java_hashes.objects import java_hash
from pyflink_on_spark._runtime.key_groups.key_hash import NULL_KEY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class DeclaredKeyHash:
    """The hash codes of Java's objects.

    Args:
        key_type: the type of the keys.
    """

    def __init__(self, key_type: Any) -> None:
        self._hash = java_hash(key_type)

    def code(self, key: Any) -> int:
        """Return the hash code of a key."""
        return NULL_KEY + self._hash.in_row(unwrap_key(key))

    def codes(self, keys: Sequence[Any]) -> NDArray[np.uint32]:
        """Return the hash codes of many keys, in less time."""
        if not PLAIN_KEY_TYPES.issuperset(map(type, keys)):
            keys = list(map(unwrap_key, keys))
        codes = self._hash.column_in_row(keys)
        codes += NULL_KEY
        return codes
