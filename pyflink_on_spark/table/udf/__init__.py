"""User functions."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._sql.functions.python.binding import FunctionContext
from pyflink_on_spark.table.udf.decorators import udaf, udf, udtaf, udtf
from pyflink_on_spark.table.udf.functions import (
    AggregateFunction,
    AsyncScalarFunction,
    ImperativeAggregateFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
    UserDefinedFunction,
)
from pyflink_on_spark.table.udf.wrappers import (
    UserDefinedAggregateFunctionWrapper,
    UserDefinedAsyncScalarFunctionWrapper,
    UserDefinedFunctionWrapper,
    UserDefinedScalarFunctionWrapper,
    UserDefinedTableFunctionWrapper,
)

__all__ = [
    "FunctionContext",
    "AggregateFunction",
    "ScalarFunction",
    "TableFunction",
    "TableAggregateFunction",
    "AsyncScalarFunction",
    "udf",
    "udtf",
    "udaf",
    "udtaf",
]

__getattr__ = missing_name(__name__)
