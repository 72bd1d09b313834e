"""Over windows of the DSL become those of queries."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import FrameDistance, FrameEnd
from pyflink_on_spark._sql.types.logical import Time

_ENDS = frozenset({"CURRENT_ROW", "CURRENT_RANGE", "UNBOUNDED_ROW", "UNBOUNDED_RANGE"})


def over_window(window: Any) -> syntax.OverWindow:
    """Return a window that ``Over`` has made.

    Raises:
        ValidationError: its bounds are no numbers of rows, and no times.
    """
    partition = tuple(item._written for item in window.partition)
    order = (syntax.SortItem(window.order._written),)
    if window.lower is None:
        return syntax.OverWindow(partition, order)
    lower_rows, lower = _bound(window.lower._written, FrameEnd.UNBOUNDED_PRECEDING, False)
    rows, upper = lower_rows, FrameEnd.CURRENT_ROW
    if window.upper is not None:
        rows, upper = _bound(window.upper._written, FrameEnd.UNBOUNDED_FOLLOWING, True)
    if rows is not lower_rows:
        raise ValidationError("Preceding and following must be of same interval type.")
    return syntax.OverWindow(partition, order, rows, lower, upper, framed=True)


def check_order(window: syntax.OverWindow, binder: ExpressionBinder, *, batch: bool) -> None:
    """Refuse an order that is no time attribute, which only SQL can have.

    Args:
        window: the window.
        binder: resolves the columns of a row.
        batch: whether the query runs in batch mode, in which no column is a rowtime attribute.

    Raises:
        ValidationError: the order is no time attribute.
    """
    for item in window.order_by:
        kind = binder.bind(item.expression).type
        if kind.time is None or (batch and kind.time is Time.ROWTIME):
            raise ValidationError(
                "Invalid function call: OVER. Ordering must be defined on a time attribute, but is "
                f"{kind.plain()}. Use SQL for another order."
            )


def _bound(written: Any, unbounded: FrameEnd, following: bool) -> tuple[bool, Any]:
    """Return whether a bound counts rows, and the bound."""
    if isinstance(written, syntax.Call) and written.name in _ENDS:
        end = FrameEnd.CURRENT_ROW if written.name.startswith("CURRENT") else unbounded
        return written.name.endswith("ROW"), end
    if isinstance(written, syntax.Call) and written.name == "ROW_INTERVAL":
        return True, FrameDistance(written.args[0], following)
    if isinstance(written, syntax.Literal):
        return False, FrameDistance(written, following)
    raise ValidationError("Preceding and following need a row_interval, a time or a constant.")
