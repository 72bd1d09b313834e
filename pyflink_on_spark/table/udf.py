"""User functions."""

from __future__ import annotations

import functools
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.recorded import note_former
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._sql.functions.python.aggregates import (
    PandasAggregate,
    PythonTableAggregate,
    python_aggregate,
)
from pyflink_on_spark._sql.functions.python.binding import FunctionContext
from pyflink_on_spark._sql.functions.python.functions import (
    AsyncFunction,
    VectorizedFunction,
    python_scalar,
    python_table,
)
from pyflink_on_spark._sql.plan.signatures import Declaration
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common.data_types import DataType, MapType, RowType
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expression.parts import logical_type, written_operand

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
    """A user function, as an object."""

    def open(self, function_context: FunctionContext):
        """Get ready; called once in each subtask."""

    def close(self):
        """Release everything."""

    def is_deterministic(self) -> bool:
        """True if the function always returns the same result for the same arguments."""
        return True


class ScalarFunction(UserDefinedFunction):
    """Gives one value for each row.

    Example:
        >>> class Add(ScalarFunction):
        ...     def eval(self, a, b):
        ...         return a + b
        >>> add = udf(Add(), result_type=DataTypes.BIGINT())
        >>> table = t_env.from_elements([(1, 2)], ["a", "b"])
        >>> list(table.select(add(table.a, table.b)).execute().collect())
        [<Row(3)>]
    """

    @abstractmethod
    def eval(self, *args):
        """Return the value for some arguments."""


class AsyncScalarFunction(UserDefinedFunction):
    """Gives one value for each row, while other rows are computed.

    Results come in the order of the rows. The options of ``table.exec.async-scalar`` say how many
    calls are in flight, how long one may take, and whether it is tried again.

    On Spark: A call has the arguments of its own row. In PyFlink 2.3 a call that waits may see
    those of a later row.

    Example:
        >>> class Status(AsyncScalarFunction):
        ...     async def eval(self, url):
        ...         async with aiohttp.ClientSession() as session, session.get(url) as answer:
        ...             return answer.status
        >>> status = udf(Status(), result_type=DataTypes.INT())
    """

    @abstractmethod
    async def eval(self, *args):
        """Return the value for some arguments."""


class TableFunction(UserDefinedFunction):
    """Gives any number of rows for each row.

    Example:
        >>> class Split(TableFunction):
        ...     def eval(self, text):
        ...         yield from text.split()
        >>> split = udtf(Split(), result_types=DataTypes.STRING())
        >>> table = t_env.from_elements([("to be",)], ["text"])
        >>> words = table.join_lateral(split(table.text).alias("word")).select(col("word"))
        >>> list(words.execute().collect())
        [<Row('to')>, <Row('be')>]
    """

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
    """Gives one value for the rows of a group.

    Example:
        >>> class Longest(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return [""]
        ...
        ...     def accumulate(self, accumulator, text):
        ...         accumulator[0] = max(accumulator[0], text, key=len)
        ...
        ...     def get_value(self, accumulator):
        ...         return accumulator[0]
        >>> longest = udaf(
        ...     Longest(),
        ...     result_type=DataTypes.STRING(),
        ...     accumulator_type=DataTypes.ARRAY(DataTypes.STRING()),
        ... )
        >>> table = t_env.from_elements([("a",), ("bcd",)], ["text"])
        >>> list(table.select(longest(table.text)).execute().collect())[-1]
        <Row('bcd')>
    """

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
        input_types: shown by DESCRIBE FUNCTION; the arguments' own types count.
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
        self._input_types = _types_of(input_types)
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
        call = syntax.Call(self._name, tuple(map(written_operand, args)), self._defined())
        expression: Expression = Expression(call)
        return expression.alias(*self._alias_names) if self._alias_names else expression

    def alias(self, *alias_names: str):
        """Give the columns of the result names."""
        self._alias_names = alias_names
        return self

    def _defined(self) -> object:
        """Return the function as queries know it."""
        if self._definition is None:
            self._definition = self._define(None)
            self._definition.declare(Declaration(self._input_types, self._deterministic))
        return self._definition

    def _over_rows(self, names: tuple[str, ...]) -> tuple[syntax.Call, tuple[str, ...]]:
        """Return its call with whole rows, one as its only argument, and the columns' names."""
        args = tuple(syntax.Name((name,)) for name in names)
        return syntax.Call(self._name, args, self._define(names)), self._alias_names

    def _define(self, row_names: tuple[str, ...] | None) -> object:
        raise NotImplementedError


class UserDefinedScalarFunctionWrapper(UserDefinedFunctionWrapper):
    """A scalar function with its types.

    Args:
        func: the function.
        input_types: shown by DESCRIBE FUNCTION; the arguments' own types count.
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

    def _define(self, row_names: tuple[str, ...] | None) -> object:
        function, kind = UserFunction.of(self._func), logical_type(self._result_type)
        if self._func_type == "pandas":
            return VectorizedFunction(
                self._name,
                function,
                kind,
                deterministic=self._deterministic,
                row_names=row_names,
            )
        return python_scalar(
            self._name, function, kind, deterministic=self._deterministic, row_names=row_names
        )


class UserDefinedAsyncScalarFunctionWrapper(UserDefinedScalarFunctionWrapper):
    """A coroutine function, or an AsyncScalarFunction, with its types.

    Args:
        func: the function.
        input_types: shown by DESCRIBE FUNCTION; the arguments' own types count.
        result_type: the type of the result.
        func_type: ``general``.
        deterministic: whether it always has the same result for the same arguments.
        name: for messages.
    """

    def _define(self, row_names: tuple[str, ...] | None) -> object:
        return AsyncFunction(
            self._name,
            UserFunction.of(self._func),
            logical_type(self._result_type),
            deterministic=self._deterministic,
        )


class UserDefinedTableFunctionWrapper(UserDefinedFunctionWrapper):
    """A table function with its types.

    Args:
        func: the function.
        input_types: shown by DESCRIBE FUNCTION; the arguments' own types count.
        result_types: the types of the columns.
        deterministic: whether it always has the same rows for the same arguments.
        name: for messages.
    """

    def __init__(self, func, input_types, result_types, deterministic=None, name=None):
        super().__init__(func, input_types, "general", deterministic, name)
        self._results = _columns_of(result_types)

    def _define(self, row_names: tuple[str, ...] | None) -> object:
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
        input_types: shown by DESCRIBE FUNCTION; the arguments' own types count.
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
        if func_type == "pandas" and isinstance(result_type, MapType):
            raise TypeError(
                "Invalid returnType: Pandas UDAF doesn't support DataType type MAP currently"
            )

    def _define(self, row_names: tuple[str, ...] | None) -> object:
        of_series = self._func_type == "pandas"
        function = PandasAggregate(self._func) if of_series else self._func
        kind = logical_type(self._result_type)
        if self._is_table_aggregate:
            is_row = kind.root is Root.ROW
            names, types = (kind.names, kind.children) if is_row else (("f0",), (kind,))
            return PythonTableAggregate(
                self._name, UserFunction.of(function), names, types, row_names
            )
        return python_aggregate(
            self._name, UserFunction.of(function), kind, row_names, of_series=of_series
        )


def _types_of(given: Any) -> tuple[LogicalType, ...] | None:
    """Return the declared types of the arguments; None for any."""
    if given is None:
        return None
    types = [given] if isinstance(given, DataType | str) else list(given)
    for each in types:
        if not isinstance(each, DataType | str):
            raise TypeError(
                f"Invalid input_type: input_type should be DataType or str but contains {each}"
            )
    return tuple(map(logical_type, types))


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


def defined(function: object) -> Any:
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


__getattr__ = missing_name(__name__)
