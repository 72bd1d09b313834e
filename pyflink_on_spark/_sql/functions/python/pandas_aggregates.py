"""Aggregate functions of Series."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.types.logical import LogicalType, Root

_DTYPES = {
    Root.TINYINT: "int8",
    Root.SMALLINT: "int16",
    Root.INT: "int32",
    Root.BIGINT: "int64",
    Root.FLOAT: "float32",
    Root.DOUBLE: "float64",
}
_WITH_NULL = frozenset({Root.FLOAT, Root.DOUBLE})


class PandasAggregate:
    """Makes of a function of Series an aggregate function.

    Args:
        function: the user's.
    """

    def __init__(self, function: Any) -> None:
        self._function = function
        self.types: Sequence[LogicalType] = ()
        """The types of the arguments; set where the function is loaded."""

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
        series = list(map(series_of, zip(*accumulator), self.types))
        if hasattr(self._function, "accumulate"):
            inner = self._function.create_accumulator()
            self._function.accumulate(inner, *series)
            return plain(self._function.get_value(inner))
        return plain(self._function(*series))


def series_of(values: Sequence[Any], kind: LogicalType) -> Any:
    """Return a Series of a column, with the dtype that Arrow gives it.

    Args:
        values: as Python objects.
        kind: their type.
    """
    import pandas as pd

    dtype = _DTYPES.get(kind.root)
    if dtype is not None and (kind.root in _WITH_NULL or None not in values):
        return pd.Series(list(values), dtype=dtype)
    return pd.Series(list(values))


def plain(value: Any) -> Any:
    """Return a number of NumPy as Python's; what is no number is NULL."""
    item = getattr(value, "item", None)
    found = item() if item is not None and not hasattr(value, "__len__") else value
    return None if isinstance(found, float) and found != found else found  # noqa: PLR0124
