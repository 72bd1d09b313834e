"""Immutable values: elements must not change once they are emitted, keys never.

A function may still change an object that it has emitted, and siblings may change what they
received. Where PyFlink serialises an element, what was emitted must be as it was. Immutable
elements need nothing; of others a pickle is taken at the moment they are emitted.

PyFlink compares untyped keys as pickles, so 1, True and 1.0 are three keys, and a list may be one.
A ``str``, ``int``, ``bytes`` or None stands for itself; everything else is wrapped in a ``Key``
that compares by a canonical form.
"""

from __future__ import annotations

import io
import pickle
import struct
from collections.abc import Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import cloudpickle

from pyflink_on_spark.common.types import Row

IMMUTABLE_TYPES = frozenset({int, str, float, bool, bytes, type(None), complex})

deserialize = pickle.loads
PLAIN_KEY_TYPES = frozenset({str, int, bytes, type(None)})


def serialize(value: object) -> bytes:
    """Return a value as a pickle: by value where a class is known in a function's scope only."""
    try:
        return pickle.dumps(value, 5)
    except (pickle.PicklingError, AttributeError, TypeError):
        return _serialized_by_value(value)
    except StopIteration as error:
        raise _stopped(value) from error


def _serialized_by_value(value: object) -> bytes:
    try:
        return cloudpickle.dumps(value, 5)  # type: ignore[no-any-return]
    except (pickle.PicklingError, TypeError) as error:
        raise TypeError(f"an element cannot be handed on: {error}") from None
    except StopIteration as error:
        raise _stopped(value) from error


def _stopped(value: object) -> RuntimeError:
    """Return an error in place of a StopIteration, at which those who pickle many values stop."""
    return RuntimeError(f"StopIteration while a {type(value).__qualname__} was pickled")


def deserialize_all(payloads: Iterable[bytes]) -> list[object]:
    """Return the values of many pickles."""
    return [deserialize(payload) for payload in payloads]


def is_immutable(value: Any) -> bool:
    """True for a value that cannot change, at any depth."""
    kind = type(value)
    return kind in IMMUTABLE_TYPES or (kind is tuple and all(map(is_immutable, value)))


def copied(value: Any) -> object:
    """Return a copy of a value that may change."""
    kind = type(value)
    if kind is Row and all(map(is_immutable, value._values)):
        row = Row.__new__(Row)
        row._names, row._values = value._names and value._names[:], value._values[:]
        row._row_kind = value._row_kind
        return row
    if kind is list and all(map(is_immutable, value)):
        return value[:]
    if kind is dict and all(map(is_immutable, value)) and all(map(is_immutable, value.values())):
        return value.copy()
    return deserialize(serialize(value))


def flat_test(value: str) -> str:
    """Return an expression in Python: whether nothing can change inside a value.

    It makes no call for tuples of two and three parts, the most frequent ones.

    Args:
        value: the name of the value.
    """
    tuples = [
        f"len({value}) == {size} and "
        + " and ".join(f"type({value}[{index}]) in IMMUTABLE_TYPES" for index in range(size))
        for size in (2, 3)
    ]
    test = " or ".join([*tuples, f"is_immutable({value})"])
    return f"(({test}) if type({value}) is tuple else type({value}) in IMMUTABLE_TYPES)"


def immutability_test(value: str, parts: Sequence[str] = (), known: Container[str] = ()) -> str:
    """Return an expression in Python: whether nothing can change inside a value.

    Args:
        value: the name of the value.
        parts: the names of its items, or literals, if it is a tuple for sure.
        known: has the names of values of which nothing can change.
    """
    if value in known:
        return "True"
    if not parts:
        return flat_test(value)
    tests = [
        f"type({part}) in IMMUTABLE_TYPES"
        for part in parts
        if part.isidentifier() and part not in known
    ]
    return f"{' and '.join(tests)} or is_immutable({value})" if tests else "True"


def are_flat(values: list[Any]) -> bool:
    """True for uniform immutable values; False where a look at their types does not show it."""
    kinds = set(map(type, values))
    if kinds == {tuple}:
        kinds = set(map(type, chain.from_iterable(values)))
    return kinds <= IMMUTABLE_TYPES


def are_immutable(values: list[object]) -> bool:
    """True if all values are immutable, at any depth."""
    return are_flat(values) or all(map(is_immutable, values))


@dataclass(slots=True, eq=False)
class ImmutabilityGuard:
    """Collects elements as they are at the moment they come.

    Once a mutable element was seen, elements are kept as pickles ("sealed"), from there on.
    """

    sealed: bool = False

    def collect(self, elements: Iterator[Any]) -> list[Any]:
        """Return all elements of an iterator; ``sealed`` says whether as pickles."""
        if self.sealed:
            return list(map(serialize, elements))
        immutable = IMMUTABLE_TYPES
        values: list[object] = []
        append = values.append
        for value in elements:
            kind = type(value)
            if kind is not tuple:
                flat = kind in immutable
            elif len(value) == 2:  # the most frequent shapes, at less than half the cost
                first, second = value
                flat = type(first) in immutable and type(second) in immutable
            elif len(value) == 3:
                first, second, third = value
                flat = (
                    type(first) in immutable
                    and type(second) in immutable
                    and type(third) in immutable
                )
            else:
                flat = immutable.issuperset(map(type, value))
            if flat or is_immutable(value):
                append(value)
            else:
                self.sealed = True
                return [*map(serialize, values), serialize(value), *map(serialize, elements)]
        return values

    def collect_copies(self, elements: Iterator[object]) -> list[object]:
        """Return all elements of an iterator, those that may change as copies of their own."""
        values = self.collect(elements)
        return deserialize_all(values) if self.sealed else values


class Key:
    """A key that Python's own equality would confuse with another, or that is not hashable."""

    __slots__ = ("_hash", "identity", "untyped_code", "value")

    def __init__(self, value: object, identity: Hashable) -> None:
        self.value = value
        self.identity = identity
        self._hash = hash(identity)
        self.untyped_code: int | None = None
        """Java's hash code of the key where it has no declared type, once it is known."""

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        return type(other) is Key and self.identity == other.identity

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (pickle.dumps(self.value, 5), self.identity)

    def __repr__(self) -> str:
        return f"Key({self.value!r})"


def _restore(value: bytes, identity: Hashable) -> Key:
    return Key(pickle.loads(value), identity)


def wrap_key(value: object) -> Any:
    """Return the engine's form of a user's key: the key itself, or a ``Key``."""
    if type(value) in PLAIN_KEY_TYPES:
        return value
    return Key(value, _identity(value))


def unwrap_key(key: object) -> object:
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


def canonical_pickle(value: object) -> bytes:
    """Return a pickle that does not depend on which of the parts are one and the same object."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, 5)
    pickler.fast = True
    try:
        pickler.dump(value)
    except (ValueError, RecursionError):  # it contains itself
        return pickle.dumps(value, 5)
    return buffer.getvalue()
