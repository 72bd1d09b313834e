"""Functions with their types, to be called in expressions."""

from __future__ import annotations

import inspect
from typing import Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.functions.python.aggregates import (
    PandasAggregate,
    PythonTableAggregate,
    python_aggregate,
)
from pyflink_on_spark._sql.functions.python.functions import (
    AsyncFunction,
    VectorizedFunction,
    python_scalar,
    python_table,
)
from pyflink_on_spark._sql.plan.signatures import Declaration
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark.common.data_types import DataType, RowType
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expression.parts import logical_type, written_operand
from pyflink_on_spark.table.udf.functions import UserDefinedFunction


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

    def _defined(self) -> Any:
        """Return the function as queries know it."""
        if self._definition is None:
            self._definition = self._define(None)
            self._definition.declare(Declaration(self._input_types, self._deterministic))
        return self._definition

    def _over_rows(self, names: tuple[str, ...]) -> tuple[syntax.Call, tuple[str, ...]]:
        """Return its call with whole rows, one as its only argument, and the columns' names."""
        args = tuple(syntax.Name((name,)) for name in names)
        return syntax.Call(self._name, args, self._define(names)), self._alias_names

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
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

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
        function, kind = UserFunction.of(self._func), logical_type(self._result_type)
        if self._func_type == "pandas":
            return VectorizedFunction(
                self._name,
                function,
                kind,
                deterministic=self._deterministic,
                over_rows=row_names is not None,
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

    def _define(self, row_names: tuple[str, ...] | None) -> Any:
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
