"""Functions over windows of rows around each row."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, Typed
from pyflink_on_spark._sql.plan.nodes import SortKey, Unary


@dataclass(frozen=True)
class Frame:
    """Which rows around a row count for it.

    Args:
        rows: whether the bounds count rows; else they are distances of the value in order.
        lower: where it begins, as a distance from the row: -1 is the row before; None for the
            first row.
        upper: where it ends, in the same way; None for the last row.
    """

    rows: bool = False
    lower: int | None = None
    upper: int | None = 0

    def __str__(self) -> str:
        unit = "ROWS" if self.rows else "RANGE"
        lower, upper = _bound(self.lower, "PRECEDING"), _bound(self.upper, "FOLLOWING")
        return f"{unit} BETWEEN {lower} AND {upper}"


def _bound(distance: int | None, unbounded: str) -> str:
    if distance is None:
        return f"UNBOUNDED {unbounded}"
    if distance == 0:
        return "CURRENT ROW"
    return f"{-distance} PRECEDING" if distance < 0 else f"{distance} FOLLOWING"


@dataclass(frozen=True, eq=False)
class Over(Unary):
    """Gives rows with the values of functions over the rows around them after their columns.

    Args:
        partition: which rows count together.
        keys: what the order is made of.
        frame: which rows count.
        calls: the functions.
    """

    partition: tuple[Typed, ...]
    keys: tuple[SortKey, ...]
    frame: Frame
    calls: tuple[AggregateInvocation, ...]

    def describe(self) -> str:
        """Return the order and the functions."""
        partition, keys = ", ".join(map(str, self.partition)), ", ".join(map(str, self.keys))
        calls = ", ".join(map(str, self.calls))
        return (
            f"LogicalOver(partitionBy=[{partition}], orderBy=[{keys}], window=[{self.frame}], "
            f"calls=[{calls}])"
        )
