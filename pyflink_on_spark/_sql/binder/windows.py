"""Groups, windows of time (table functions; TUMBLE, HOP, SESSION) and OVER windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import (
    AggregatingBinder,
    aggregate_invocation,
    is_aggregate,
    parts,
)
from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    check_no_null,
    invoke,
    unique_names,
)
from pyflink_on_spark._sql.binder.projections import project, sql_projection
from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    OuterRef,
    Typed,
    convert,
)
from pyflink_on_spark._sql.plan.nodes import (
    ONE_ROW,
    Expand,
    Filter,
    Frame,
    Node,
    Over,
    Schema,
    SortKey,
    WindowKind,
    WindowTable,
)
from pyflink_on_spark._sql.plan.signatures import RankingFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import FrameDistance, FrameEnd, OverWindow
from pyflink_on_spark._sql.syntax.queries import Grouping, GroupItem, Select
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

KINDS = {kind.value: kind for kind in WindowKind}


_PARAMETERS = {
    WindowKind.TUMBLE: ("DATA", "TIMECOL", "SIZE", "OFFSET"),
    WindowKind.HOP: ("DATA", "TIMECOL", "SLIDE", "SIZE", "OFFSET"),
    WindowKind.CUMULATE: ("DATA", "TIMECOL", "STEP", "SIZE", "OFFSET"),
    WindowKind.SESSION: ("DATA", "TIMECOL", "GAP"),
}
_STEPS = {WindowKind.HOP: "SLIDE", WindowKind.CUMULATE: "STEP"}
_UP_TO_THE_ROW = Frame(rows=True)
_NEIGHBOURS = frozenset({"LAG", "LEAD"})


def window_table(
    source: Node,
    kind: WindowKind,
    time: Typed,
    size: int,
    step: int = 0,
    offset: int = 0,
    partition: tuple[int, ...] | None = None,
    span: Span | None = None,
    *,
    batch: bool = False,
) -> WindowTable:
    """Return the rows of a node with the start, the end and the time of their windows.

    Args:
        source: the node.
        kind: of the windows.
        time: the time attribute.
        size: of the windows; of sessions the gap; microseconds.
        step: between the starts of windows, or the ends of cumulating ones; microseconds.
        offset: of all windows; microseconds.
        partition: the columns that sessions are apart by.
        span: where the time attribute is, for the message.
        batch: whether the query runs in batch mode, in which any timestamp will do.

    Raises:
        ValidationError: it is no time attribute, or the sizes do not fit.
    """
    if not isinstance(time, InputRef) or not _is_time(time.type, batch):
        raise invalid(
            f"The window function requires the timecol is a time attribute type, but is {time.type}"
            ".",
            span,
        )
    if kind is WindowKind.CUMULATE and size % step:
        raise invalid(
            "CUMULATE table function requires maxSize must be an integral multiple of step, "
            f"but got maxSize {size // 1000} ms and step {step // 1000} ms",
            span,
        )
    moment = logical.timestamp(3).with_nullable(False)
    attribute = replace(time.type, nullable=False, precision=3)
    names = (*source.schema.names, "window_start", "window_end", "window_time")
    types = (*source.schema.types, moment, moment, attribute)
    return WindowTable(
        Schema(names, types), source, kind, time.index, size, step, offset, partition
    )


def _is_time(kind: LogicalType, batch: bool) -> bool:
    return kind.time is not None or (batch and kind.root in {Root.TIMESTAMP, Root.TIMESTAMP_LTZ})


def bind_window_function(
    call: syntax.Call, bind_query: Callable[[Any], Node], *, batch: bool
) -> Node:
    """Return the rows of ``TABLE(TUMBLE(TABLE t, DESCRIPTOR(c), INTERVAL ...))``.

    Args:
        call: the call.
        bind_query: makes a node of a query.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: an argument is missing or wrong.
    """
    kind = KINDS[call.name.upper()]
    given = _by_name(call, _PARAMETERS[kind])
    data = given["DATA"]
    if isinstance(data, syntax.Subquery) and data.quantifier is syntax.Quantifier.SCALAR:
        data = syntax.TableArgument(data.query, span=data.span)
    if not isinstance(data, syntax.TableArgument):
        raise invalid(f"{call.name} needs a table: TABLE t", data.span)
    source = bind_query(data.query)
    scope = Scope.of(source.schema)
    time = given["TIMECOL"]
    if not isinstance(time, syntax.Descriptor) or len(time.names) != 1:
        raise invalid(f"{call.name} needs a column: DESCRIPTOR(c)", time.span)
    column = scope.resolve(time.names[0])
    partition = tuple(_column(scope, item) for item in data.partition_by)
    size = interval_of(given["GAP" if kind is WindowKind.SESSION else "SIZE"])
    step = interval_of(given[word]) if (word := _STEPS.get(kind)) else 0
    offset = interval_of(given["OFFSET"]) if "OFFSET" in given else 0
    return window_table(source, kind, column, size, step, offset, partition, time.span, batch=batch)


def _by_name(call: syntax.Call, parameters: Sequence[str]) -> dict[str, syntax.Expression]:
    given: dict[str, syntax.Expression] = {}
    for parameter, arg in zip(parameters, call.args):
        if isinstance(arg, syntax.NamedArgument):
            given[arg.name.upper()] = arg.value
        else:
            given[parameter] = arg
    required = [name for name in parameters if name != "OFFSET"]
    missing = [name for name in required if name not in given]
    if missing or len(call.args) > len(parameters) or given.keys() - set(parameters):
        raise invalid(
            f"No match found for function signature {call.name}(...): the arguments are "
            f"{', '.join(parameters)}",
            call.span,
        )
    return given


def _column(scope: Scope, item: syntax.Expression) -> int:
    if not isinstance(item, syntax.Name):
        raise invalid("PARTITION BY needs columns", item.span)
    column = scope.resolve(item)
    if not isinstance(column, InputRef):
        raise invalid("PARTITION BY needs columns", item.span)
    return column.index


def interval_of(node: syntax.Expression) -> int:
    """Return the microseconds of an interval that is a constant.

    Raises:
        ValidationError: the window is not valid.
    """
    if isinstance(node, syntax.Literal) and node.type.root is Root.INTERVAL_SECOND:
        return int(node.value)
    raise invalid("A window's size has to be an interval of days or less, as a constant", node.span)


# -- groups by windows ---------------------------------------------------------------------------


def group_window(node: object) -> WindowKind | None:
    """Return the kind of window that an item of GROUP BY asks for."""
    if isinstance(node, syntax.Call) and len(node.args) > 1:
        return KINDS.get(node.name.upper())
    return None


def bind_group_window(source: Node, node: syntax.Call, scope: Scope, *, batch: bool) -> WindowTable:
    """Return the rows of a node in the windows that an item of GROUP BY asks for.

    Args:
        source: the node.
        node: the item.
        scope: the columns.
        batch: whether the query runs in batch mode.

    Raises:
        ValidationError: an argument is wrong.
    """
    kind = KINDS[node.name.upper()]
    if not isinstance(node.args[0], syntax.Name):
        raise invalid(
            "Window aggregate can only be defined over a time attribute column", node.span
        )
    time = scope.resolve(node.args[0])
    if not isinstance(time, InputRef) or not _is_time(time.type, batch):
        raise invalid(
            "Window aggregate can only be defined over a time attribute column, but "
            f"{time.type} encountered.",
            node.args[0].span,
        )
    sizes = [interval_of(arg) for arg in node.args[1:]]
    if kind is WindowKind.HOP:
        return window_table(source, kind, time, sizes[1], sizes[0], span=node.span, batch=batch)
    return window_table(source, kind, time, sizes[0], span=node.span, batch=batch)


def window_property(
    node: object, windows: Sequence[tuple[syntax.Call, Typed, Typed, Typed]]
) -> Any:
    """Return the column that ``TUMBLE_START(...)`` and the like stand for, or None.

    Args:
        node: an expression.
        windows: the items of GROUP BY, each with its columns of start, end and time.
    """
    if not isinstance(node, syntax.Call):
        return None
    kind, _, word = node.name.upper().partition("_")
    if kind not in KINDS or word not in {"START", "END", "ROWTIME", "PROCTIME"}:
        return None
    for call, start, end, time in windows:
        if call.name.upper() == kind and call.args == node.args:
            return {"START": start, "END": end}.get(word, time)
    raise invalid(
        f"Call to auxiliary group function '{node.name.upper()}' must have matching call to group "
        f"function '${kind}' in GROUP BY clause",
        node.span,
    )


class OverBinder:
    """Resolves functions over windows of rows, and adds what computes them to a node.

    Args:
        binder: resolves the columns of a row.
        functions: the functions that there are.
        windows: those of the query, by name.
        apart: what else rows of one window are equal in.
    """

    def __init__(
        self,
        binder: ExpressionBinder,
        functions: Functions,
        windows: Mapping[str, OverWindow],
        apart: Sequence[Typed] = (),
    ) -> None:
        self._binder, self._functions, self._windows = binder, functions, windows
        self._apart = tuple(apart)
        self._groups: dict[Any, list[AggregateInvocation]] = {}
        self._places: dict[syntax.OverCall, tuple[object, int]] = {}

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

    def _window(self, window: OverWindow, call: AggregateInvocation) -> object:
        check_no_null(window.partition_by)
        written = [self._binder.bind(item) for item in window.partition_by]
        partition = (*written, *(key for key in self._apart if key not in written))
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
    check_no_null([item.expression])
    first = item.ascending if item.nulls_first is None else item.nulls_first
    return SortKey(binder.bind(item.expression), item.ascending, first)


def with_overs(
    node: Node,
    binder: ExpressionBinder,
    functions: Functions,
    calls: Sequence[syntax.OverCall],
    windows: Mapping[str, OverWindow],
    apart: Sequence[Typed] = (),
) -> tuple[Node, dict[syntax.Expression, Typed]]:
    """Return a node with a column for each of some functions, and these columns.

    Args:
        node: the node.
        binder: resolves its columns.
        functions: the functions that there are.
        calls: the functions.
        windows: those of the query, by name.
        apart: what else rows of one window are equal in.

    Raises:
        ValidationError: something in a function is wrong.
    """
    overs = OverBinder(binder, functions, windows, apart)
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


# -- GROUP BY ------------------------------------------------------------------------------------

_NUMBER = logical.BIGINT.with_nullable(False)
_FUNCTIONS = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})


def sets_of(items: Sequence[GroupItem]) -> list[tuple[syntax.Expression, ...]]:
    """Return the keys of each set that GROUP BY asks for; one set if it has plain items only."""
    choices = [_sets(item) for item in items]
    return [tuple(key for part in parts for key in part) for parts in product(*choices)]


def _sets(item: GroupItem) -> list[tuple[syntax.Expression, ...]]:
    units = item.sets
    if item.kind is Grouping.ROLLUP:
        chosen: list[Sequence[tuple[syntax.Expression, ...]]] = [
            units[:count] for count in range(len(units), -1, -1)
        ]
    elif item.kind is Grouping.CUBE:
        chosen = [each for n in range(len(units), -1, -1) for each in combinations(units, n)]
    else:
        return list(units)
    return [tuple(key for unit in each for key in unit) for each in chosen]


@dataclass(frozen=True)
class GroupingSets:
    """Groups by several sets of keys.

    Args:
        node: the rows, once for each set.
        keys: all keys, over the columns of the rows.
        grouped_by: what groups are made of: the keys where a set has them, and the set's number.
        sets: the positions of the keys of each set.
    """

    node: Node
    keys: tuple[Typed, ...]
    grouped_by: tuple[Typed, ...]
    sets: tuple[frozenset[int], ...]

    def value(self, node: syntax.Call, keys: Sequence[Typed], before: int) -> Typed:
        """Return the value of a call of ``GROUPING`` or a related function.

        Args:
            node: the call.
            keys: its arguments.
            before: how many other keys the groups have.

        Raises:
            ValidationError: an argument is no key.
        """
        places = []
        for key in keys:
            if key not in self.keys:
                raise invalid(
                    f"Argument to operator '{node.name}' must be a grouped expression", node.span
                )
            places.append(self.keys.index(key))
        number = InputRef(_NUMBER, before + len(self.grouped_by) - 1)
        equal = builtin_functions()["="]
        parts: list[Typed] = []
        for index, each in enumerate(self.sets):
            bits = 0
            for place in places:
                bits = bits * 2 + (place not in each)
            parts += [invoke(equal, [number, Constant(_NUMBER, index)]), Constant(_NUMBER, bits)]
        return invoke(builtin_functions()["CASE"], [*parts, Constant(_NUMBER, 0)])


def is_grouping(node: object) -> bool:
    """True for a call of ``GROUPING`` or a related function."""
    return isinstance(node, syntax.Call) and node.name.upper() in _FUNCTIONS


def grouping_sets(node: Node, sets: Sequence[Sequence[Typed]]) -> GroupingSets:
    """Return the node that groups rows by several sets of keys.

    Args:
        node: the rows.
        sets: the keys of each set.
    """
    keys: list[Typed] = []
    for each in sets:
        keys += [key for key in each if key not in keys]
    positions = tuple(frozenset(keys.index(key) for key in each) for each in sets)
    width = len(node.schema)
    types = [key.type.plain().with_nullable(True) for key in keys]
    names = (*(f"$k{index}" for index in range(len(keys))), "$e")
    schema = Schema((*node.schema.names, *names), (*node.schema.types, *types, _NUMBER))
    grouped_by = [
        key if all(index in each for each in positions) else InputRef(kind, width + index)
        for index, (key, kind) in enumerate(zip(keys, types))
    ]
    number = InputRef(_NUMBER, width + len(keys))
    return GroupingSets(
        Expand(schema, node, tuple(keys), positions),
        tuple(keys),
        (*grouped_by, number),
        positions,
    )


WithValues = Callable[[Node, ExpressionBinder, Any], Node]
"""Adds the values of the queries in expressions to a node."""


class GroupBinder:
    """Gives the groups of one query their meaning.

    Args:
        node: the rows.
        scope: their columns.
        functions: the functions that there are.
        with_values: adds the values of queries that stand for one.
        folded: works out constants.
        batch: whether the query runs in batch mode.
        apart: what else rows of one group are equal in; the query does not know it, and it comes
            after what it selects.
    """

    def __init__(
        self,
        node: Node,
        scope: Scope,
        functions: Functions,
        with_values: WithValues,
        folded: Callable[[Typed], Typed],
        *,
        batch: bool,
        apart: Sequence[Typed] = (),
    ) -> None:
        self._batch, self._apart = batch, tuple(apart)
        self._node, self._scope, self._functions = node, scope, functions
        self._with_values, self._folded = with_values, folded
        self._windows: list[tuple[syntax.Call, Typed, Typed, Typed]] = []

    def bind(self, query: Select, overs: Sequence[syntax.OverCall]) -> Node:
        """Return the plan of a query.

        Args:
            query: the query.
            overs: the functions with OVER that it selects.

        Raises:
            ValidationError: something in it is wrong.
        """
        for selected in query.items:
            if isinstance(selected, syntax.Star):
                raise invalid("Expression '*' is not being grouped", selected.span)
        check_no_null(query.items)
        rows = ExpressionBinder(self._scope, self._functions)
        called = [part for part in parts((query.items, query.having)) if self._is_call(part)]
        self._node = self._with_values(self._node, rows, tuple(called))
        binder, sets = self._groups(query.group_by or ())
        binder.add_values(rows.columns)
        binder.columns |= self._numbers_of_sets(query, sets)
        known = dict(binder.columns)
        windowed = OverBinder(binder, self._functions, dict(query.windows))
        for call in overs:
            windowed.add(call)
        # What has values of queries and of functions with OVER follows the aggregates, all of
        # them, which are known when everything has been resolved.
        used = (*query.items, query.having)
        self._with_values(ONE_ROW, binder, used)
        binder.columns |= windowed.node(ONE_ROW)[1]
        sql_projection(self._node, binder, query.items)
        if query.having is not None:
            binder.condition(query.having, "HAVING")
        binder.columns = known
        grouped = self._with_values(binder.node(self._node), binder, used)
        if query.having is not None:
            condition = self._folded(binder.condition(query.having, "HAVING"))
            grouped = Filter(grouped.schema, grouped, condition)
        grouped, columns = windowed.node(grouped)
        binder.columns |= columns
        projection = sql_projection(grouped, binder, query.items)
        made = tuple(map(self._folded, projection.expressions))
        apart = [InputRef(kind, at) for at, kind in enumerate(grouped.schema.types[: self._before])]
        names = (*projection.schema.names, *(f"$k{at}" for at in range(self._before)))
        return project(grouped, [*made, *apart], unique_names(names))

    def _is_call(self, part: Any) -> bool:
        return is_aggregate(part, self._functions)

    @property
    def _before(self) -> int:
        return len(self._apart)

    def _groups(self, items: Sequence[GroupItem]) -> tuple[AggregatingBinder, GroupingSets | None]:
        written = sets_of(items)
        for keys in written:
            check_no_null(keys)
        sets = [[key for item in each for key in self._keys(item)] for each in written]

        def property_of(node: Any) -> Typed | None:
            found: Typed | None = window_property(node, self._windows)
            if found is not None and self._batch and node.name.upper().endswith("_PROCTIME"):
                raise invalid("PROCTIME window property is not supported in batch ", node.span)
            return found

        # Nothing that the query selects is equal to these keys.
        hidden = [OuterRef(key.type, -1) for key in self._apart]
        if len(sets) == 1:
            (own,) = sets
            grouped_by = [*self._apart, *own]
            known = [*hidden, *own]
            binder = AggregatingBinder(self._scope, self._functions, known, property_of, grouped_by)
            return binder, None
        groups = grouping_sets(self._node, sets)
        self._node = groups.node
        binder = AggregatingBinder(
            self._scope,
            self._functions,
            (*hidden, *groups.keys),
            property_of,
            (*self._apart, *groups.grouped_by),
        )
        return binder, groups

    def _keys(self, expression: Any) -> list[Typed]:
        if not isinstance(expression, syntax.Call) or group_window(expression) is None:
            return [ExpressionBinder(self._scope, self._functions).bind(expression)]
        for call, *columns in self._windows:
            if call == expression:
                return columns
        self._node = bind_group_window(self._node, expression, self._scope, batch=self._batch)
        types = self._node.schema.types
        start, end, time = (
            InputRef(types[index], index) for index in range(len(types) - 3, len(types))
        )
        self._windows.append((expression, start, end, time))
        return [start, end, time]

    def _numbers_of_sets(self, query: Select, sets: GroupingSets | None) -> dict[Any, Typed]:
        """Return the values of all calls of ``GROUPING`` and related functions."""
        rows = ExpressionBinder(self._scope, self._functions)
        found: dict[Any, Typed] = {}
        for call in parts((*query.items, query.having)):
            if is_grouping(call):
                keys = [rows.bind(arg) for arg in call.args]
                value = None if sets is None else sets.value(call, keys, self._before)
                zero = Constant(logical.BIGINT.with_nullable(False), 0)
                found[call] = zero if value is None else value
        return found
