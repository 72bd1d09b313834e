"""Pickles as PyFlink makes them, which are what Flink hashes where there is no declared type.

A pickle depends on which parts of a value are one and the same object. Equal keys must meet: here
all parts are objects of their own, except those that Python has only once.
"""

from __future__ import annotations

import datetime
import pickle
import re
from decimal import Decimal
from typing import Any

from pyflink_on_spark._runtime.elements.keys import canonical_pickle, wrap_key
from pyflink_on_spark._runtime.java_hashes.polynomial import bytes_hash
from pyflink_on_spark.common.types import Row

PROTOCOL = 5
_FRAME = 0x95
_ATOMS = frozenset({str, int, bytes, float, bool, type(None)})
_ALWAYS_ALIKE = _ATOMS | {
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, Decimal, bytearray,
}  # fmt: skip
_OWN_MODULE = re.compile(rb"\x8c(.)pyflink_on_spark(?=\.)", re.DOTALL)
_OWN_NAME, _FLINKS_NAME = b"pyflink_on_spark", b"pyflink"


def pickle_hash(value: Any) -> int:
    """Return Java's hash code of the pickle of a value."""
    return bytes_hash(flink_pickle(value))


def flink_pickle(value: Any) -> bytes:
    """Return the pickle of a value as Flink has it."""
    kind = type(value)
    if kind in _ALWAYS_ALIKE or ((kind is tuple or kind is list) and _has_distinct_atoms(value)):
        return pickle.dumps(value, PROTOCOL)
    if _has_no_order(value):
        return repr(wrap_key(value).identity).encode("utf-8", "surrogatepass")
    return _as_flink_names(pickle.dumps(pickle.loads(canonical_pickle(value)), PROTOCOL))


def _has_distinct_atoms(value: Any) -> bool:
    kinds = set(map(type, value))
    size = len(value)
    return kinds <= _ATOMS and (len(kinds) == size or len(set(value)) == size)


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
