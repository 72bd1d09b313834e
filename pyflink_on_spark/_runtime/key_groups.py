"""The key group of a key: Flink's murmur hash, of 32 bits, of the key's hash code."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.immutability import PLAIN_KEY_TYPES, Key, unwrap_key
from pyflink_on_spark._runtime.java_hashes import (
    MASK,
    PROTOCOL,
    bytes_hash,
    flink_pickle,
    java_hash,
    pickle_hash,
    polynomial,
    polynomials,
    signed,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


NULL_KEY = 31
"""The hash code of a key that is null: of a ``Row`` of one field, as for all other keys."""

ANY_KEY = 62
"""The addend for the hash code of a key that is not null."""


class KeyHash(Protocol):
    """Java's hash codes of keys as the engine has them; the low 32 bits count."""

    def code(self, key: object) -> int:
        """Return the hash code of a key."""

    def codes(self, keys: Sequence[object]) -> NDArray[np.uint32]:
        """Return the hash codes of many keys, in less time."""


class DeclaredKeyHash:
    """The hash codes of Java's objects.

    Args:
        key_type: the type of the keys.
    """

    def __init__(self, key_type: object) -> None:
        self._hash = java_hash(key_type)

    def code(self, key: object) -> int:
        """Return the hash code of a key."""
        return NULL_KEY + self._hash.in_row(unwrap_key(key))

    def codes(self, keys: Sequence[object]) -> NDArray[np.uint32]:
        """Return the hash codes of many keys, in less time."""
        if not PLAIN_KEY_TYPES.issuperset(map(type, keys)):
            keys = list(map(unwrap_key, keys))
        codes = self._hash.column_in_row(keys)
        codes += NULL_KEY
        return codes


_SHORT_TEXT = 255
_INT_SIZES = {1: 0, 2: 1 << 8, 4: 1 << 16, 5: 1 << 31, 6: 1 << 39, 7: 1 << 47, 8: 1 << 55}
"""In how many bytes a pickle has an int, and the smallest one that takes so many."""


class UntypedKeyHash:
    """The hash codes of pickles."""

    def code(self, key: Any) -> int:
        """Return the hash code of a key."""
        kind = type(key)
        if kind is str:
            text = key.encode("utf-8", "surrogatepass")
            if len(text) <= _SHORT_TEXT:
                return _around_text(len(text)) + 961 * polynomial(signed(text))
        elif key is None:
            return NULL_KEY
        elif kind is Key:
            if key.untyped_code is None:
                key.untyped_code = (ANY_KEY + pickle_hash(key.value)) & MASK
            return key.untyped_code  # type: ignore[no-any-return]
        return ANY_KEY + bytes_hash(pickle.dumps(key, PROTOCOL))

    def codes(self, keys: Sequence[object]) -> NDArray[np.uint32]:
        """Return the hash codes of many keys, in less time."""
        import numpy as np

        kinds = list(map(type, keys))
        present = set(kinds)
        if len(present) == 1:
            return _CODES[present.pop()](keys)
        found = np.empty(len(keys), np.uint32)
        for kind in present:
            places = [place for place, other in enumerate(kinds) if other is kind]
            found[places] = _CODES[kind]([keys[place] for place in places])
        return found


def _codes_of_pickles(pickles: list[bytes]) -> NDArray[np.uint32]:
    import numpy as np

    content = np.frombuffer(b"\x01".join([b"", *pickles]), np.int8).astype(np.uint32)
    sizes = np.fromiter(map(len, pickles), np.int64, len(pickles)) + 1
    return polynomials(content, sizes) + np.uint32(ANY_KEY)


@lru_cache(maxsize=_SHORT_TEXT + 1)
def _around_text(size: int) -> int:
    """Return the part of a text's hash code that comes from what is around it in its pickle."""
    header = pickle.dumps("x" * size, PROTOCOL)[: -2 - size]
    return ANY_KEY + bytes_hash(header + bytes(size) + b"\x94.")


@lru_cache(maxsize=1)
def _around_texts() -> NDArray[np.uint32]:
    import numpy as np

    codes = [_around_text(size) & MASK for size in range(_SHORT_TEXT + 1)]
    return np.array(codes, np.uint32)


def _codes_of_texts(keys: Sequence[str]) -> NDArray[np.uint32]:
    import numpy as np

    joined = "".join(keys)
    if joined.isascii():
        content, sizes = joined.encode(), np.fromiter(map(len, keys), np.int64, len(keys))
    else:
        encoded = [key.encode("utf-8", "surrogatepass") for key in keys]
        content, sizes = b"".join(encoded), np.fromiter(map(len, encoded), np.int64, len(keys))
    if sizes.max(initial=0) > _SHORT_TEXT:
        return _codes_of_plain(keys)
    codes = polynomials(np.frombuffer(content, np.int8).astype(np.uint32), sizes)
    codes *= np.uint32(961)
    codes += _around_texts()[sizes]
    return codes


def _codes_of_plain(keys: Sequence[object]) -> NDArray[np.uint32]:
    return _codes_of_pickles([pickle.dumps(key, PROTOCOL) for key in keys])


def _codes_of_ints(keys: Sequence[int]) -> NDArray[np.uint32]:
    import numpy as np

    try:
        numbers = np.fromiter(keys, "<i8", len(keys))
    except OverflowError:
        return _codes_of_plain(keys)
    octets = numbers.view(np.int8).reshape(-1, 8)
    # Up to two bytes are written without a sign.
    magnitudes = np.where(numbers < 0, np.maximum(~numbers, 1 << 16), numbers)
    kinds = np.searchsorted(list(_INT_SIZES.values()), magnitudes, "right") - 1
    codes = np.empty(len(keys), np.uint32)
    for kind in np.unique(kinds):
        chosen = np.flatnonzero(kinds == kind)
        size = list(_INT_SIZES)[kind]
        around, weights = _around_int(size)
        codes[chosen] = octets[chosen, :size].astype(np.uint32) @ weights + around
    return codes


@lru_cache(maxsize=len(_INT_SIZES))
def _around_int(size: int) -> tuple[np.uint32, NDArray[np.uint32]]:
    """Return the part of the hash code that ints of a size share, and what each byte counts."""
    import numpy as np

    header = pickle.dumps(_INT_SIZES[size], PROTOCOL)[: -1 - size]
    around = ANY_KEY + bytes_hash(header + bytes(size) + b".") & MASK
    weights = [pow(31, size - place, 1 << 32) for place in range(size)]
    return np.uint32(around), np.array(weights, np.uint32)


def _codes_of_wrapped(keys: Sequence[Key]) -> NDArray[np.uint32]:
    import numpy as np

    new = [key for key in keys if key.untyped_code is None]
    if new:
        codes = _codes_of_pickles([flink_pickle(key.value) for key in new])
        for key, code in zip(new, codes.tolist(), strict=True):
            key.untyped_code = code
    return np.fromiter((key.untyped_code for key in keys), np.uint32, len(keys))


def _codes_of_nulls(keys: Sequence[None]) -> NDArray[np.uint32]:
    import numpy as np

    return np.full(len(keys), NULL_KEY, np.uint32)


_CODES: dict[type, Callable[[Sequence[Any]], NDArray[np.uint32]]] = {
    str: _codes_of_texts,
    int: _codes_of_ints,
    bytes: _codes_of_plain,
    type(None): _codes_of_nulls,
    Key: _codes_of_wrapped,
}


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

    def __init__(self, max_parallelism: int, key_type: object = None) -> None:
        self.count = max_parallelism
        self._key_type = key_type

    @cached_property
    def _hash(self) -> KeyHash:
        return UntypedKeyHash() if self._key_type is None else DeclaredKeyHash(self._key_type)

    def of(self, key: object) -> int:
        """Return the key group of a key, which is as the engine has it."""
        return key_group(self._hash.code(key), self.count)

    def of_all(self, keys: Iterable[object]) -> list[int]:
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


DEFAULT_LEAST = 128
MOST = 32768


def default_max_parallelism(parallelism: int) -> int:
    """Return the number of key groups of an operator for which the user has set none."""
    power = 1 << (parallelism + parallelism // 2 - 1).bit_length()
    return min(max(power, DEFAULT_LEAST), MOST)


def subtask_of_key_group(group: int, max_parallelism: int, parallelism: int) -> int:
    """Return the index of the subtask that owns a key group."""
    return group * parallelism // max_parallelism


def key_groups_of(index: int, parallelism: int, max_parallelism: int) -> range:
    """Return the key groups that a subtask owns."""
    first = -(-index * max_parallelism // parallelism)
    end = -(-(index + 1) * max_parallelism // parallelism)
    return range(first, end)
