"""Types as users give them: DataTypes, or texts."""

from __future__ import annotations

from pyflink_on_spark._sql.parser import parse_type
from pyflink_on_spark._sql.types.api_types import to_logical
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.data_types import DataType


def logical_type(given: DataType | str) -> LogicalType:
    """Return the type that a user means.

    Raises:
        SqlParseError: a text is no type.
        TypeError: it is neither a DataType nor a text.
    """
    if isinstance(given, str):
        return parse_type(given)
    if not isinstance(given, DataType):
        raise TypeError(f"a type has to be a DataType or a str, not {given!r}")
    return to_logical(given)
