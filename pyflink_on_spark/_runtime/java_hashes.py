"""Java's hash codes of objects of a declared type."""

from __future__ import annotations

import datetime
import math
import pickle
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from operator import mul
from struct import Struct
from typing import TYPE_CHECKING, Any, TypeVar

from pyflink_on_spark._runtime.elements.immutability import canonical_pickle, wrap_key
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    basic_type_of,
    element_type_of,
    key_type_of,
    time_type_of,
    value_type_of,
    wrapped_type_of,
)
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pyflink_on_spark.common.time import Instant


MASK = 0xFFFFFFFF
_WIDTH = 256
_WEIGHTS: tuple[int, ...] = tuple(pow(31, _WIDTH - 1 - place, 1 << 32) for place in range(_WIDTH))
_SHORT = 64
_WEIGHTS_OF_SHORT = tuple(_WEIGHTS[_WIDTH - size :] for size in range(_SHORT + 1))
MOST_AT_ONCE = 1 << 20

T = TypeVar("T")


def polynomial(items: Sequence[int]) -> int:
    """Return the sum for one sequence; only the low 32 bits count."""
    size = len(items)
    if size <= _SHORT:
        return sum(map(mul, items, _WEIGHTS_OF_SHORT[size]))
    head = size % _WIDTH
    total: int = sum(map(mul, items[:head], _WEIGHTS[_WIDTH - head :]))
    for start in range(head, size, _WIDTH):
        block = sum(map(mul, items[start : start + _WIDTH], _WEIGHTS))
        total = total * _WEIGHTS[0] * 31 + block & MASK
    return total


def signed(content: bytes) -> Sequence[int]:
    """Return bytes as Java counts them, from -128 to 127."""
    return content if content.isascii() else memoryview(content).cast("b")


def bytes_hash(content: bytes) -> int:
    """Return ``Arrays.hashCode`` of an array of bytes."""
    # Java begins with 1 in front of an array's items.
    return polynomial(signed(b"\x01" + content))


def polynomials(items: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.uint32]:
    """Return the sums of many sequences.

    Args:
        items: the items of all sequences, one sequence after the other.
        sizes: how many items each sequence has.
    """
    import numpy as np

    if len(items) > MOST_AT_ONCE:
        return _one_by_one(items, sizes)
    rising, falling = _powers((len(items) + 1).bit_length())
    sums = np.zeros(len(items) + 1, np.uint32)
    np.cumsum(items * falling[: len(items)], dtype=np.uint32, out=sums[1:])
    ends = np.cumsum(sizes)
    found: NDArray[np.uint32] = (sums[ends] - sums[ends - sizes]) * rising[ends]
    return found


def _one_by_one(items: NDArray[np.uint32], sizes: NDArray[np.int64]) -> NDArray[np.uint32]:
    import numpy as np

    parts = np.split(items, np.cumsum(sizes)[:-1])
    return np.array([polynomial(part.tolist()) & MASK for part in parts], np.uint32)


@lru_cache(maxsize=2)
def _powers(bits: int) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Return the powers of 31 from the 0th, and those of its inverse from the first."""
    import numpy as np

    rising = np.full(1 << bits, 31, np.uint32)
    rising[0] = 1
    falling = np.full(1 << bits, pow(31, -1, 1 << 32), np.uint32)
    return np.cumprod(rising, dtype=np.uint32), np.cumprod(falling, dtype=np.uint32)


UTF_16 = f"utf-16-{sys.byteorder[0]}e"
"""Two bytes for each code unit, as this machine has them."""

_MASK = 0xFFFFFFFF
_LONG_MASK = 0xFFFFFFFFFFFFFFFF
_DOUBLE_BITS, _LONG_BITS = Struct(">d"), Struct(">Q")
_FLOAT_BITS, _INT_BITS = Struct(">f"), Struct(">I")
_DOUBLE_NAN, _FLOAT_NAN = 0x7FF80000, 0x7FC00000
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone
_EPOCH_DAY = _EPOCH.toordinal()
_DAY = datetime.timedelta(days=1)
_MILLISECOND, _MICROSECOND = datetime.timedelta(milliseconds=1), datetime.timedelta(microseconds=1)


def string_hash(value: str) -> int:
    """Return ``String.hashCode``, which goes by UTF-16 code units."""
    if value.isascii():
        return polynomial(value.encode())
    return polynomial(memoryview(value.encode(UTF_16, "surrogatepass")).cast("H"))


def int_hash(value: int) -> int:
    """Return ``Integer.hashCode``, that of Short and Byte, too."""
    return value


def long_hash(value: int) -> int:
    """Return ``Long.hashCode``."""
    bits = value & _LONG_MASK
    return bits ^ bits >> 32


def big_integer_hash(value: int) -> int:
    """Return ``BigInteger.hashCode``."""
    words, rest = [], abs(value)
    while rest:
        words.append(rest & _MASK)
        rest >>= 32
    code = polynomial(words[::-1])
    return code if value >= 0 else -code


def big_decimal_hash(value: Decimal) -> int:
    """Return ``BigDecimal.hashCode``; by it, 1.5 and 1.50 are two."""
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits)))
    return 31 * big_integer_hash(-unscaled if sign else unscaled) - int(exponent)


def boolean_hash(value: bool) -> int:
    """Return ``Boolean.hashCode``."""
    return 1231 if value else 1237


def double_hash(value: float) -> int:
    """Return ``Double.hashCode``."""
    if math.isnan(value):
        return _DOUBLE_NAN
    bits: int = _LONG_BITS.unpack(_DOUBLE_BITS.pack(value))[0]
    return bits ^ bits >> 32


def float_hash(value: float) -> int:
    """Return ``Float.hashCode``."""
    if math.isnan(value):
        return _FLOAT_NAN
    code: int = _INT_BITS.unpack(_FLOAT_BITS.pack(value))[0]
    return code


def sql_date_hash(value: datetime.date) -> int:
    """Return ``java.sql.Date.hashCode`` where the time zone is UTC."""
    return long_hash((value.toordinal() - _EPOCH_DAY) * (_DAY // _MILLISECOND))


def sql_time_hash(value: datetime.time) -> int:
    """Return ``java.sql.Time.hashCode`` where the time zone is UTC."""
    return long_hash(_since_midnight(value) // _MILLISECOND)


def sql_timestamp_hash(value: datetime.datetime) -> int:
    """Return ``java.sql.Timestamp.hashCode`` where the time zone is UTC.

    PyFlink hands over whole seconds before 1970 as if they were to be cut off, not rounded down.
    """
    time = (value - _EPOCH) // _MILLISECOND
    return long_hash(time + 1000 if time < 0 and value.microsecond else time)


def instant_hash(value: Instant) -> int:
    """Return ``Instant.hashCode``."""
    return long_hash(value.seconds) + 51 * value.nanos


def local_date_hash(value: datetime.date) -> int:
    """Return ``LocalDate.hashCode``."""
    year = value.year
    return year & 0xFFFFF800 ^ (year << 11) + (value.month << 6) + value.day


def local_time_hash(value: datetime.time) -> int:
    """Return ``LocalTime.hashCode``."""
    return long_hash(_since_midnight(value) // _MICROSECOND * 1000)


def local_date_time_hash(value: datetime.datetime) -> int:
    """Return ``LocalDateTime.hashCode``."""
    return (local_date_hash(value.date()) ^ local_time_hash(value.time())) & _MASK


def _since_midnight(value: datetime.time) -> datetime.timedelta:
    return datetime.datetime.combine(_EPOCH, value) - _EPOCH


Column = Callable[[Sequence[Any]], "NDArray[np.uint32]"]


def string_hashes(values: Sequence[str]) -> NDArray[np.uint32]:
    """Return ``String.hashCode`` of each value."""
    import numpy as np

    joined = "".join(values)
    if joined.isascii():
        content = np.frombuffer(joined.encode(), np.uint8)
        return polynomials(content.astype(np.uint32), _sizes(values))
    encoded = [value.encode(UTF_16, "surrogatepass") for value in values]
    units = np.frombuffer(b"".join(encoded), np.uint16)
    return polynomials(units.astype(np.uint32), _sizes(encoded) // 2)


def _sizes(values: Sequence[Any]) -> NDArray[np.int64]:
    import numpy as np

    return np.fromiter(map(len, values), np.int64, len(values))


def int_hashes(values: Sequence[int]) -> NDArray[np.uint32]:
    """Return ``Integer.hashCode`` of each value, that of Short and Byte, too."""
    import numpy as np

    return np.fromiter(values, np.int32, len(values)).view(np.uint32)


def long_hashes(values: Sequence[int]) -> NDArray[np.uint32]:
    """Return ``Long.hashCode`` of each value."""
    import numpy as np

    bits = np.fromiter(values, np.int64, len(values)).view(np.uint64)
    return (bits ^ bits >> np.uint64(32)).astype(np.uint32)


def one_by_one(code: Callable[[object], int]) -> Column:
    """Return a function that calls another for each value."""

    def codes(values: Sequence[object]) -> NDArray[np.uint32]:
        import numpy as np

        return np.fromiter((code(value) & MASK for value in values), np.uint32, len(values))

    return codes


PROTOCOL = 5
_FRAME = 0x95
_ATOMS = frozenset({str, int, bytes, float, bool, type(None)})
_ALWAYS_ALIKE = _ATOMS | {
    datetime.date, datetime.datetime, datetime.time, datetime.timedelta, Decimal, bytearray,
}  # fmt: skip
_OWN_MODULE = re.compile(rb"\x8c(.)pyflink_on_spark(?=\.)", re.DOTALL)
_OWN_NAME, _FLINKS_NAME = b"pyflink_on_spark", b"pyflink"


def pickle_hash(value: object) -> int:
    """Return Java's hash code of the pickle of a value."""
    return bytes_hash(flink_pickle(value))


def flink_pickle(value: object) -> bytes:
    """Return the pickle of a value as PyFlink makes it where there is no declared type.

    A pickle depends on which parts of a value are one and the same object. Equal keys must meet:
    here all parts are objects of their own, except those that Python has only once.
    """
    kind = type(value)
    if kind in _ALWAYS_ALIKE or ((kind is tuple or kind is list) and _has_distinct_atoms(value)):
        return pickle.dumps(value, PROTOCOL)
    if _has_no_order(value):
        return repr(wrap_key(value).identity).encode("utf-8", "surrogatepass")
    return as_flink_names(pickle.dumps(pickle.loads(canonical_pickle(value)), PROTOCOL))


def _has_distinct_atoms(value: Any) -> bool:
    kinds = set(map(type, value))
    size = len(value)
    return kinds <= _ATOMS and (len(kinds) == size or len(set(value)) == size)


def _has_no_order(value: Any) -> bool:
    """True for a key that contains sets: their order differs between processes."""
    kind = type(value)
    if kind is frozenset and len(value) > 1:
        return True
    return kind in (tuple, list, frozenset, Row) and any(map(_has_no_order, value))


def as_flink_names(content: bytes) -> bytes:
    """Rename the classes in a pickle to Flink's names of them.

    Args:
        content: a pickle of protocol 4 or 5.
    """
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


Hash = Callable[[Any], int]


class JavaHash:
    """The hash codes of one type, of which the low 32 bits count. That of null is 0.

    Args:
        plain: ``hashCode`` of a value that is not None.
        in_row: how ``Row.hashCode`` sees such a value in a field, if not as an array of that one.
        column: ``hashCode`` of many such values, if there is a shorter way.
    """

    def __init__(
        self, plain: Hash, in_row: Hash | None = None, column: Column | None = None
    ) -> None:
        inside = in_row or (lambda value: 31 + plain(value))
        self.plain: Hash = lambda value: 0 if value is None else plain(value)
        self.in_row: Hash = lambda value: 0 if value is None else inside(value)
        self._column = column or one_by_one(plain)
        self._looks_inside = in_row is not None

    def column(self, column: Sequence[object]) -> NDArray[np.uint32]:
        """Return the hashes of ``plain`` for many values."""
        return one_by_one(self.plain)(column) if None in column else self._column(column)

    def column_in_row(self, column: Sequence[object]) -> NDArray[np.uint32]:
        """Return the hashes of ``in_row`` for many values."""
        if self._looks_inside or None in column:
            return one_by_one(self.in_row)(column)
        codes = self._column(column)
        codes += 31
        return codes


def java_hash(type_info: object) -> JavaHash:
    """Return the hash codes of a type."""
    return next(
        build(type_info) for kind, build in _BUILDERS.items() if isinstance(type_info, kind)
    )


def _array_hash(codes: Iterable[int]) -> int:
    total = 1
    for code in codes:
        total = 31 * total + code & MASK
    return total


def _tuple(type_info: TupleTypeInfo) -> JavaHash:
    fields = list(map(java_hash, type_info.get_field_types()))
    hashes = [field.plain for field in fields]

    def plain(value: tuple[object, ...]) -> int:
        total = 0
        for code, item in zip(hashes, value):
            total = 31 * total + code(item)
        return total

    def column(tuples: Sequence[tuple[object, ...]]) -> NDArray[np.uint32]:
        import numpy as np

        total = np.zeros(len(tuples), np.uint32)
        for field, items in zip(fields, zip(*tuples)):
            total = total * np.uint32(31) + field.column(items)
        return total

    return JavaHash(plain, column=column)


def _row(type_info: RowTypeInfo) -> JavaHash:
    fields = list(map(java_hash, type_info.get_field_types()))
    hashes = [field.in_row for field in fields]

    def plain(row: Any) -> int:
        codes = [code(item) for code, item in zip(hashes, row._values)]
        kind: int = row._row_kind.value
        return 31 * kind + _array_hash(codes)

    def column(rows: Sequence[Any]) -> NDArray[np.uint32]:
        import numpy as np

        kinds = np.fromiter((row._row_kind.value for row in rows), np.uint32, len(rows))
        total = np.ones(len(rows), np.uint32)
        for field, items in zip(fields, zip(*[row._values for row in rows])):
            total = total * np.uint32(31) + field.column_in_row(items)
        return kinds * np.uint32(31) + total

    return JavaHash(plain, column=column)


def _list(type_info: ListTypeInfo) -> JavaHash:
    element = java_hash(type_info.elem_type)
    items: Callable[[Any], Iterable[object]] = signed if _is_bytes(type_info.elem_type) else iter
    return JavaHash(
        lambda value: _array_hash(map(element.plain, items(value))),
        lambda value: _array_hash(map(element.in_row, items(value))),
    )


def _is_bytes(element: object) -> bool:
    return isinstance(element, BasicTypeInfo) and basic_type_of(element) is BasicType.BYTE


def _map(type_info: MapTypeInfo) -> JavaHash:
    key, value = java_hash(key_type_of(type_info)), java_hash(value_type_of(type_info))
    return JavaHash(
        lambda entries: sum(key.plain(k) ^ value.plain(v) for k, v in entries.items()),
        lambda entries: 1 + sum(key.in_row(k) ^ value.in_row(v) for k, v in entries.items()),
    )


def _object_array(type_info: Any) -> JavaHash:
    element = java_hash(element_type_of(type_info))

    def in_row(value: Any) -> int:
        return _array_hash(map(element.in_row, value))

    # On its own, an array in Java has another hash code than an equal one.
    return JavaHash(in_row, in_row)


def _primitive_array(type_info: PrimitiveArrayTypeInfo) -> JavaHash:
    element = java_hash(element_type_of(type_info))
    items: Callable[[Any], Iterable[object]] = (
        signed if _is_bytes(element_type_of(type_info)) else iter
    )
    return JavaHash(lambda value: _array_hash(map(element.plain, items(value))))


_BASIC: dict[BasicType, tuple[Hash, Column | None]] = {
    BasicType.STRING: (string_hash, string_hashes),
    BasicType.CHAR: (string_hash, string_hashes),
    BasicType.BOOLEAN: (boolean_hash, None),
    BasicType.BYTE: (int_hash, int_hashes),
    BasicType.SHORT: (int_hash, int_hashes),
    BasicType.INT: (int_hash, int_hashes),
    BasicType.LONG: (long_hash, long_hashes),
    BasicType.BIG_INT: (big_integer_hash, None),
    BasicType.FLOAT: (float_hash, None),
    BasicType.DOUBLE: (double_hash, None),
    BasicType.BIG_DEC: (big_decimal_hash, None),
    BasicType.INSTANT: (instant_hash, None),
}

_LOCAL_TIME: dict[LocalTimeTypeInfo.TimeType, Hash] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: local_date_hash,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: local_time_hash,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: local_date_time_hash,
}


def _basic(type_info: BasicTypeInfo) -> JavaHash:
    plain, column = _BASIC[basic_type_of(type_info)]
    return JavaHash(plain, column=column)


_BUILDERS: dict[type, Callable[[Any], JavaHash]] = {
    BasicTypeInfo: _basic,
    TupleTypeInfo: _tuple,
    RowTypeInfo: _row,
    ListTypeInfo: _list,
    MapTypeInfo: _map,
    PrimitiveArrayTypeInfo: _primitive_array,
    BasicArrayTypeInfo: _object_array,
    ObjectArrayTypeInfo: _object_array,
    DateTypeInfo: lambda _: JavaHash(sql_date_hash),
    TimeTypeInfo: lambda _: JavaHash(sql_time_hash),
    TimestampTypeInfo: lambda _: JavaHash(sql_timestamp_hash),
    LocalTimeTypeInfo: lambda type_info: JavaHash(_LOCAL_TIME[time_type_of(type_info)]),
    PickledBytesTypeInfo: lambda _: JavaHash(pickle_hash),
    ExternalTypeInfo: lambda type_info: java_hash(wrapped_type_of(type_info)),
}


def in_hash_map(values: Mapping[str, T]) -> dict[str, T]:
    """The entries of a mapping in the order in which Java's ``HashMap`` gives them."""
    buckets = 16
    while len(values) > buckets * 3 // 4:
        buckets *= 2

    def bucket(key: str) -> int:
        code = string_hash(key) & 0xFFFFFFFF
        return (code ^ code >> 16) & (buckets - 1)

    return {key: values[key] for key in sorted(values, key=bucket)}
