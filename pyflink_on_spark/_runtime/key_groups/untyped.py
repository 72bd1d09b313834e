"""Hash codes of keys without a declared type, which Flink has as pickles: arrays of bytes.

A pickle depends on which parts of a key are one and the same object. Equal keys must meet, so that
here all parts are objects of their own, except those that Python has only once.
"""

from __future__ import annotations

import datetime
import pickle
import re
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.java_hashes.polynomial import MASK, polynomial, polynomials, signed
from pyflink_on_spark._runtime.key_groups.key_hash import ANY_KEY, NULL_KEY
from pyflink_on_spark._runtime.keys import Key, canonical_pickle, wrap_key
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PROTOCOL = 5
_SHORT_TEXT = 255
_FRAME = 0x95
_INT_SIZES = {1: 0, 2: 1 << 8, 4: 1 << 16, 5: 1 << 31, 6: 1 << 39, 7: 1 << 47, 8: 1 << 55}
"""In how many bytes a pickle has an int, and the smallest one that takes so many."""
_ATOMS = frozenset({str, int, bytes, float, bool, type(None)})
_ALWAYS_ALIKE = _ATOMS | {
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, Decimal, bytearray,
}  # fmt: skip
_OWN_MODULE = re.compile(rb"\x8c(.)pyflink_on_spark(?=\.)", re.DOTALL)
_OWN_NAME, _FLINKS_NAME = b"pyflink_on_spark", b"pyflink"


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
                key.untyped_code = _code(_pickled(key.value)) & MASK
            return key.untyped_code  # type: ignore[no-any-return]
        return _code(pickle.dumps(key, _PROTOCOL))

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


def _code(content: bytes) -> int:
    # Java begins with 1 in front of an array's items.
    return ANY_KEY + polynomial(signed(b"\x01" + content))


def _codes_of_pickles(pickles: list[bytes]) -> NDArray[np.uint32]:
    import numpy as np

    content = np.frombuffer(b"\x01".join([b"", *pickles]), np.int8).astype(np.uint32)
    sizes = np.fromiter(map(len, pickles), np.int64, len(pickles)) + 1
    return polynomials(content, sizes) + np.uint32(ANY_KEY)


@lru_cache(maxsize=_SHORT_TEXT + 1)
def _around_text(size: int) -> int:
    """Return the part of a text's hash code that comes from what is around it in its pickle."""
    header = pickle.dumps("x" * size, _PROTOCOL)[: -2 - size]
    return _code(header + bytes(size) + b"\x94.")


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
    return _codes_of_pickles([pickle.dumps(key, _PROTOCOL) for key in keys])


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

    header = pickle.dumps(_INT_SIZES[size], _PROTOCOL)[: -1 - size]
    around = _code(header + bytes(size) + b".") & MASK
    weights = [pow(31, size - place, 1 << 32) for place in range(size)]
    return np.uint32(around), np.array(weights, np.uint32)


def _codes_of_wrapped(keys: Sequence[Key]) -> NDArray[np.uint32]:
    import numpy as np

    new = [key for key in keys if key.untyped_code is None]
    if new:
        codes = _codes_of_pickles([_pickled(key.value) for key in new])
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


def pickle_hash(value: Any) -> int:
    """Return Java's hash code of the pickle of a value."""
    return _code(_pickled(value)) - ANY_KEY


def _pickled(value: Any) -> bytes:
    """Return the pickle of a value as Flink has it."""
    kind = type(value)
    if kind in _ALWAYS_ALIKE or (
        (kind is tuple or kind is list)
        and _ATOMS.issuperset(map(type, value))
        and len(set(value)) == len(value)
    ):
        return pickle.dumps(value, _PROTOCOL)
    if _has_no_order(value):
        return repr(wrap_key(value).identity).encode("utf-8", "surrogatepass")
    return _as_flink_names(pickle.dumps(pickle.loads(canonical_pickle(value)), _PROTOCOL))


def _has_no_order(value: Any) -> bool:
    """Whether a key has sets in it, whose order is another in every process."""
    kind = type(value)
    if kind is frozenset and len(value) > 1:
        return True
    return kind in (tuple, list, frozenset, Row) and any(map(_has_no_order, value))


def _as_flink_names(content: bytes) -> bytes:
    """Return a pickle with Flink's names of what is Flink's."""
    if _OWN_NAME not in content:
        return content
    renamed = _OWN_MODULE.sub(_flinks_module, content)
    protocol, opcode, size = content[:2], content[2], int.from_bytes(content[3:11], "little")
    if opcode != _FRAME or size != len(content) - 11:
        return renamed
    return protocol + bytes([_FRAME]) + (len(renamed) - 11).to_bytes(8, "little") + renamed[11:]


def _flinks_module(found: re.Match[bytes]) -> bytes:
    size = found[1][0] - len(_OWN_NAME) + len(_FLINKS_NAME)
    return b"\x8c" + bytes([size]) + _FLINKS_NAME
