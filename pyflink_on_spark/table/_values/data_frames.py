"""Tables as DataFrames of pandas, and the other way round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.python.series import arrow_type
from pyflink_on_spark._sql.plan.nodes import Schema
from pyflink_on_spark._sql.types.external import to_logical
from pyflink_on_spark._sql.types.logical import BYTES_LIKE, CHARACTERS, LogicalType, Root
from pyflink_on_spark.common.data_types import DataType, DataTypes, RowType

if TYPE_CHECKING:
    import pandas

_DTYPES = {
    Root.TINYINT: "int8",
    Root.SMALLINT: "int16",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.FLOAT: "float32",
    Root.DOUBLE: "float64",
    Root.BOOLEAN: "bool",
}
_NESTED = {Root.ARRAY, Root.MAP, Root.ROW}
_ARROW = {
    *_DTYPES,
    *CHARACTERS,
    *BYTES_LIKE,
    Root.DECIMAL,
    Root.DATE,
    Root.TIME,
    Root.TIMESTAMP,
}
_UNIT_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}
_EPOCH = datetime(1970, 1, 1)
_REMOVED = 1


def data_frame(schema: Schema, changes: Iterable[Any], zone: str) -> pandas.DataFrame:
    """Return the rows that are left after all changes.

    Args:
        schema: the columns.
        changes: Rows with their kinds.
        zone: the time zone of points in time, by name.
    """
    import pandas as pd

    rows = _last(changes)
    if not rows:
        return pd.DataFrame(columns=list(schema.names), dtype="object")
    series: dict[str, object] = {}
    for index, (name, kind) in enumerate(zip(schema.names, schema.types)):
        values = [row[index] for row in rows]
        dtype: object = _DTYPES.get(kind.root, "object")
        if any(value is None for value in values) and kind.root in _DTYPES:
            dtype = "object" if kind.root is Root.BOOLEAN else "float64"
        if kind.root is Root.TIMESTAMP:
            dtype = _moments(kind)
        if kind.root is Root.TIMESTAMP_LTZ:
            utc = pd.Series(list(map(_utc, values)), dtype=_moments(kind)).dt.tz_localize("UTC")
            series[name] = utc.dt.tz_convert(zone)
            continue
        if kind.root in _NESTED:
            series[name] = _nested(values, kind)
            continue
        if kind.root in BYTES_LIKE:
            values = [None if value is None else bytes(value) for value in values]
        series[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(series, columns=list(schema.names))


def _nested(values: list[Any], kind: LogicalType) -> object:
    """Return arrays as NumPy's, rows as dicts, and maps as lists of pairs, as Arrow has them."""
    import pandas as pd

    plain = [_plain_rows(value, kind) for value in values]
    try:
        return pa.array(plain, type=arrow_type(kind, nested=True)).to_pandas()
    except (TypeError, pa.ArrowException):
        return pd.Series(plain, dtype="object")


def _plain_rows(value: Any, kind: LogicalType) -> object:
    """Return a value in which dicts stand for rows, and pairs for maps, as Arrow takes them."""
    if value is None:
        return None
    if kind.root is Root.ROW:
        items = map(value.get, kind.names) if isinstance(value, dict) else value
        return {
            name: _plain_rows(item, child)
            for name, item, child in zip(kind.names, items, kind.children)
        }
    if kind.root is Root.ARRAY:
        return [_plain_rows(item, kind.children[0]) for item in value]
    if kind.root is Root.MAP:
        key, item = kind.children
        return [(_plain_rows(k, key), _plain_rows(v, item)) for k, v in dict(value).items()]
    return value


def _utc(instant: Any) -> datetime | None:
    if instant is None:
        return None
    return _EPOCH + timedelta(seconds=instant.seconds, microseconds=instant.nanos // 1000)


def _moments(kind: LogicalType) -> str:
    digits = kind.precision or 0
    unit = next(unit for unit, most in _UNIT_DIGITS.items() if digits <= most)
    return f"datetime64[{unit}]"


def _last(changes: Iterable[Any]) -> list[Any]:
    """Return the rows that were added and not retracted, in the order of their last addition."""
    kept: list[Any] = []
    removed: Counter[object] = Counter()
    plain = True
    for row in changes:
        if row.get_row_kind().value & _REMOVED:
            plain = False
            removed[repr(tuple(row))] += 1
        else:
            kept.append(tuple(row))
    if plain:
        return kept
    found = []
    for row in kept:
        if removed[repr(row)] > 0:
            removed[repr(row)] -= 1
        else:
            found.append(row)
    return found


def frame_type(frame: pandas.DataFrame, schema: object) -> Any:
    """Return the type of the rows of a DataFrame.

    Args:
        frame: the DataFrame.
        schema: the type of the rows, or the names or the types of the columns, or None.

    Raises:
        TypeError: the schema is something else.
    """
    if isinstance(schema, RowType):
        return schema
    names, types = list(map(str, frame.columns)), None
    if isinstance(schema, list | tuple) and all(isinstance(item, str) for item in schema):
        names = list(schema)
    elif isinstance(schema, list | tuple) and all(isinstance(item, DataType) for item in schema):
        types = list(schema)
    elif schema is not None:
        raise TypeError(f"Unsupported schema type, it could only be of RowType, a list of str or "
                        f"a list of DataType, got {schema}")  # fmt: skip
    if types is None:
        types = [_column_type(frame.iloc[:, index]) for index in range(len(names))]
    return DataTypes.ROW([DataTypes.FIELD(name, kind) for name, kind in zip(names, types)])


def _column_type(column: object) -> DataType:
    return _data_type(pa.Array.from_pandas(column).type)


def _data_type(kind: pa.DataType) -> DataType:
    """Return the type for a type of Arrow.

    Raises:
        TypeError: there is none.
        ValidationError: a column has no value that tells its type.
    """
    simple = _TYPES.get(kind)
    if simple is not None:
        return simple()
    if pa.types.is_null(kind):
        raise ValidationError(
            "The null type is reserved for representing untyped NULL literals. It should not be "
            "used in constructed types."
        )
    if pa.types.is_timestamp(kind):
        return DataTypes.TIMESTAMP(_UNIT_DIGITS[kind.unit])
    if pa.types.is_time(kind):
        return DataTypes.TIME(_UNIT_DIGITS[kind.unit])
    if pa.types.is_decimal(kind):
        return DataTypes.DECIMAL(kind.precision, kind.scale)
    if pa.types.is_list(kind):
        return DataTypes.ARRAY(_data_type(kind.value_type))
    if pa.types.is_map(kind):
        return DataTypes.MAP(_data_type(kind.key_type), _data_type(kind.item_type))
    if pa.types.is_struct(kind) and not any(pa.types.is_struct(field.type) for field in kind):
        return DataTypes.ROW(
            [DataTypes.FIELD(field.name, _data_type(field.type)) for field in kind]
        )
    raise TypeError(f"Unsupported data type to convert from Arrow: {kind}")


_TYPES = {
    pa.int8(): DataTypes.TINYINT,
    pa.int16(): DataTypes.SMALLINT,
    pa.int32(): DataTypes.INT,
    pa.int64(): DataTypes.BIGINT,
    pa.float32(): DataTypes.FLOAT,
    pa.float64(): DataTypes.DOUBLE,
    pa.bool_(): DataTypes.BOOLEAN,
    pa.string(): DataTypes.STRING,
    pa.large_string(): DataTypes.STRING,
    pa.binary(): DataTypes.BYTES,
    pa.date32(): DataTypes.DATE,
}


def elements_of(frame: pandas.DataFrame, kind: RowType) -> list[tuple[object, ...]]:
    """Return the rows of a DataFrame; missing values are None.

    Args:
        frame: the DataFrame.
        kind: the type of the rows.

    Raises:
        RuntimeError: a value is not of the type of its column.
    """
    kinds = to_logical(kind).children
    columns = [_items(frame.iloc[:, index], child) for index, child in enumerate(kinds)]
    return list(zip(*columns))


def _items(column: Any, kind: LogicalType) -> list[object]:
    """Return the values of a column, as Arrow reads them where it has their type."""
    import pandas as pd

    nested = kind.root in _NESTED
    missing = column.isnull()
    if nested:
        column = pd.Series([_plain_rows(v, kind) for v in column], dtype="object")
        missing = column.isnull()
    if not _has_arrow_type(kind):
        values = zip(column.tolist(), missing.tolist())
        return [None if gone else _as_python(value, kind) for value, gone in values]
    target = arrow_type(kind, nested=True)
    try:
        array = pa.Array.from_pandas(column, mask=missing, type=target)
    except pa.ArrowException as error:
        kinds = f"pandas.Series ({column.dtype}) to pyarrow.Array ({target})"
        message = f"Exception thrown when converting {kinds}."
        raise RuntimeError(message, error) from error
    return [_as_python(value, kind) for value in array.to_pylist()]


def _has_arrow_type(kind: LogicalType) -> bool:
    """False for points in time, whose zone Arrow would drop, and for what Arrow does not have."""
    if kind.root in _NESTED:
        return all(map(_has_arrow_type, kind.children))
    return kind.root in _ARROW


def _as_python(value: Any, kind: LogicalType) -> object:
    """Return a value whose maps are dicts, and whose moments are datetimes."""
    if value is None:
        return None
    if kind.root is Root.ROW:
        return {
            name: _as_python(value[name], child) for name, child in zip(kind.names, kind.children)
        }
    if kind.root is Root.ARRAY:
        return [_as_python(item, kind.children[0]) for item in value]
    if kind.root is Root.MAP:
        key, item = kind.children
        return {_as_python(k, key): _as_python(v, item) for k, v in value}
    convert = getattr(value, "to_pydatetime", None)
    return value if convert is None else convert()
