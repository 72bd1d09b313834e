"""The types of columns as type information and as Arrow's types, and rows as Arrow batches."""

from __future__ import annotations

import contextlib
import datetime
from collections.abc import Callable, Iterator, Sequence
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation, localcontext
from typing import TYPE_CHECKING, Any, NoReturn

import pyarrow as pa

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._connectors.formats.file_format import CorruptRecordError
from pyflink_on_spark._runtime.types.composite import new_row
from pyflink_on_spark.common.data_types import (
    ArrayType,
    DataType,
    DecimalType,
    LocalZonedTimestampType,
    MapType,
    MultisetType,
    RowType,
    TimestampType,
)
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicType,
    BasicTypeInfo,
    LocalTimeTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TypeInformation,
)
from pyflink_on_spark.common.types import Row, RowKind

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.types.codec import Convert


_TIME = LocalTimeTypeInfo.TimeType
WHOLE_NUMBERS = frozenset(
    (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT)
)
Columns = Callable[[pa.Schema, list[Any]], pa.RecordBatch]
"""Makes a batch of a schema and of rows."""
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)
_WIDEST = 76


def row_type_info(row_type: RowType) -> RowTypeInfo:
    """Return the type information of rows."""
    types = [type_info_of(field.data_type) for field in row_type]
    return RowTypeInfo(types, [field.name for field in row_type])


def arrow_schema(row_type: RowType) -> pa.Schema:
    """Return Arrow's schema of rows.

    Raises:
        TypeError: Arrow has no type for a column.
    """
    return pa.schema([pa.field(field.name, arrow_type(field.data_type)) for field in row_type])


def type_info_of(data_type: DataType) -> TypeInformation:
    """Return the type information of a column.

    Raises:
        TypeError: columns do not support the type.
    """
    if isinstance(data_type, RowType):
        return row_type_info(data_type)
    if isinstance(data_type, ArrayType):
        return ObjectArrayTypeInfo(type_info_of(data_type.element_type))
    if isinstance(data_type, MapType):
        return MapTypeInfo(type_info_of(data_type.key_type), type_info_of(data_type.value_type))
    name = data_type.type_name()
    if isinstance(data_type, MultisetType):
        return MapTypeInfo(type_info_of(data_type.element_type), BasicTypeInfo.INT_TYPE_INFO())
    if name not in _TYPE_INFOS:
        raise TypeError(f"a column cannot be of type {data_type}")
    return _TYPE_INFOS[name]()


def arrow_type(data_type: DataType) -> pa.DataType:
    """Return Arrow's type of a column.

    Raises:
        TypeError: columns do not support the type.
    """
    if isinstance(data_type, RowType):
        return pa.struct(list(arrow_schema(data_type)))
    if isinstance(data_type, ArrayType):
        return pa.list_(arrow_type(data_type.element_type))
    if isinstance(data_type, MapType):
        return pa.map_(arrow_type(data_type.key_type), arrow_type(data_type.value_type))
    if isinstance(data_type, MultisetType):
        return pa.map_(arrow_type(data_type.element_type), pa.int32())
    if isinstance(data_type, DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, TimestampType):
        return pa.timestamp("ms" if data_type.precision <= 3 else "us")
    if isinstance(data_type, LocalZonedTimestampType):
        return pa.timestamp("ms" if data_type.precision <= 3 else "us", "UTC")
    name = data_type.type_name()
    if name not in _ARROW_TYPES:
        raise TypeError(f"a column cannot be of type {data_type}")
    return _ARROW_TYPES[name]()


def _bytes_type_info() -> TypeInformation:
    return PrimitiveArrayTypeInfo(BasicTypeInfo.BYTE_TYPE_INFO())


def _local(kind: LocalTimeTypeInfo.TimeType) -> Callable[[], TypeInformation]:
    return lambda: LocalTimeTypeInfo(kind)


_TYPE_INFOS: dict[str, Callable[[], TypeInformation]] = {
    "CHAR": BasicTypeInfo.STRING_TYPE_INFO,
    "VARCHAR": BasicTypeInfo.STRING_TYPE_INFO,
    "BOOLEAN": BasicTypeInfo.BOOLEAN_TYPE_INFO,
    "BINARY": _bytes_type_info,
    "VARBINARY": _bytes_type_info,
    "TINYINT": BasicTypeInfo.BYTE_TYPE_INFO,
    "SMALLINT": BasicTypeInfo.SHORT_TYPE_INFO,
    "INT": BasicTypeInfo.INT_TYPE_INFO,
    "BIGINT": BasicTypeInfo.LONG_TYPE_INFO,
    "FLOAT": BasicTypeInfo.FLOAT_TYPE_INFO,
    "DOUBLE": BasicTypeInfo.DOUBLE_TYPE_INFO,
    "DECIMAL": BasicTypeInfo.BIG_DEC_TYPE_INFO,
    "DATE": _local(_TIME.LOCAL_DATE),
    "TIME": _local(_TIME.LOCAL_TIME),
    "TIMESTAMP": _local(_TIME.LOCAL_DATE_TIME),
    "LOCALZONEDTIMESTAMP": BasicTypeInfo.INSTANT_TYPE_INFO,
}
_ARROW_TYPES: dict[str, Callable[[], pa.DataType]] = {
    "CHAR": pa.string,
    "VARCHAR": pa.string,
    "BOOLEAN": pa.bool_,
    "BINARY": pa.binary,
    "VARBINARY": pa.binary,
    "TINYINT": pa.int8,
    "SMALLINT": pa.int16,
    "INT": pa.int32,
    "BIGINT": pa.int64,
    "FLOAT": pa.float32,
    "DOUBLE": pa.float64,
    "DATE": pa.date32,
    "TIME": lambda: pa.time32("ms"),
}


def whole_number_text(value: object) -> str:
    """Return the text of an integer.

    Raises:
        TypeError: the value is not an integer.
    """
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return int.__repr__(value)


def refuse_field(type_info: object, format_name: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a type that a format does not support."""
    raise_unsupported(
        f"a field of type {type_info} in {format_name}",
        kind=Gap.NOT_YET,
        reason="the format has no such type here",
        instead="Declare it as a STRING, and convert it in a map().",
    )


@contextlib.contextmanager
def reading(path: str) -> Iterator[None]:
    """Add the path of a damaged file to Arrow's errors.

    Raises:
        CorruptRecordError: instead of Arrow's errors.
    """
    try:
        yield
    except (pa.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise CorruptRecordError(f"cannot read {path}: {error}") from error


def columns_of(available: pa.Schema, wanted: pa.Schema, case_sensitive: bool) -> list[str | None]:
    """Return the names of a schema's columns in a file; None for a column that the file lacks.

    Raises:
        ValueError: the case of letters does not count, and a name fits two columns.
    """
    if case_sensitive:
        return [name if name in available.names else None for name in wanted.names]
    lower: dict[str, str] = {}
    for name in available.names:
        if name.lower() in lower and name.lower() in map(str.lower, wanted.names):
            raise ValueError(
                f"the columns {lower[name.lower()]!r} and {name!r} differ only in case"
            )
        lower[name.lower()] = name
    return [lower.get(name.lower()) for name in wanted.names]


def with_schema(
    batch: pa.RecordBatch, schema: pa.Schema, found: Sequence[str | None]
) -> pa.RecordBatch:
    """Return the columns of a batch as a schema wants them; a missing one is null.

    Args:
        batch: what was read.
        schema: the columns and their types.
        found: what the file calls them.

    Raises:
        ValueError: a column has a type that cannot be converted.
    """
    columns = []
    for one, name in zip(schema, found):
        if name is None:
            columns.append(pa.nulls(batch.num_rows, one.type))
            continue
        column = batch.column(batch.schema.get_field_index(name))
        columns.append(column if column.type == one.type else _cast(column, one))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array, wanted: pa.Field) -> pa.Array:
    try:
        if pa.types.is_timestamp(wanted.type):
            return column.cast(wanted.type, safe=False)
        return column.cast(wanted.type)
    except pa.ArrowException as error:
        raise ValueError(
            f"column {wanted.name!r} is of type {column.type}, not {wanted.type}: {error}"
        ) from error


def to_arrow(kind: pa.DataType) -> Convert | None:
    """Return a function that converts a value, but not None, for Arrow; None if not necessary.

    Args:
        kind: the type of the column. A decimal is rounded to its scale, and becomes None if it is
            too large, as in Flink.
    """
    if pa.types.is_struct(kind):
        return _struct_to_arrow(kind)
    if pa.types.is_map(kind):
        key, item = _nullable(to_arrow(kind.key_type)), _nullable(to_arrow(kind.item_type))
        return lambda value: [(key(one), item(other)) for one, other in value.items()]
    if pa.types.is_list(kind):
        element = _nullable(to_arrow(kind.value_type))
        return lambda value: list(map(element, value))
    if pa.types.is_decimal(kind):
        return _decimal_to_arrow(kind)
    if pa.types.is_timestamp(kind) and kind.tz is not None:
        return _instant_to_arrow
    if pa.types.is_binary(kind):
        return bytes
    return None


def from_arrow(kind: pa.DataType, *, structs_as_rows: bool = True) -> Convert | None:
    """Return a function that converts a value, but not None, of Arrow; None if not necessary.

    Args:
        kind: the type of the column.
        structs_as_rows: whether structs become rows, and points in time ``Instant``. Otherwise they
            become dicts and ``datetime``.
    """

    def inner(part: pa.DataType) -> Convert | None:
        return from_arrow(part, structs_as_rows=structs_as_rows)

    if pa.types.is_struct(kind):
        fields = [(field.name, _nullable(inner(field.type))) for field in kind]
        return _row_of_dict(fields) if structs_as_rows else _dict_of_dict(fields)
    if pa.types.is_map(kind):
        key, item = _nullable(inner(kind.key_type)), _nullable(inner(kind.item_type))
        return lambda pairs: {key(one): item(other) for one, other in pairs}
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        element = inner(kind.value_type)
        if element is None:
            return None
        nullable = _nullable(element)
        return lambda value: list(map(nullable, value))
    if pa.types.is_timestamp(kind) and kind.tz is not None and structs_as_rows:
        return _instant_from_arrow
    return None


def column_converters(
    schema: pa.Schema, convert: Callable[[pa.DataType], Convert | None]
) -> list[tuple[int, Convert]]:
    """Return the index and the converter of each column that needs one; it also takes None."""
    found = [(index, convert(field.type)) for index, field in enumerate(schema)]
    return [(index, _nullable(one)) for index, one in found if one is not None]


def row_values(schema: pa.Schema) -> Callable[[object], tuple[Any, ...]]:
    """Return a function that converts a row to a tuple of values for Arrow.

    Raises:
        ValueError: the returned function raises it for a row with another number of fields.
        TypeError: the returned function raises it for an element that is not a row.
    """
    converters = column_converters(schema, to_arrow)
    size = len(schema)

    def convert(row: object) -> tuple[object, ...]:
        if not isinstance(row, Row):
            raise TypeError(f"rows are written, not {type(row).__name__}: {row!r}")
        values = row._values
        if len(values) != size:
            raise ValueError(f"the row {row} has {len(values)} fields, and the file {size} columns")
        if not converters:
            return tuple(values)
        values = list(values)
        for index, one in converters:
            values[index] = one(values[index])
        return tuple(values)

    return convert


def record_batch(schema: pa.Schema, rows: Sequence[Sequence[object]]) -> pa.RecordBatch:
    """Return rows, converted by ``row_values``, as columns.

    Raises:
        ValueError: a value does not have the type of its column. The message contains both.
    """
    columns = []
    for field, values in zip(schema, zip(*rows)):
        try:
            columns.append(pa.array(values, field.type))
        except (pa.ArrowException, TypeError, ValueError, AttributeError, OverflowError) as error:
            raise ValueError(
                f"a value of column {field.name!r} is not of type {field.type}: {error}"
            ) from error
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _nullable(convert: Convert | None) -> Convert:
    if convert is None:
        return lambda value: value
    return lambda value: None if value is None else convert(value)


def _struct_to_arrow(kind: pa.DataType) -> Convert:
    fields = [(field.name, _nullable(to_arrow(field.type))) for field in kind]

    def convert(value: Any) -> dict[str, object]:
        if isinstance(value, dict):
            return {name: one(value.get(name)) for name, one in fields}
        return {name: one(item) for (name, one), item in zip(fields, value, strict=True)}

    return convert


def _decimal_to_arrow(kind: pa.DataType) -> Convert:
    unit = Decimal(1).scaleb(-kind.scale)
    limit = Decimal(10) ** (kind.precision - kind.scale)

    def convert(value: Any) -> Decimal | None:
        with localcontext() as context:
            context.prec = _WIDEST
            try:
                rounded = Decimal(value).quantize(unit, ROUND_HALF_UP)
            except InvalidOperation:
                return None
        return rounded if abs(rounded) < limit else None

    return convert


def _instant_to_arrow(value: Any) -> datetime.datetime:
    if isinstance(value, datetime.datetime):
        return value
    return _EPOCH + datetime.timedelta(seconds=value.seconds, microseconds=value.nanos // 1000)


def _instant_from_arrow(value: datetime.datetime) -> Instant:
    seconds, rest = divmod(value - _EPOCH, datetime.timedelta(seconds=1))
    return Instant(seconds, rest.microseconds * 1000)


def _row_of_dict(fields: list[tuple[str, Convert]]) -> Convert:
    names = [name for name, _ in fields]
    return lambda value: new_row(names, [one(value[name]) for name, one in fields], RowKind.INSERT)


def _dict_of_dict(fields: list[tuple[str, Convert]]) -> Convert:
    return lambda value: {name: one(value[name]) for name, one in fields}
