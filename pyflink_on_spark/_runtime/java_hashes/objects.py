"""Java's hash codes of objects of a declared type."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.java_hashes import columns, values
from pyflink_on_spark._runtime.java_hashes.columns import Column, one_by_one
from pyflink_on_spark._runtime.java_hashes.pickles import pickle_hash
from pyflink_on_spark._runtime.java_hashes.polynomial import MASK, signed
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
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

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

    def column(self, column: Sequence[Any]) -> NDArray[np.uint32]:
        """Return what ``plain`` does for many values."""
        return one_by_one(self.plain)(column) if None in column else self._column(column)

    def column_in_row(self, column: Sequence[Any]) -> NDArray[np.uint32]:
        """Return what ``in_row`` does for many values."""
        if self._looks_inside or None in column:
            return one_by_one(self.in_row)(column)
        codes = self._column(column)
        codes += 31
        return codes


def java_hash(type_info: Any) -> JavaHash:
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

    def plain(value: tuple[Any, ...]) -> int:
        total = 0
        for code, item in zip(hashes, value):
            total = 31 * total + code(item)
        return total

    def column(tuples: Sequence[tuple[Any, ...]]) -> NDArray[np.uint32]:
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
    items: Callable[[Any], Iterable[Any]] = signed if _is_bytes(type_info.elem_type) else iter
    return JavaHash(
        lambda value: _array_hash(map(element.plain, items(value))),
        lambda value: _array_hash(map(element.in_row, items(value))),
    )


def _is_bytes(element: Any) -> bool:
    return isinstance(element, BasicTypeInfo) and element._basic_type is BasicType.BYTE


def _map(type_info: MapTypeInfo) -> JavaHash:
    key, value = java_hash(type_info._key_type_info), java_hash(type_info._value_type_info)
    return JavaHash(
        lambda entries: sum(key.plain(k) ^ value.plain(v) for k, v in entries.items()),
        lambda entries: 1 + sum(key.in_row(k) ^ value.in_row(v) for k, v in entries.items()),
    )


def _object_array(type_info: Any) -> JavaHash:
    element = java_hash(type_info._element_type)

    def in_row(value: Any) -> int:
        return _array_hash(map(element.in_row, value))

    # On its own, an array in Java has another hash code than an equal one.
    return JavaHash(in_row, in_row)


def _primitive_array(type_info: PrimitiveArrayTypeInfo) -> JavaHash:
    element = java_hash(type_info._element_type)
    items: Callable[[Any], Iterable[Any]] = signed if _is_bytes(type_info._element_type) else iter
    return JavaHash(lambda value: _array_hash(map(element.plain, items(value))))


_BASIC: dict[BasicType, tuple[Hash, Column | None]] = {
    BasicType.STRING: (values.string_hash, columns.string_hashes),
    BasicType.CHAR: (values.string_hash, columns.string_hashes),
    BasicType.BOOLEAN: (values.boolean_hash, None),
    BasicType.BYTE: (values.int_hash, columns.int_hashes),
    BasicType.SHORT: (values.int_hash, columns.int_hashes),
    BasicType.INT: (values.int_hash, columns.int_hashes),
    BasicType.LONG: (values.long_hash, columns.long_hashes),
    BasicType.BIG_INT: (values.big_integer_hash, None),
    BasicType.FLOAT: (values.float_hash, None),
    BasicType.DOUBLE: (values.double_hash, None),
    BasicType.BIG_DEC: (values.big_decimal_hash, None),
    BasicType.INSTANT: (values.instant_hash, None),
}

_LOCAL_TIME: dict[LocalTimeTypeInfo.TimeType, Hash] = {
    LocalTimeTypeInfo.TimeType.LOCAL_DATE: values.local_date_hash,
    LocalTimeTypeInfo.TimeType.LOCAL_TIME: values.local_time_hash,
    LocalTimeTypeInfo.TimeType.LOCAL_DATE_TIME: values.local_date_time_hash,
}


def _basic(type_info: BasicTypeInfo) -> JavaHash:
    plain, column = _BASIC[type_info._basic_type]
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
    DateTypeInfo: lambda _: JavaHash(values.sql_date_hash),
    TimeTypeInfo: lambda _: JavaHash(values.sql_time_hash),
    TimestampTypeInfo: lambda _: JavaHash(values.sql_timestamp_hash),
    LocalTimeTypeInfo: lambda type_info: JavaHash(_LOCAL_TIME[type_info._time_type]),
    PickledBytesTypeInfo: lambda _: JavaHash(pickle_hash),
    ExternalTypeInfo: lambda type_info: java_hash(type_info._type_info),
}
