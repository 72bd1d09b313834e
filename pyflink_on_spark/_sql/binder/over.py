"""Functions with OVER."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import aggregate_invocation
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions, convert
from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Frame, Node, Over, Schema, SortKey
from pyflink_on_spark._sql.plan.signatures import RankingFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import FrameDistance, FrameEnd, OverWindow

_UP_TO_THE_ROW = Frame(rows=True)
_NEIGHBOURS = frozenset({"LAG", "LEAD"})


def over_calls(node: Any) -> Iterator[syntax.OverCall]:
    """Yield the functions over windows of rows that expressions use."""
    if isinstance(node, syntax.OverCall):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from over_calls(item)
    elif isinstance(node, syntax.Expression) and not isinstance(node, syntax.Subquery):
        for each in fields(node):
            yield from over_calls(getattr(node, each.name))


class OverBinder:
    """Resolves functions over windows of rows, and adds what computes them to a node.

    Args:
        binder: resolves the columns of a row.
        functions: the functions that there are.
        windows: those of the query, by name.
    """

    def __init__(
        self, binder: ExpressionBinder, functions: Functions, windows: Mapping[str, OverWindow]
    ) -> None:
        self._binder, self._functions, self._windows = binder, functions, windows
        self._groups: dict[Any, list[AggregateInvocation]] = {}
        self._places: dict[syntax.OverCall, tuple[Any, int]] = {}

    def add(self, call: syntax.OverCall) -> None:
        """Resolve a function.

        Raises:
            ValidationError: something in it is wrong.
        """
        if call in self._places:
            return
        window = call.window
        if isinstance(window, str):
            found = self._windows.get(window)
            if found is None:
                raise invalid(f"Window '{window}' not found", call.span)
            window = found
        if call.call.filter is not None:
            raise invalid("OVER must be applied to aggregate function", call.span)
        invocation = aggregate_invocation(call.call, self._binder, self._functions)
        group = self._window(window, invocation)
        calls = self._groups.setdefault(group, [])
        if invocation not in calls:
            calls.append(_one_type(invocation))
        self._places[call] = (group, calls.index(_one_type(invocation)))

    def _window(self, window: OverWindow, call: AggregateInvocation) -> Any:
        partition = tuple(self._binder.bind(item) for item in window.partition_by)
        keys = tuple(sort_key(self._binder, item) for item in window.order_by)
        if isinstance(call.function, RankingFunction):
            neighbour = call.function.name in _NEIGHBOURS
            return partition, keys, Frame() if neighbour else _UP_TO_THE_ROW
        if not window.framed:
            return partition, keys, Frame(upper=0 if keys else None)
        lower, upper = _distance(window.lower), _distance(window.upper)
        return partition, keys, Frame(window.rows, lower, upper)

    def node(self, source: Node) -> tuple[Node, dict[syntax.Expression, Typed]]:
        """Return a node with a column for each function after those of another one."""
        node, starts = source, {}
        for group, calls in self._groups.items():
            partition, keys, frame = group
            starts[group] = len(node.schema)
            names = tuple(f"w{len(starts) - 1}$o{index}" for index in range(len(calls)))
            types = tuple(call.type for call in calls)
            schema = Schema((*node.schema.names, *names), (*node.schema.types, *types))
            node = Over(schema, node, partition, keys, frame, tuple(calls))
        columns: dict[syntax.Expression, Typed] = {
            call: InputRef(self._groups[group][index].type, starts[group] + index)
            for call, (group, index) in self._places.items()
        }
        return node, columns


def sort_key(binder: ExpressionBinder, item: syntax.SortItem) -> SortKey:
    """Return an item of ORDER BY with its names resolved."""
    first = item.ascending if item.nulls_first is None else item.nulls_first
    return SortKey(binder.bind(item.expression), item.ascending, first)


def with_overs(
    node: Node,
    binder: ExpressionBinder,
    functions: Functions,
    calls: Sequence[syntax.OverCall],
    windows: Mapping[str, OverWindow],
) -> tuple[Node, dict[syntax.Expression, Typed]]:
    """Return a node with a column for each of some functions, and these columns.

    Args:
        node: the node.
        binder: resolves its columns.
        functions: the functions that there are.
        calls: the functions.
        windows: those of the query, by name.

    Raises:
        ValidationError: something in a function is wrong.
    """
    overs = OverBinder(binder, functions, windows)
    for call in calls:
        overs.add(call)
    return overs.node(node)


def _one_type(call: AggregateInvocation) -> AggregateInvocation:
    """Return LAG and LEAD with values and the default of one type."""
    if call.function.name not in _NEIGHBOURS or len(call.args) < 3:
        return call
    value, distance, default = call.args
    return replace(call, args=(convert(value, call.type), distance, convert(default, call.type)))


def _distance(bound: FrameDistance | FrameEnd | None) -> int | None:
    if bound is FrameEnd.CURRENT_ROW:
        return 0
    if bound is None or isinstance(bound, FrameEnd):
        return None
    distance = bound.distance
    if isinstance(distance, syntax.Literal) and isinstance(distance.value, int):
        return distance.value * (1 if bound.following else -1)
    raise invalid("A bound of OVER has to be a constant number", bound.span)
