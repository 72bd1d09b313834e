"""Tables as DataFrames of pandas, and the other way round."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types.data_types import to_data_type
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.common.data_types import DataType, DataTypes, RowType
from pyflink_on_spark.table._elements import type_of

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
_TYPES = {
    "int8": DataTypes.TINYINT,
    "int16": DataTypes.SMALLINT,
    "int32": DataTypes.INT,
    "int64": DataTypes.BIGINT,
    "float32": DataTypes.FLOAT,
    "float64": DataTypes.DOUBLE,
    "bool": DataTypes.BOOLEAN,
}
_REMOVED = 1


def data_frame(schema: Schema, changes: Iterable[Any]) -> pandas.DataFrame:
    """Return the rows that are left after all changes.

    Args:
        schema: the columns.
        changes: Rows with their kinds.
    """
    import pandas as pd

    rows = _last(changes)
    series: dict[str, Any] = {}
    for index, (name, kind) in enumerate(zip(schema.names, schema.types)):
        values = [row[index] for row in rows]
        dtype: Any = _DTYPES.get(kind.root, "object")
        if any(value is None for value in values) and kind.root in _DTYPES:
            dtype = "object" if kind.root is Root.BOOLEAN else "float64"
        if kind.root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ}:
            dtype = "datetime64[ns]"
        series[name] = pd.Series(values, dtype=dtype)
    return pd.DataFrame(series, columns=list(schema.names))


def _last(changes: Iterable[Any]) -> list[Any]:
    """Return the rows that were added and not taken back, in the order of their last addition."""
    kept: list[Any] = []
    removed: Counter[Any] = Counter()
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


def frame_type(frame: pandas.DataFrame, schema: Any) -> Any:
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


def _column_type(column: Any) -> DataType:
    found = _TYPES.get(str(column.dtype))
    if found is not None:
        return found()
    if str(column.dtype).startswith("datetime64"):
        return DataTypes.TIMESTAMP(6)
    for value in column:
        if value is not None and value == value:  # noqa: PLR0124 - what is missing may be NaN
            return to_data_type(type_of(value))
    return DataTypes.STRING()


def elements_of(frame: pandas.DataFrame) -> list[tuple[Any, ...]]:
    """Return the rows of a DataFrame; what is missing is None."""
    import pandas as pd

    columns = []
    for name in frame.columns:
        column = frame[name]
        missing = pd.isna(column).tolist()
        values = column.tolist()
        columns.append([None if gone else _plain(value) for value, gone in zip(values, missing)])
    return list(zip(*columns))


def _plain(value: Any) -> Any:
    convert = getattr(value, "to_pydatetime", None)
    return value if convert is None else convert()
