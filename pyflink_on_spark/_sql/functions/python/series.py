"""Columns as Series of pandas, by way of Arrow as in PyFlink."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.types.logical import BYTES_LIKE, CHARACTERS, LogicalType, Root

if TYPE_CHECKING:
    import pyarrow as pa


def arrow_type(kind: LogicalType, *, nested: bool = False) -> pa.DataType:
    """Return the type that a column has in Arrow.

    Args:
        kind: its type.
        nested: whether rows and points in time may be anywhere inside of it.

    Raises:
        TypeError: there is none.
    """
    import pyarrow as pa

    root = kind.root
    if root is Root.DECIMAL:
        return pa.decimal128(kind.precision or 10, kind.scale or 0)
    if root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
        return pa.timestamp(_unit(kind))
    if root is Root.TIME:
        unit = _unit(kind)
        return pa.time32(unit) if unit in {"s", "ms"} else pa.time64(unit)
    if root in {Root.ARRAY, Root.MAP, Root.ROW}:
        return _composite_type(kind, nested)
    made = _SIMPLE.get(root)
    if made is None:
        raise TypeError(f"A pandas function cannot have values of the type {kind}.")
    return getattr(pa, made)()


def _composite_type(kind: LogicalType, nested: bool) -> pa.DataType:
    import pyarrow as pa

    if kind.root is Root.ARRAY:
        if not nested:
            _check_nested(kind.children[0], "used as the element type of ArrayType.")
        return pa.list_(arrow_type(kind.children[0], nested=nested))
    if kind.root is Root.MAP:
        key, value = (arrow_type(child, nested=nested) for child in kind.children)
        return pa.map_(key, value)
    if not nested:
        for child in kind.children:
            _check_nested(child, "used as the field type of RowType")
    types = [arrow_type(child, nested=nested) for child in kind.children]
    return pa.struct(list(zip(kind.names, types)))


_SIMPLE = {
    Root.TINYINT: "int8",
    Root.SMALLINT: "int16",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.FLOAT: "float32",
    Root.DOUBLE: "float64",
    Root.BOOLEAN: "bool_",
    Root.DATE: "date32",
    Root.NULL: "null",
    **dict.fromkeys(CHARACTERS, "utf8"),
    **dict.fromkeys(BYTES_LIKE, "binary"),
}


def _unit(kind: LogicalType) -> str:
    digits = kind.precision or 0
    return "s" if digits == 0 else "ms" if digits <= 3 else "us" if digits <= 6 else "ns"


def _check_nested(kind: LogicalType, place: str) -> None:
    if kind.root in {Root.TIMESTAMP_LTZ, Root.ROW}:
        raise TypeError(f"{kind} is not supported to be {place}")


def series_of(values: Sequence[Any], kind: LogicalType, zone: str) -> Any:
    """Return a column as a Series; as a DataFrame if the values are rows.

    Args:
        values: as Python objects.
        kind: their type.
        zone: the session's time zone, by name.
    """
    import pandas as pd
    import pyarrow as pa

    if kind.root is Root.ROW:
        arrow_type(kind)  # checks the fields
        fields = [
            series_of([None if row is None else row[index] for row in values], child, zone)
            for index, child in enumerate(kind.children)
        ]
        return pd.concat([field.rename(name) for field, name in zip(fields, kind.names)], axis=1)
    plain: Sequence[Any] = values
    if kind.root is Root.TIMESTAMP_LTZ:
        plain = [None if value is None else value.replace(tzinfo=None) for value in values]
    elif kind.root is Root.MAP:
        plain = [None if value is None else list(value.items()) for value in values]
    array = pa.array(plain, type=arrow_type(kind))
    series = array.to_pandas(date_as_object=True)
    return series.dt.tz_localize(zone) if kind.root is Root.TIMESTAMP_LTZ else series


def frame_of(columns: Sequence[Any], names: Sequence[str]) -> Any:
    """Return Series as one DataFrame, as a function over whole rows gets them."""
    import pandas as pd

    return pd.concat([column.rename(name) for column, name in zip(columns, names)], axis=1)


def checked(result: object, name: str, rows: int) -> object:
    """Return the result of a function, checked.

    Args:
        result: what it returned.
        name: the function's.
        rows: how many rows it got.

    Raises:
        AssertionError: it is no Series and no DataFrame, or too long or too short.
    """
    import pandas as pd

    if not isinstance(result, pd.Series | pd.DataFrame):
        raise AssertionError(
            f"The result type of Pandas UDF '{name}' must be pandas.Series or pandas.DataFrame, "
            f"got {type(result)}"
        )
    if len(result) != rows:
        raise AssertionError(
            f"The result length '{len(result)}' of Pandas UDF '{name}' is not equal to the input "
            f"length '{rows}'"
        )
    return result


def values_of(result: object, kind: LogicalType, zone: str) -> list[object]:
    """Return the Python objects of a Series, or the tuples of a DataFrame; NULL is None.

    Args:
        result: the Series or DataFrame.
        kind: the type of the values.
        zone: the session's time zone, by name.

    Raises:
        RuntimeError: the values are not of the type.
    """
    import pandas as pd

    if isinstance(result, pd.DataFrame):
        if kind.root is not Root.ROW:
            raise RuntimeError(f"The function returned a DataFrame, but its result type is {kind}.")
        columns = [
            _array(result.iloc[:, index], child, zone).to_pylist()
            for index, child in enumerate(kind.children)
        ]
        return list(zip(*columns)) if columns else []
    return _array(result, kind, zone).to_pylist()  # type: ignore[no-any-return]


def _array(series: Any, kind: LogicalType, zone: str) -> Any:
    import pyarrow as pa
    from pandas.api.types import is_datetime64_any_dtype

    target = arrow_type(kind)
    if kind.root is Root.TIMESTAMP_LTZ and is_datetime64_any_dtype(series.dtype):
        if series.dt.tz is not None:
            series = series.dt.tz_convert(zone)
        series = series.dt.tz_localize(None)
    try:
        return pa.Array.from_pandas(series, mask=series.isnull(), type=target)
    except pa.ArrowException as error:
        raise RuntimeError(
            f"Exception thrown when converting pandas.Series ({series.dtype}) to pyarrow.Array "
            f"({target}).",
            error,
        ) from error
