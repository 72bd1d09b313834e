"""The data types that describe the columns of files."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.table.types.atomic import (
    AtomicType,
    BigIntType,
    BinaryType,
    BooleanType,
    CharType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    FractionalType,
    IntegralType,
    IntType,
    LocalZonedTimestampType,
    NullType,
    NumericType,
    SmallIntType,
    TimestampType,
    TimeType,
    TinyIntType,
    VarBinaryType,
    VarCharType,
    ZonedTimestampType,
)
from pyflink_on_spark.table.types.composite import (
    ArrayType,
    MapType,
    MultisetType,
    RowField,
    RowType,
)
from pyflink_on_spark.table.types.factory import DataTypes

__all__ = [
    "ArrayType",
    "AtomicType",
    "BigIntType",
    "BinaryType",
    "BooleanType",
    "CharType",
    "DataType",
    "DateType",
    "DecimalType",
    "DoubleType",
    "FloatType",
    "FractionalType",
    "IntType",
    "IntegralType",
    "LocalZonedTimestampType",
    "MapType",
    "MultisetType",
    "NullType",
    "NumericType",
    "RowField",
    "RowType",
    "SmallIntType",
    "TimeType",
    "TimestampType",
    "TinyIntType",
    "VarBinaryType",
    "VarCharType",
    "ZonedTimestampType",
    "DataTypes",
]

__getattr__ = missing_name(__name__)
