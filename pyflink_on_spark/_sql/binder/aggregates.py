"""SELECT lists; aggregate functions, of groups and with OVER; GROUP BY and HAVING."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    check_no_null,
    check_nulls_of_call,
    convert_args,
    field_of,
    invoke,
    unique_names,
    wrong_count,
    wrong_types,
)
from pyflink_on_spark._sql.binder.windows import bind_group_window, group_window, window_property
from pyflink_on_spark._sql.errors import ValidationError, did_you_mean, invalid, unresolved_field
from pyflink_on_spark._sql.functions.catalog import builtin_functions, function_of_call
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    OuterRef,
    Typed,
    convert,
    input_refs,
)
from pyflink_on_spark._sql.plan.nodes import (
    ONE_ROW,
    Aggregate,
    Expand,
    Filter,
    Frame,
    Node,
    Over,
    Project,
    Schema,
    SortKey,
    project,
    windows_of,
)
from pyflink_on_spark._sql.plan.signatures import AggregateFunction, RankingFunction
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import FrameDistance, FrameEnd, OverWindow
from pyflink_on_spark._sql.syntax.queries import Grouping, GroupItem, Select
from pyflink_on_spark._sql.types import logical

_IN_ANY_ORDER = ("ARRAY_AGG", "JSON_ARRAYAGG")
"""Aggregates that accept ORDER BY, which Flink ignores: values are in the order of rows."""
_UP_TO_THE_ROW = Frame(rows=True)
_NEIGHBOURS = frozenset({"LAG", "LEAD"})
_NUMBER = logical.BIGINT.with_nullable(False)
_OF_GROUPING_SETS = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})


def sql_projection(
    node: Node, binder: ExpressionBinder, items: Sequence[syntax.Expression]
) -> Project:
    """Return the projection of a SELECT; unnamed columns are called ``EXPR$0`` and so on."""
    check_no_null(items)
    names, columns = _selected(binder, items, _name, "EXPR$")
    return project(node, columns, unique_names(names))


def dsl_projection(
    node: Node, binder: ExpressionBinder, items: Sequence[syntax.Expression]
) -> Project:
    """Return the projection of ``select``; columns without a name are called ``_c0`` and so on.

    Raises:
        ValidationError: two columns have one name, or something in an expression is wrong.
    """
    names, columns = _selected(binder, items, dsl_name, "_c")
    for index, name in enumerate(names):
        if name in names[:index]:
            raise invalid(f"Ambiguous column name: {name}", None)
    return project(node, columns, tuple(names))


def _selected(
    binder: ExpressionBinder,
    items: Sequence[syntax.Expression],
    name_of: Callable[[syntax.Expression], str | None],
    unnamed: str,
) -> tuple[list[str], list[Typed]]:
    """Return the names and the values of columns; those without a name are numbered."""
    names: list[str] = []
    columns: list[Typed] = []
    for item in items:
        if isinstance(item, syntax.Star):
            for name, column in _starred(binder, item):
                names.append(name)
                columns.append(column)
            continue
        columns.append(binder.bind(item))
        names.append(name_of(item) or f"{unnamed}{len(names)}")
    return names, columns


def dsl_name(item: syntax.Expression) -> str | None:
    """Return the name that an expression of the Table API gives its column, or None.

    One that is written in SQL gives none.
    """
    if item.span is not None:
        return None
    if isinstance(item, syntax.Cast) and not item.lenient:
        named = _plain_name(item.operand)
        return None if named is None else f"{named}-{item.type}"
    return _plain_name(item)


def _plain_name(item: syntax.Expression) -> str | None:
    if isinstance(item, syntax.Call) and item.name == "DOT":
        row, field = _plain_name(item.args[0]), item.args[1]
        assert isinstance(field, syntax.Literal)
        key = f"_{field.value}" if isinstance(field.value, int) else field.value
        return None if row is None else f"{row}${key}"
    return _name(item)


def _starred(binder: ExpressionBinder, star: syntax.Star) -> Sequence[tuple[str, Typed]]:
    if not star.qualifier or binder.scope.has_table(star.qualifier):
        return list(binder.scope.columns(star.qualifier))
    try:
        row = binder.scope.resolve(syntax.Name(star.qualifier, span=star.span))
    except ValidationError:
        name = ".".join(star.qualifier)
        raise invalid(f"Unknown identifier '{name}'", star.span) from None
    if row.type.root not in logical.ROWS:
        text = "Not a record type. The '*' operator requires a record"
        raise invalid(text, star.span)
    return [(name, field_of(row, name)) for name in row.type.names]


def _name(item: syntax.Expression) -> str | None:
    if isinstance(item, syntax.Alias):
        return item.names[0]
    if isinstance(item, syntax.Name):
        return item.parts[-1]
    return None


def contains_aggregate(node: object, functions: Functions) -> bool:
    """True if an expression calls an aggregate function without OVER."""
    return any(is_aggregate(part, functions) for part in parts(node))


def is_aggregate(node: object, functions: Functions) -> bool:
    """True for a call of an aggregate function."""
    if isinstance(node, syntax.AggregateCall):
        return True
    if not isinstance(node, syntax.Call):
        return False
    return isinstance(function_of_call(node, functions.find), AggregateFunction)


def parts(node: object) -> Iterator[Any]:
    """Yield an expression and its parts, without queries and windows of rows."""
    return syntax.parts_of(node, closed=(syntax.OverCall,))


class AggregatingBinder(ExpressionBinder):
    """Resolves the expressions over groups of rows; columns have to be keys of the groups.

    Args:
        scope: the columns of the rows.
        functions: the functions that there are.
        keys: what the groups are made of.
        properties: what functions of a group stand for, as ``TUMBLE_START``.
        grouped_by: the values of the keys, if they are others than those of the rows.
    """

    def __init__(
        self,
        scope: Scope,
        functions: Functions,
        keys: Sequence[Typed],
        properties: Callable[[syntax.Expression], Typed | None] | None = None,
        grouped_by: Sequence[Typed] | None = None,
    ) -> None:
        super().__init__(scope, functions)
        self.keys = tuple(keys)
        self._grouped_by = self.keys if grouped_by is None else tuple(grouped_by)
        self.calls: list[AggregateInvocation] = []
        self._rows = ExpressionBinder(scope, functions)
        self._properties = properties

    def add_values(self, columns: Mapping[syntax.Expression, Typed]) -> None:
        """Take columns of the rows that stand for queries in the arguments of aggregates."""
        self._rows.columns.update(columns)
        self.columns.update(columns)

    def bind(self, node: syntax.Expression) -> Typed:
        """Return an expression over the columns of the aggregate.

        Raises:
            ValidationError: something in it is wrong.
        """
        if isinstance(node, syntax.Alias):
            return self.bind(node.operand)
        if node in self.columns:
            return self.columns[node]
        if is_aggregate(node, self._functions):
            return self._aggregate(node)
        special = None if self._properties is None else self._properties(node)
        if special is not None:
            return self._key(special, node)
        if (
            contains_aggregate(node, self._functions)
            or self._has_property(node)
            or any(part in self.columns for part in parts(node))
        ):
            return super().bind(node)
        bound = self._rows.bind(node)
        if bound in self.keys or not input_refs(bound):
            return self._key(bound, node)
        if isinstance(node, syntax.Name):
            raise self._not_grouped(node, bound)
        return super().bind(node)

    def _has_property(self, node: syntax.Expression) -> bool:
        if self._properties is None:
            return False
        return any(self._properties(part) is not None for part in parts(node))

    def _key(self, bound: Typed, node: syntax.Expression) -> Typed:
        if isinstance(bound, Constant):
            return bound
        if bound in self.keys:
            index = self.keys.index(bound)
            return InputRef(self._grouped_by[index].type, index)
        if not input_refs(bound):
            return bound
        raise self._not_grouped(node, bound)

    def _not_grouped(self, node: syntax.Expression, bound: Typed) -> Exception:
        if node.span is None:
            name = node.parts[-1] if isinstance(node, syntax.Name) else str(bound)
            keys = [each for each, column in self.scope.columns() if column in self.keys]
            return unresolved_field(name, keys)
        return invalid(f"Expression '{node.span}' is not being grouped", node.span)

    def _aggregate(self, node: Any) -> Typed:
        call = aggregate_invocation(node, self._rows, self._functions)
        if isinstance(call.function, RankingFunction):
            raise invalid("OVER clause is necessary for window functions", node.span)
        if call not in self.calls:
            self.calls.append(call)
        return InputRef(call.type, len(self._grouped_by) + self.calls.index(call))

    def node(self, source: Node) -> Aggregate:
        """Return the aggregate of all calls so far."""
        names = [f"$k{index}" for index in range(len(self._grouped_by))]
        for index, key in enumerate(self._grouped_by):
            if isinstance(key, InputRef):
                names[index] = source.schema.names[key.index]
        taken = [*names, *(f"EXPR${index}" for index in range(len(self.calls)))]
        windows = windows_of(source)
        keys = self._grouped_by
        windowed = any(isinstance(key, InputRef) and key.index in windows for key in keys)
        kept = (key.type if windowed else key.type.plain() for key in keys)
        types = (*kept, *(call.type for call in self.calls))
        schema = Schema(_different(taken), types)
        return Aggregate(schema, source, keys, tuple(self.calls))


def aggregate_invocation(
    node: Any, binder: ExpressionBinder, functions: Functions
) -> AggregateInvocation:
    """Return a resolved call of an aggregate function.

    Args:
        node: what was written.
        binder: resolves the arguments.
        functions: the functions that there are.

    Raises:
        ValidationError: the function does not take such arguments.
    """
    call = node.call if isinstance(node, syntax.AggregateCall) else node
    details = node if isinstance(node, syntax.AggregateCall) else syntax.AggregateCall(node)
    function = function_of_call(call, functions.find)
    if function is None:
        hint = did_you_mean(call.name, functions.names())
        raise invalid(f"No match found for function signature {call.name}(...){hint}", node.span)
    if not isinstance(function, AggregateFunction):
        raise invalid(f"'{call.name}' is no aggregate function", node.span)
    if details.order_by and not function.name.startswith(_IN_ANY_ORDER):
        raise invalid(
            f"Aggregate expression '{call.name}' must not contain a WITHIN GROUP clause", node.span
        )
    for item in details.order_by:
        binder.bind(item.expression)
    check_nulls_of_call(call, function)
    args = [binder.bind(arg) for arg in call.args]
    condition = None
    if details.filter is not None:
        check_no_null([details.filter])
        condition = binder.condition(details.filter, "FILTER")
    fitting = [overload for overload in function.overloads if overload.takes(len(args))]
    if not fitting:
        raise invalid(wrong_count(function), node.span)
    for overload in fitting:
        converted = convert_args(overload, args)
        if converted is not None:
            result = overload.result([arg.type for arg in converted])
            return AggregateInvocation(
                result.plain(), function, overload, converted, details.distinct, condition
            )
    raise invalid(wrong_types(function, args), node.span)


def _different(names: Sequence[str]) -> tuple[str, ...]:
    found: list[str] = []
    for name in names:
        candidate, number = name, 0
        while candidate in found:
            candidate, number = f"{name}_{number}", number + 1
        found.append(candidate)
    return tuple(found)


# -- functions with OVER --------------------------------------------------------------------------


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


# -- GROUP BY --------------------------------------------------------------------------------------


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
    return isinstance(node, syntax.Call) and node.name.upper() in _OF_GROUPING_SETS


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

        def property_of(node: object) -> Typed | None:
            if not isinstance(node, syntax.Call):
                return None
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
        found: dict[object, Typed] = {}
        for call in parts((*query.items, query.having)):
            if is_grouping(call):
                keys = [rows.bind(arg) for arg in call.args]
                value = None if sets is None else sets.value(call, keys, self._before)
                zero = Constant(logical.BIGINT.with_nullable(False), 0)
                found[call] = zero if value is None else value
        return found
