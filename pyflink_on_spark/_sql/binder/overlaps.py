"""OVERLAPS: periods of time that have a moment in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.binder.overloads import calcite_name, invoke
from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.plan.expressions import Typed
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root


def bind_overlaps(
    node: syntax.Call, bind: Callable[[syntax.Expression], Typed], find: Callable[[str], Any]
) -> Typed:
    """Return whether two periods overlap. A period is a moment and an end or a length.

    Args:
        node: its arguments are the start and the end of both periods.
        bind: binds an argument.
        find: finds a function.

    Raises:
        ValidationError: the arguments are no periods.
    """
    start, end, begin, stop = map(bind, node.args)
    root = start.type.root
    ends = {root, Root.NULL, *logical.INTERVALS}
    fits = begin.type.root is root and {end.type.root, stop.type.root} <= ends
    if root not in logical.DATETIMES or not fits:
        raise invalid(
            f"Cannot apply 'OVERLAPS' to arguments of type '<{_period(start, end)}> OVERLAPS "
            f"<{_period(begin, stop)}>'. Supported form(s): '<DATETIME> OVERLAPS <DATETIME>'",
            node.span,
        )

    def end_of(moment: Typed, other: Typed) -> Typed:
        if other.type.root not in logical.INTERVALS:
            return other
        return invoke(find("+"), [moment, other], span=node.span)

    args = [start, end_of(start, end), begin, end_of(begin, stop)]
    return invoke(find("TEMPORAL_OVERLAPS"), args, span=node.span)


def _period(start: Typed, end: Typed) -> str:
    one, two = calcite_name(start.type), calcite_name(end.type)
    return f"RECORDTYPE:PEEK_NO_EXPAND({one} EXPR$0, {two} EXPR$1)"
