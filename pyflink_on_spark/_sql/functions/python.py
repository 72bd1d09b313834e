"""Functions that the user has written in Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark._sql.compiler.call_site import CallSite
from pyflink_on_spark._sql.compiler.program import Binding
from pyflink_on_spark._sql.functions.aggregates import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
)
from pyflink_on_spark._sql.functions.context import FunctionContext
from pyflink_on_spark._sql.functions.definition import Nulls, Overload, ScalarFunction
from pyflink_on_spark._sql.functions.parameters import any_type
from pyflink_on_spark._sql.functions.tables import TableFunction
from pyflink_on_spark._sql.types.external import from_python, to_python
from pyflink_on_spark._sql.types.logical import APPROXIMATE, LogicalType
from pyflink_on_spark.common.types import Row

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

Convert = Callable[[Any], Any]


class UserBinding(Binding):
    """Loads, opens and closes a user's function.

    Args:
        function: the function.
        types: the types of the arguments.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        names: tuple[str, ...] | None = None,
    ) -> None:
        self._function, self._types, self._names = function, tuple(types), names

    def load(self, context: OperatorContext | None) -> Any:
        """Return what the code calls."""
        loaded = self._function.load()
        opening = getattr(loaded, "open", None)
        if opening is not None and context is not None:
            opening(FunctionContext(context))
        return self.caller(loaded)

    def close(self, loaded: Any) -> None:
        """Close the function."""
        closing = getattr(loaded.owner, "close", None)
        if closing is not None:
            closing()

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls; its ``owner`` is the function."""
        raise NotImplementedError

    def arguments(self) -> Callable[[Sequence[Any]], Sequence[Any]]:
        """Return what makes Python objects of arguments."""
        converters = [to_python(kind) for kind in self._types]
        names = None if self._names is None else list(self._names)

        def made(args: Sequence[Any]) -> Sequence[Any]:
            values = [
                value if convert is None or value is None else convert(value)
                for convert, value in zip(converters, args)
            ]
            if names is None:
                return values
            row = Row(*values)
            row.set_field_names(names)
            return (row,)

        return made


def result_of(kind: LogicalType) -> Convert:
    """Return what makes a value of what a user's function returns."""
    convert = from_python(kind)
    if kind.root in APPROXIMATE:
        convert = float

    def converted(value: Any) -> Any:
        return value if value is None or convert is None else convert(value)

    return converted


class ScalarBinding(UserBinding):
    """Calls a scalar function.

    Args:
        function: the function.
        types: the types of the arguments.
        result: the type of the result.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        result: LogicalType,
        names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(function, types, names)
        self._result = result

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls."""
        evaluate = getattr(loaded, "eval", loaded)
        arguments, result = self.arguments(), result_of(self._result)

        def call(*args: Any) -> Any:
            return result(evaluate(*arguments(args)))

        call.owner = loaded  # type: ignore[attr-defined]
        return call


def python_scalar(
    name: str,
    function: UserFunction,
    result: LogicalType,
    *,
    deterministic: bool,
    vectorized: bool = False,
    row_names: tuple[str, ...] | None = None,
) -> ScalarFunction:
    """Return a scalar function of the user's.

    Args:
        name: for messages.
        function: what computes it.
        result: the type of its result.
        deterministic: whether it always has the same result for the same arguments.
        vectorized: whether it takes and gives Series of many rows.
        row_names: the names of all columns, if it gets them as one row.
    """

    def code(site: CallSite) -> str:
        binding = ScalarBinding(function, site.types, result, row_names)
        return f"{site.bind(binding, 'udf')}({', '.join(site.sources())})"

    forms = (
        Overload((), lambda types: result, code, Nulls.CALLED),
        Overload((any_type,), lambda types: result, code, Nulls.CALLED, variadic=True),
    )
    if vectorized:
        return VectorizedFunction(name, forms, deterministic=deterministic, function=function)
    return ScalarFunction(name, forms, deterministic=deterministic, foldable=False)


class VectorizedFunction(ScalarFunction):
    """A function of the user's that takes Series, and gives one.

    Args:
        name: for messages.
        overloads: its forms.
        deterministic: whether it always has the same result for the same arguments.
        function: what computes it.
    """

    function: UserFunction

    def __init__(
        self,
        name: str,
        overloads: tuple[Overload, ...],
        *,
        deterministic: bool,
        function: UserFunction,
    ) -> None:
        super().__init__(name, overloads, deterministic=deterministic, foldable=False)
        object.__setattr__(self, "function", function)


# -- table functions -----------------------------------------------------------------------------


class TableBinding(UserBinding):
    """Calls a table function.

    Args:
        function: the function.
        types: the types of the arguments.
        results: the types of the columns.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        results: Sequence[LogicalType],
        names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(function, types, names)
        self._results = tuple(results)

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls."""
        evaluate = getattr(loaded, "eval", loaded)
        arguments, fields = self.arguments(), row_of(self._results)

        def call(*args: Any) -> Iterator[Any]:
            for item in evaluate(*arguments(args)) or ():
                yield fields(item)

        call.owner = loaded  # type: ignore[attr-defined]
        return call


def row_of(results: Sequence[LogicalType]) -> Convert:
    """Return what makes a row of what a function gives: a tuple, a Row, or a single value."""
    converters = [result_of(kind) for kind in results]

    def fields(item: Any) -> tuple[Any, ...]:
        values = item
        if isinstance(item, Row):
            values = item._values
        elif not isinstance(item, tuple) and (len(converters) == 1 or not isinstance(item, list)):
            values = (item,)
        return tuple([convert(value) for convert, value in zip(converters, values)])

    return fields


def python_table(
    name: str,
    function: UserFunction,
    results: tuple[tuple[str, ...], tuple[LogicalType, ...]],
    *,
    deterministic: bool,
    row_names: tuple[str, ...] | None = None,
) -> TableFunction:
    """Return a table function of the user's.

    Args:
        name: for messages.
        function: what gives the rows.
        results: the names and the types of its columns.
        deterministic: whether it always has the same rows for the same arguments.
        row_names: the names of all columns, if it gets them as one row.
    """

    def code(site: CallSite) -> str:
        binding = TableBinding(function, site.types, results[1], row_names)
        return f"{site.bind(binding, 'udtf')}({', '.join(site.sources())})"

    return TableFunction(name, lambda types: results, code, deterministic)


# -- aggregate functions -------------------------------------------------------------------------


class AggregateBinding(UserBinding):
    """Calls the methods of an aggregate function.

    Args:
        function: the function.
        types: the types of the arguments.
        result: the type of the result.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        result: LogicalType,
        names: tuple[str, ...] | None = None,
    ) -> None:
        super().__init__(function, types, names)
        self._result = result

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls."""
        return LoadedAggregate(loaded, self.arguments(), result_of(self._result))


class LoadedAggregate:
    """An aggregate function in a subtask.

    Args:
        owner: the user's function.
        arguments: makes Python objects of arguments.
        result: makes a value of a result.
    """

    def __init__(
        self, owner: Any, arguments: Callable[[Sequence[Any]], Sequence[Any]], result: Convert
    ) -> None:
        self.owner, self._arguments, self._result = owner, arguments, result
        self.create = owner.create_accumulator

    def accumulate(self, accumulator: Any, *args: Any) -> None:
        """Add a row."""
        self.owner.accumulate(accumulator, *self._arguments(args))

    def retract(self, accumulator: Any, *args: Any) -> None:
        """Take a row back."""
        self.owner.retract(accumulator, *self._arguments(args))

    def merge(self, accumulator: Any, other: Any) -> None:
        """Add another accumulator."""
        self.owner.merge(accumulator, [other])

    def value(self, accumulator: Any) -> Any:
        """Return the result."""
        return self._result(self.owner.get_value(accumulator))

    def rows(self, accumulator: Any) -> list[Any]:
        """Return all rows of a function that gives several."""
        return [self._result(item) for item in self.owner.emit_value(accumulator) or ()]


class PythonAggregateCode(AggregateCode):
    """Calls a user's aggregate function; the only slot is its accumulator.

    Args:
        name: of the function in the code.
    """

    takes_null = True

    def __init__(self, name: str) -> None:
        self._name = name
        self.initial = (f"{name}.create()",)

    def accumulate(self, slots: Sequence[str], args: Sequence[str]) -> list[str]:
        """Add a row."""
        return [f"{self._name}.accumulate({', '.join([slots[0], *args])})"]

    def retract(self, slots: Sequence[str], args: Sequence[str]) -> list[str]:
        """Take a row back."""
        return [f"{self._name}.retract({', '.join([slots[0], *args])})"]

    def merge(self, slots: Sequence[str], others: Sequence[str]) -> list[str]:
        """Add another accumulator."""
        return [f"{self._name}.merge({slots[0]}, {others[0]})"]

    def value(self, slots: Sequence[str]) -> str:
        """Return the result."""
        return f"{self._name}.value({slots[0]})"


def python_aggregate(
    name: str,
    function: UserFunction,
    result: LogicalType,
    row_names: tuple[str, ...] | None = None,
) -> AggregateFunction:
    """Return an aggregate function of the user's.

    Args:
        name: for messages.
        function: what computes it.
        result: the type of its result.
        row_names: the names of all columns, if it gets them as one row.
    """

    def code(
        binder: Binder, types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        binding = AggregateBinding(function, types, result, row_names)
        return PythonAggregateCode(binder.bind(binding, "udaf"))

    return AggregateFunction(name, (AnyArguments((), lambda types: result, code),))


@dataclass(frozen=True, eq=False)
class PythonTableAggregate:
    """A function of the user's that gives any number of rows for the rows of a group.

    Args:
        name: for messages.
        function: what computes the rows.
        names: the names of their columns.
        types: the types of their columns.
        row_names: the names of all columns, if it gets them as one row.
    """

    name: str
    function: UserFunction
    names: tuple[str, ...]
    types: tuple[LogicalType, ...]
    row_names: tuple[str, ...] | None = None

    def binding(self, types: Sequence[LogicalType]) -> AggregateBinding:
        """Return what calls it with arguments of some types."""
        return RowsBinding(self.function, types, self.types, self.row_names)


class RowsBinding(AggregateBinding):
    """Calls the methods of a function that gives any number of rows.

    Args:
        function: the function.
        types: the types of the arguments.
        results: the types of the columns.
        names: the names of the fields, if the arguments make one row.
    """

    def __init__(
        self,
        function: UserFunction,
        types: Sequence[LogicalType],
        results: Sequence[LogicalType],
        names: tuple[str, ...] | None = None,
    ) -> None:
        UserBinding.__init__(self, function, types, names)
        self._results = tuple(results)

    def caller(self, loaded: Any) -> Any:
        """Return what the code calls."""
        return LoadedAggregate(loaded, self.arguments(), row_of(self._results))


class AnyArguments(AggregateOverload):
    """A form that takes any arguments."""

    def takes(self, count: int) -> bool:
        """Take any number of arguments."""
        return True

    def parameter(self, index: int) -> Any:
        """Take every type."""
        return any_type


class PandasAggregate:
    """Makes of a function of Series an aggregate function.

    Args:
        function: the user's.
    """

    def __init__(self, function: Any) -> None:
        self._function = function

    def open(self, context: Any) -> None:
        """Open the user's function."""
        opening = getattr(self._function, "open", None)
        if opening is not None:
            opening(context)

    def close(self) -> None:
        """Close the user's function."""
        closing = getattr(self._function, "close", None)
        if closing is not None:
            closing()

    def create_accumulator(self) -> list[Any]:
        """Return no rows."""
        return []

    def accumulate(self, accumulator: list[Any], *args: Any) -> None:
        """Add a row."""
        accumulator.append(args)

    def retract(self, accumulator: list[Any], *args: Any) -> None:
        """Take a row back."""
        accumulator.remove(args)

    def merge(self, accumulator: list[Any], accumulators: list[list[Any]]) -> None:
        """Add the rows of others."""
        for other in accumulators:
            accumulator += other

    def get_value(self, accumulator: list[Any]) -> Any:
        """Return the result of all rows."""
        import pandas as pd

        series = [pd.Series(list(column)) for column in zip(*accumulator)]
        if hasattr(self._function, "accumulate"):
            inner = self._function.create_accumulator()
            self._function.accumulate(inner, *series)
            return plain(self._function.get_value(inner))
        return plain(self._function(*series))


def plain(value: Any) -> Any:
    """Return a number of NumPy as Python's; what is no number is NULL."""
    item = getattr(value, "item", None)
    found = item() if item is not None and not hasattr(value, "__len__") else value
    return None if isinstance(found, float) and found != found else found  # noqa: PLR0124
