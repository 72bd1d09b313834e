"""Aggregate functions of Series."""

from __future__ import annotations

from typing import Any


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
