"""Hash codes of keys without a declared type, which Flink has as pickles: arrays of bytes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.keys import Key
from pyflink_on_spark._runtime.java_hashes.pickles import (
    PROTOCOL,
    flink_pickle,
    pickle_hash,
)
from pyflink_on_spark._runtime.java_hashes.polynomial import (
    MASK,
    bytes_hash,
    polynomial,
    polynomials,
    signed,
)
from pyflink_on_spark._runtime.key_groups.key_hash import ANY_KEY, NULL_KEY

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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

    def codes(self, keys: Sequence[Any]) -> NDArray[np.uint32]:
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


def _codes_of_plain(keys: Sequence[Any]) -> NDArray[np.uint32]:
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
