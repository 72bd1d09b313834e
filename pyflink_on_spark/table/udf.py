"""Functions of the user's."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.functions.context import FunctionContext
from pyflink_on_spark._sql.functions.python import (
    PandasAggregate,
    PythonTableAggregate,
    python_aggregate,
    python_scalar,
    python_table,
)
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common.data_types import DataType, RowType
from pyflink_on_spark.table._types import logical_type
from pyflink_on_spark.table.expression import Expression, _written

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

T = TypeVar("T")
ACC = TypeVar("ACC")
_KINDS = ("general", "pandas")


class UserDefinedFunction(ABC):  # noqa: B024 - methods without a body may stay so
    """A function of the user's, as an object."""

    def open(self, function_context: FunctionContext):
        """Get ready; called once in each subtask."""

    def close(self):
        """Release everything."""

    def is_deterministic(self) -> bool:
        """Tell whether it always has the same result for the same arguments."""
        return True


class ScalarFunction(UserDefinedFunction):
    """Gives one value for each row."""

    @abstractmethod
    def eval(self, *args):
        """Return the value for some arguments."""


class AsyncScalarFunction(UserDefinedFunction):
    """Gives one value for each row, later. On Spark: not supported yet."""

    @abstractmethod
    async def eval(self, *args):
        """Return the value for some arguments."""


class TableFunction(UserDefinedFunction):
    """Gives any number of rows for each row."""

    @abstractmethod
    def eval(self, *args):
        """Return or yield the rows for some arguments."""


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """Gives something for the rows of a group."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return the accumulator of no rows."""

    @abstractmethod
    def accumulate(self, accumulator: ACC, *args):
        """Add a row to an accumulator."""

    def retract(self, accumulator: ACC, *args):
        """Take a row back.

        Raises:
            RuntimeError: the function does not say how.
        """
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: ACC, accumulators):
        """Add other accumulators to one.

        Raises:
            RuntimeError: the function does not say how.
        """
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> DataType | str:
        """Return the type of the result.

        Raises:
            RuntimeError: the function does not say it.
        """
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> DataType | str:
        """Return the type of accumulators.

        Raises:
            RuntimeError: the function does not say it.
        """
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction):
    """Gives one value for the rows of a group."""

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T:  # type: ignore[type-var]
        """Return the value of an accumulator."""


class TableAggregateFunction(ImperativeAggregateFunction):
    """Gives any number of rows for the rows of a group."""

    @abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Yield the rows of an accumulator."""


class UserDefinedFunctionWrapper:
    """A function with its types, to be called in expressions.

    Args:
        func: the function.
        input_types: accepted; the arguments' own types count.
        func_type: ``general``, or ``pandas`` for Series.
        deterministic: whether it always has the same result for the same arguments.
        name: for messages.
    """

    def __init__(self, func, input_types, func_type, deterministic=None, name=None):
        if inspect.isclass(func) or not (isinstance(func, UserDefinedFunction) or callable(func)):
            raise TypeError(
                "Invalid function: not a function or callable (__call__ is not defined): "
                f"{type(func)}"
            )
        _check_types(input_types)
        own = func.is_deterministic() if isinstance(func, UserDefinedFunction) else True
        typed = isinstance(func, UserDefinedFunction)
        if typed and deterministic not in {None, own}:
            raise ValueError(f"Inconsistent deterministic: {deterministic} and {own}")
        self._func, self._func_type = func, func_type
        self._name = name or getattr(func, "__name__", type(func).__name__)
        self._deterministic = own if deterministic is None else deterministic
        self._alias_names: tuple[str, ...] = ()
        self._definition: Any = None

    def __call__(self, *args) -> Expression:
        call = syntax.Call(self._name, tuple(map(_written, args)), self._defined())
        expression: Expression = Expression(call)
        return expression.alias(*self._alias_names) if self._alias_names else expression

    def alias(self, *alias_names: str):
        """Give the columns of the result names."""
        self._alias_names = alias_names
        return self

    def _defined(self) -> Any:
        """Return the function as queries know it."""
        if self._definition is None:
            self._definition = self._define(None)
        return self._definition

    def _over_rows(self, names: tuple[str, ...]) -> Any:
        """Return the function over whole rows, of which it gets one as its only argument."""
        return self._define(names)

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
        raise NotImplementedError


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """A scalar function with its types.

    Args:
        func: the function.
        input_types: accepted; the arguments' own types count.
        result_type: the type of the result.
        func_type: ``general``, or ``pandas`` for Series.
        deterministic: whether it always has the same result for the same arguments.
        name: for messages.
    """

    def __init__(self, func, input_types, result_type, func_type, deterministic, name):
        super().__init__(func, input_types, func_type, deterministic, name)
        if not isinstance(result_type, DataType | str):
            raise TypeError(
                f"Invalid returnType: returnType should be DataType or str but is {result_type}"
            )
        self._result_type = result_type

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
        return python_scalar(
            self._name,
            UserFunction.of(self._func),
            logical_type(self._result_type),
            deterministic=self._deterministic,
            vectorized=self._func_type == "pandas",
            row_names=row_names,
        )


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    """A table function with its types.

    Args:
        func: the function.
        input_types: accepted; the arguments' own types count.
        result_types: the types of the columns.
        deterministic: whether it always has the same rows for the same arguments.
        name: for messages.
    """

    def __init__(self, func, input_types, result_types, deterministic=None, name=None):
        super().__init__(func, input_types, "general", deterministic, name)
        self._results = _columns_of(result_types)

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
        return python_table(
            self._name,
            UserFunction.of(self._func),
            self._results,
            deterministic=self._deterministic,
            row_names=row_names,
        )


class UserDefinedAggregateFunctionWrapper(UserDefinedFunctionWrapper):
    """An aggregate function with its types.

    Args:
        func: the function.
        input_types: accepted; the arguments' own types count.
        result_type: the type of the result.
        accumulator_type: accepted; accumulators are pickled.
        func_type: ``general``, or ``pandas`` for Series.
        deterministic: whether it always has the same result for the same rows.
        name: for messages.
        is_table_aggregate: whether it gives any number of rows.
    """

    def __init__(
        self,
        func,
        input_types,
        result_type,
        accumulator_type,
        func_type,
        deterministic,
        name,
        is_table_aggregate=False,
    ):
        super().__init__(func, input_types, func_type, deterministic, name)
        if accumulator_type is None and func_type == "general":
            accumulator_type = func.get_accumulator_type()
        if result_type is None:
            result_type = func.get_result_type()
        if not isinstance(result_type, DataType | str):
            raise TypeError(
                f"Invalid returnType: returnType should be DataType or str but is {result_type}"
            )
        self._result_type = result_type
        self._is_table_aggregate = is_table_aggregate

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
        function = PandasAggregate(self._func) if self._func_type == "pandas" else self._func
        kind = logical_type(self._result_type)
        if self._is_table_aggregate:
            is_row = kind.root is Root.ROW
            names, types = (kind.names, kind.children) if is_row else (("f0",), (kind,))
            return PythonTableAggregate(
                self._name, UserFunction.of(function), names, types, row_names
            )
        return python_aggregate(self._name, UserFunction.of(function), kind, row_names)


def udf(
    f: Callable | ScalarFunction | AsyncScalarFunction | type | None = None,
    input_types: list[DataType] | DataType | str | list[str] | None = None,
    result_type: DataType | str | None = None,
    deterministic: bool | None = None,
    name: str | None = None,
    func_type: str = "general",
) -> UserDefinedScalarFunctionWrapper | Callable:
    """Make a function of Python one of tables; also as a decorator.

    Args:
        f: a function, or a ScalarFunction.
        input_types: accepted; the arguments' own types count.
        result_type: the type of the result.
        deterministic: whether it always has the same result for the same arguments.
        name: for messages.
        func_type: ``general``, or ``pandas`` for a function of Series.

    Raises:
        ValueError: there is no such ``func_type``.
        TypeError: it is no function, or the result has no type.

    Example:
        >>> from pyflink_on_spark.table import DataTypes
        >>> @udf(result_type=DataTypes.BIGINT())
        ... def add_one(number):
        ...     return number + 1
    """
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
        raise_unsupported(
            "an asynchronous scalar function",
            kind=Gap.NOT_YET,
            reason="rows are computed one after the other",
            instead="Use AsyncDataStream over to_data_stream(table).",
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
    if isinstance(function, AggregateFunction):
        function = udaf(
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


def _check_types(types: Any) -> None:
    if types is None or isinstance(types, DataType | str):
        return
    for each in types:
        if not isinstance(each, DataType | str):
            raise TypeError(
                f"Invalid input_type: input_type should be DataType or str but contains {each}"
            )


def _columns_of(given: Any) -> tuple[tuple[str, ...], tuple[LogicalType, ...]]:
    """Return the names and types of a table function's columns."""
    if isinstance(given, RowType):
        given = given.field_types()
    elif isinstance(given, str):
        kind = logical_type(given)
        if kind.root is Root.ROW:
            return kind.names, kind.children
        given = [given]
    elif isinstance(given, DataType):
        given = [given]
    types = []
    for each in given:
        if not isinstance(each, DataType | str):
            raise TypeError(
                f"Invalid result_type: result_type should be DataType or str but contains {each}"
            )
        types.append(logical_type(each))
    return tuple(f"f{index}" for index in range(len(types))), tuple(types)


__getattr__ = missing_name(__name__)
