"""Keys: which are one.

PyFlink compares untyped keys as pickles, so 1, True and 1.0 are three keys, and a list may be one.
A ``str``, ``int``, ``bytes`` or None stands for itself; everything else is wrapped in a ``Key``
that compares by a canonical form.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Hashable
from typing import Any

from pyflink_on_spark.common.types import Row

PLAIN_KEY_TYPES = frozenset({str, int, bytes, type(None)})


class Key:
    """A key that Python's own equality would confuse with another, or that is not hashable."""

    __slots__ = ("_hash", "identity", "untyped_code", "value")

    def __init__(self, value: Any, identity: Hashable) -> None:
        self.value = value
        self.identity = identity
        self._hash = hash(identity)
        self.untyped_code: int | None = None
        """Java's hash code of the key where it has no declared type, once it is known."""

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return type(other) is Key and self.identity == other.identity

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (pickle.dumps(self.value, 5), self.identity)

    def __repr__(self) -> str:
        return f"Key({self.value!r})"


def _restore(value: bytes, identity: Hashable) -> Key:
    return Key(pickle.loads(value), identity)


def wrap_key(value: Any) -> Any:
    """Return the engine's form of a user's key: the key itself, or a ``Key``."""
    if type(value) in PLAIN_KEY_TYPES:
        return value
    return Key(value, _identity(value))


def unwrap_key(key: Any) -> Any:
    """Return the user's key."""
    return key.value if type(key) is Key else key


def _identity(value: Any) -> Hashable:
    kind = type(value)
    if kind in PLAIN_KEY_TYPES:
        return value  # type: ignore[no-any-return]
    if kind is bool:
        return ("bool", "true" if value else "false")
    if kind is float:
        return ("float", struct.pack(">d", value))
    if kind is tuple or kind is list:
        return (kind.__name__, *[_identity(part) for part in value])
    if kind is Row:
        names = tuple(getattr(value, "_fields", ()))
        return ("row", value.get_row_kind().name, names, *[_identity(part) for part in value])
    if kind is frozenset:
        return ("frozenset", *sorted([_identity(part) for part in value], key=repr))
    return ("object", canonical_pickle(value))


def canonical_pickle(value: Any) -> bytes:
    """Return a pickle that does not depend on which of the parts are one and the same object."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True
    try:
        pickler.dump(value)
    except (ValueError, RecursionError):  # it contains itself
        return pickle.dumps(value, 5)
    return buffer.getvalue()
