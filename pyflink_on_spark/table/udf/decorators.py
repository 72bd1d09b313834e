"""Decorators that make Python functions usable in tables."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table.udf.functions import (
    AggregateFunction,
    AsyncScalarFunction,
    ScalarFunction,
    TableAggregateFunction,
    TableFunction,
)
from pyflink_on_spark.table.udf.wrappers import (
    UserDefinedAggregateFunctionWrapper,
    UserDefinedAsyncScalarFunctionWrapper,
    UserDefinedFunctionWrapper,
    UserDefinedScalarFunctionWrapper,
    UserDefinedTableFunctionWrapper,
)

_KINDS = ("general", "pandas")


def udf(
    f: Callable | ScalarFunction | AsyncScalarFunction | type | None = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
    udf_type: str | None = None,
) -> UserDefinedScalarFunctionWrapper | Callable:
    """Make a function of Python one of tables; also as a decorator.

    Args:
        f: a function, a coroutine function, a ScalarFunction or an AsyncScalarFunction.
        input_types: accepted; the arguments' own types count.
        result_type: the type of the result.
        deterministic: whether it always has the same result for the same arguments.
        name: for messages.
        func_type: ``general``, or ``pandas`` for a function of Series.
        udf_type: the name of ``func_type`` before PyFlink 1.12.

    Raises:
        ValueError: there is no such ``func_type``, or a coroutine function has ``pandas``.
        TypeError: it is no function, or the result has no type.

    Example:
        >>> from pyflink_on_spark.table import DataTypes
        >>> @udf(result_type=DataTypes.BIGINT())
        ... def add_one(number):
        ...     return number + 1
    """
    if udf_type:
        note_former("udf(udf_type=...)", "use udf(func_type=...)")
        func_type = udf_type
    _check_kind(func_type)
    if f is None:
        return functools.partial(
            udf,
            input_types=input_types,
            result_type=result_type,
            deterministic=deterministic,
            name=name,
            func_type=func_type,
        )
    if isinstance(f, AsyncScalarFunction) or inspect.iscoroutinefunction(f):
        if func_type == "pandas":
            raise ValueError(
                "Async scalar functions do not support pandas func_type. Please use "
                "func_type='general' (default) for async functions."
            )
        return UserDefinedAsyncScalarFunctionWrapper(
            f, input_types, result_type, func_type, deterministic, name
        )
    return UserDefinedScalarFunctionWrapper(
        f, input_types, result_type, func_type, deterministic, name
    )


def udtf(
    f: Callable | TableFunction | type | None = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_types: list[DataType] | DataType | str | list[str] | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
) -> UserDefinedTableFunctionWrapper | Callable:
    """Make a function of Python one that gives rows; also as a decorator.

    Args:
        f: a function, or a TableFunction.
        input_types: accepted; the arguments' own types count.
        result_types: the types of the columns.
        deterministic: whether it always has the same rows for the same arguments.
        name: for messages.

    Raises:
        TypeError: it is no function, or the columns have no types.
    """
    if f is None:
        return functools.partial(
            udtf,
            input_types=input_types,
            result_types=result_types,
            deterministic=deterministic,
            name=name,
        )
    return UserDefinedTableFunctionWrapper(f, input_types, result_types, deterministic, name)


def udaf(
    f: Callable | AggregateFunction | type | None = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedAggregateFunctionWrapper | Callable:
    """Make an aggregate function of tables; also as a decorator.

    Args:
        f: an AggregateFunction, or a function of Series.
        input_types: accepted; the arguments' own types count.
        result_type: the type of the result.
        accumulator_type: accepted; accumulators are pickled.
        deterministic: whether it always has the same result for the same rows.
        name: for messages.
        func_type: ``general``, or ``pandas`` for a function of Series.

    Raises:
        ValueError: there is no such ``func_type``.
        TypeError: it is no function, or the result has no type.
    """
    _check_kind(func_type)
    if f is None:
        return functools.partial(
            udaf,
            input_types=input_types,
            result_type=result_type,
            accumulator_type=accumulator_type,
            deterministic=deterministic,
            name=name,
            func_type=func_type,
        )
    return UserDefinedAggregateFunctionWrapper(
        f, input_types, result_type, accumulator_type, func_type, deterministic, name
    )


def udtaf(
    f: Callable | TableAggregateFunction | type | None = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_type: DataType | str | None = None,
    accumulator_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedAggregateFunctionWrapper | Callable:
    """Make a table aggregate function, for ``flat_aggregate``; also as a decorator.

    Args:
        f: a TableAggregateFunction.
        input_types: accepted; the arguments' own types count.
        result_type: the type of the rows.
        accumulator_type: accepted; accumulators are pickled.
        deterministic: whether it always has the same rows for the same rows.
        name: for messages.
        func_type: ``general``.

    Raises:
        ValueError: there is no such ``func_type``.
        TypeError: it is no function, or the rows have no type.
    """
    if func_type != "general":
        raise ValueError(f"The func_type must be 'general', got {func_type}.")
    if f is None:
        return functools.partial(
            udtaf,
            input_types=input_types,
            result_type=result_type,
            accumulator_type=accumulator_type,
            deterministic=deterministic,
            name=name,
            func_type=func_type,
        )
    return UserDefinedAggregateFunctionWrapper(
        f,
        input_types,
        result_type,
        accumulator_type,
        func_type,
        deterministic,
        name,
        is_table_aggregate=True,
    )


def defined(function: Any) -> Any:
    """Return a function as queries know it.

    Raises:
        TypeError: it is no function of ``udf``, ``udtf``, ``udaf`` or an AggregateFunction.
    """
    if isinstance(function, AggregateFunction | TableAggregateFunction):
        decorate: Any = udaf if isinstance(function, AggregateFunction) else udtaf
        function = decorate(
            function,
            result_type=function.get_result_type(),
            accumulator_type=function.get_accumulator_type(),
            name=type(function).__name__,
        )
    if not isinstance(function, UserDefinedFunctionWrapper):
        raise TypeError(f"a function of udf, udtf or udaf is needed, not {function!r}")
    return function._defined()


def _check_kind(func_type: str) -> None:
    if func_type not in _KINDS:
        raise ValueError(f"The func_type must be one of 'general, pandas', got {func_type}.")
