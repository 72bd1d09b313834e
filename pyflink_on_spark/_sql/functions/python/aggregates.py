"""Aggregate functions of Series."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark._sql.functions.python.binding import Arguments, Convert, UserBinding
from pyflink_on_spark._sql.functions.python.series import frame_of, series_of, values_of
from pyflink_on_spark._sql.plan.signatures import (
    AggregateCode,
    AggregateFunction,
    AggregateOverload,
    Binder,
    TableAggregateFunction,
    any_type,
)
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.types import Row


class PandasAggregate:
    """Makes of a function of Series an aggregate function.

    Args:
        function: the user's.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self.types: Sequence[LogicalType] = ()
        """The types of the arguments; set where the function is loaded, as all that follows."""
        self.result: LogicalType | None = None
        self.zone = "UTC"
        self.row_names: tuple[str, ...] | None = None
        """The names of the columns, if the function receives all as one DataFrame."""

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

    def create_accumulator(self) -> list[object]:
        """Return no rows."""
        return []

    def accumulate(self, accumulator: list[object], *args: object) -> None:
        """Add a row."""
        accumulator.append(args)

    def retract(self, accumulator: list[object], *args: Any) -> None:
        """Take a row back."""
        accumulator.remove(args)

    def merge(self, accumulator: list[Any], accumulators: list[list[Any]]) -> None:
        """Add the rows of others."""
        for other in accumulators:
            accumulator += other

    def get_value(self, accumulator: list[object]) -> object:
        """Return the result of all rows."""
        columns = zip(*accumulator)
        series = [series_of(column, kind, self.zone) for column, kind in zip(columns, self.types)]
        names = self.row_names
        args = series if names is None else [frame_of(series, names)]
        if hasattr(self._function, "accumulate"):
            inner = self._function.create_accumulator()
            self._function.accumulate(inner, *args)
            return self._value(self._function.get_value(inner))
        return self._value(self._function(*args))

    def _value(self, result: object) -> object:
        """Return the result as PyFlink sends it: as a Series, or a DataFrame, of one row."""
        import pandas as pd

        kind = self.result
        assert kind is not None
        if isinstance(result, Row | tuple):
            result = pd.concat([pd.Series([item]) for item in result], axis=1)
        else:
            result = pd.Series([result])
        (value,) = values_of(result, kind, self.zone)
        return value


class AggregateBinding(UserBinding):
    """Calls the methods of an aggregate function, or of one that gives any number of rows."""

    def caller(self, loaded: Any) -> object:
        """Return the object that the code calls."""
        if isinstance(loaded, PandasAggregate):
            assert isinstance(self._result, LogicalType)
            loaded.types, loaded.result = self._types, self._result
            loaded.zone, loaded.row_names = self._zone, self._names
            self._names = None  # the columns become a DataFrame, not a row
        return LoadedAggregate(loaded, self.arguments(), self.result())


class LoadedAggregate:
    """An aggregate function in a subtask.

    Args:
        owner: the user's function.
        arguments: makes Python objects of arguments.
        result: makes a value of a result.
    """

    def __init__(self, owner: Any, arguments: Arguments, result: Convert) -> None:
        self.owner, self._arguments, self._result = owner, arguments, result
        self.create = owner.create_accumulator

    def accumulate(self, accumulator: object, *args: object) -> None:
        """Add a row."""
        self.owner.accumulate(accumulator, *self._arguments(args))

    def retract(self, accumulator: object, *args: object) -> None:
        """Take a row back."""
        self.owner.retract(accumulator, *self._arguments(args))

    def merge(self, accumulator: object, other: object) -> None:
        """Add another accumulator."""
        self.owner.merge(accumulator, [other])

    def value(self, accumulator: Any) -> object:
        """Return the result."""
        return self._result(self.owner.get_value(accumulator))

    def rows(self, accumulator: Any) -> list[object]:
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
    *,
    of_series: bool = False,
) -> AggregateFunction:
    """Return an aggregate function in Python.

    Args:
        name: for messages.
        function: what computes it.
        result: the type of its result.
        row_names: the names of all columns, if it gets them as one row.
        of_series: whether it computes with columns of pandas.
    """

    def code(
        binder: Binder, types: Sequence[LogicalType], _result: LogicalType, _retracting: bool
    ) -> AggregateCode:
        binding = AggregateBinding(function, types, result, binder.time_zone, row_names)
        return PythonAggregateCode(binder.bind(binding, "udaf"))

    overloads = (AnyArguments((), lambda types: result, code),)
    return AggregateFunction(name, overloads, of_series=of_series)


@dataclass(frozen=True, eq=False)
class PythonTableAggregate(TableAggregateFunction):
    """A user function that emits any number of rows for the rows of a group.

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

    def binding(self, types: Sequence[LogicalType], zone: str) -> AggregateBinding:
        """Return a binding for arguments of certain types, in a session's time zone."""
        return AggregateBinding(self.function, types, self.types, zone, self.row_names)


class AnyArguments(AggregateOverload):
    """A form that takes any arguments."""

    def takes(self, count: int) -> bool:
        """Take any number of arguments."""
        return True

    def parameter(self, index: int) -> Any:
        """Take every type."""
        return any_type
