"""Messages with a key, a value and metadata as rows, and rows as messages."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import repeat, tee
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.nodes import (
    DELETE,
    INSERT,
    UPDATE_AFTER,
    UPDATE_BEFORE,
    ChangeKinds,
)
from pyflink_on_spark._sql.tables.formats.format import Decode, Decoder, Encode, Encoder

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

_MICROS_PER_MILLI = 1000


@dataclass(frozen=True)
class RowShape:
    """The columns of a row in the key and in the value of a record.

    Args:
        key: the positions of the key's columns in a row.
        value: the positions of the value's columns in a row.
        width: how many physical columns there are.
    """

    key: tuple[int, ...]
    value: tuple[int, ...]
    width: int

    def merge(self) -> Callable[[Any, Any], object]:
        """Return a function that makes a row of the columns of the key and of the value."""
        places = dict(zip(self.key, range(len(self.key))))
        places |= zip(self.value, range(len(self.key), len(self.key) + len(self.value)))
        order = [places[index] for index in range(self.width)]

        def merged(key: Any, value: Any) -> Any:
            both = key + value
            return tuple([both[place] for place in order])

        return merged


class DecodeRecords(Operator):
    """Makes rows of records with keys or metadata.

    Args:
        key: reads keys, or None.
        value: reads values.
        shape: how both make a row.
        upsert: whether a record is the last state of its key, and one without a value removes it.
    """

    emits_immutable = True

    def __init__(
        self, key: Decoder | None, value: Decoder, shape: RowShape, *, upsert: bool = False
    ) -> None:
        self._key, self._value, self._shape, self._upsert = key, value, shape, upsert

    def open(self, context: OperatorContext) -> None:
        """Load the formats."""
        self._decode_key: Decode | None = None if self._key is None else self._key.load()
        self._decode_value = self._value.load()
        self._changelog = self._value.changes is not ChangeKinds.INSERT

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows."""
        merge, decode_key = self._shape.merge(), self._decode_key
        upsert, changelog = self._upsert, self._changelog
        nothing = (None,) * len(self._shape.value)
        for key, value, metadata in elements:
            keys = _one(decode_key, key, len(self._shape.key))
            if value is None:
                if upsert:
                    yield DELETE, merge(keys, nothing) + metadata
                continue
            for row in self._decode_value(iter((value,))):
                if changelog:
                    yield row[0], merge(keys, row[1]) + metadata
                elif upsert:
                    yield UPDATE_AFTER, merge(keys, row) + metadata
                else:
                    yield merge(keys, row) + metadata


def _one(decode: Decode | None, message: object, width: int) -> object:
    if decode is None:
        return ()
    if message is None:
        return (None,) * width
    return next(decode(iter((message,))), (None,) * width)


class EncodeRecords(Operator):
    """Makes of rows the key, the value and the timestamp of records.

    Args:
        key: writes keys, or None.
        value: writes values.
        shape: which columns are whose; metadata follow them.
        changelog: whether elements are pairs of the kind and the row.
        as_pairs: whether the format of values wants pairs of the kind and the row.
        upsert: whether rows that are removed become records without a value.
        timestamp: the position of the column with the timestamp, or None.
    """

    emits_immutable = True

    def __init__(
        self,
        key: Encoder | None,
        value: Encoder,
        shape: RowShape,
        *,
        changelog: bool,
        as_pairs: bool = False,
        upsert: bool = False,
        timestamp: int | None = None,
    ) -> None:
        self._key, self._value, self._shape = key, value, shape
        self._changelog, self._as_pairs = changelog, as_pairs
        self._upsert, self._timestamp = upsert, timestamp

    def open(self, context: OperatorContext) -> None:
        """Load the formats."""
        self._encode_key: Encode | None = None if self._key is None else self._key.load()
        self._encode_value = self._value.load()

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the parts of the records."""
        pairs = elements if self._changelog else zip(repeat(INSERT), elements)
        if self._changelog and self._upsert:
            pairs = without_replaced(pairs, _chosen(self._shape.key))
        kept, for_keys, for_values = tee(pairs, 3)
        keys = self._keys(row for _, row in for_keys)
        for (kind, row), key, value in zip(kept, keys, self._values(for_values)):
            gone = self._upsert and kind in {DELETE, UPDATE_BEFORE}
            yield key, None if gone else _bytes(value), self._time(row)

    def _keys(self, rows: Iterator[object]) -> Iterator[object]:
        if self._encode_key is None:
            return (None for _ in rows)
        return map(_bytes, self._encode_key(map(_chosen(self._shape.key), rows)))

    def _values(self, pairs: Iterator[Any]) -> Iterator[Any]:
        choose = _chosen(self._shape.value)
        if self._as_pairs:
            return self._encode_value((kind, choose(row)) for kind, row in pairs)
        return self._encode_value(choose(row) for _, row in pairs)

    def _time(self, row: Any) -> int:
        if self._timestamp is None or row[self._timestamp] is None:
            return 0
        return int(row[self._timestamp] // _MICROS_PER_MILLI)


def without_replaced(pairs: Iterator[Any], key: Callable[[Any], object]) -> Iterator[object]:
    """Yield changes without the UPDATE_BEFORE rows that a row of the same key follows.

    The others stay: a filter may let a row's old state pass and hold back the new one.

    Args:
        pairs: the kinds and the rows.
        key: returns the key of a row.
    """
    before = None
    for pair in pairs:
        if before is not None and (pair[0] != UPDATE_AFTER or key(before[1]) != key(pair[1])):
            yield before
        before = pair if pair[0] == UPDATE_BEFORE else None
        if before is None:
            yield pair
    if before is not None:
        yield before


def _chosen(positions: Sequence[int]) -> Callable[[Any], object]:
    if len(positions) == 1:
        (only,) = positions
        return lambda row: (row[only],)
    return itemgetter(*positions)


def _bytes(message: object) -> object:
    return message.encode() if type(message) is str else message
