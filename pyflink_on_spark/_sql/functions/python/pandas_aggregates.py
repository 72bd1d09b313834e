"""Aggregate functions of Series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.functions.python.series import frame_of, series_of, values_of
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
        self.over_rows = False
        """Whether the function gets all columns as one DataFrame."""

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
        columns = zip(*accumulator)
        series = [series_of(column, kind, self.zone) for column, kind in zip(columns, self.types)]
        args = [frame_of(series)] if self.over_rows else series
        if hasattr(self._function, "accumulate"):
            inner = self._function.create_accumulator()
            self._function.accumulate(inner, *args)
            return self._value(self._function.get_value(inner))
        return self._value(self._function(*args))

    def _value(self, result: Any) -> Any:
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
