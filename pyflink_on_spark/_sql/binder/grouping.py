"""GROUP BY, with sets and windows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import AggregatingBinder, parts
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions, invoke
from pyflink_on_spark._sql.binder.over import OverBinder
from pyflink_on_spark._sql.binder.projections import project, sql_projection
from pyflink_on_spark._sql.binder.relations import ONE_ROW
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.windows import bind_group_window, group_window, window_property
from pyflink_on_spark._sql.errors import invalid
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Expand, Filter, Node, Schema
from pyflink_on_spark._sql.syntax import queries
from pyflink_on_spark._sql.syntax.expressions import Call, Expression, OverCall, Star
from pyflink_on_spark._sql.syntax.queries import Grouping, GroupItem
from pyflink_on_spark._sql.types import logical

_NUMBER = logical.BIGINT.with_nullable(False)
_FUNCTIONS = frozenset({"GROUPING", "GROUPING_ID", "GROUP_ID"})


def sets_of(items: Sequence[GroupItem]) -> list[tuple[Expression, ...]]:
    """Return the keys of each set that GROUP BY asks for; one set if it has plain items only."""
    choices = [_sets(item) for item in items]
    return [tuple(key for part in parts for key in part) for parts in product(*choices)]


def _sets(item: GroupItem) -> list[tuple[Expression, ...]]:
    units = item.sets
    if item.kind is Grouping.ROLLUP:
        chosen: list[Sequence[tuple[Expression, ...]]] = [
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

    def value(self, node: Call, keys: Sequence[Typed]) -> Typed:
        """Return the value of a call of ``GROUPING`` or a related function.

        Args:
            node: the call.
            keys: its arguments.

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
        number = InputRef(_NUMBER, len(self.grouped_by) - 1)
        equal = builtin_functions()["="]
        parts: list[Typed] = []
        for index, each in enumerate(self.sets):
            bits = 0
            for place in places:
                bits = bits * 2 + (place not in each)
            parts += [invoke(equal, [number, Constant(_NUMBER, index)]), Constant(_NUMBER, bits)]
        return invoke(builtin_functions()["CASE"], [*parts, Constant(_NUMBER, 0)])


def is_grouping(node: Any) -> bool:
    """True for a call of ``GROUPING`` or a related function."""
    return isinstance(node, Call) and node.name.upper() in _FUNCTIONS


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
    ) -> None:
        self._batch = batch
        self._node, self._scope, self._functions = node, scope, functions
        self._with_values, self._folded = with_values, folded
        self._windows: list[tuple[Call, Typed, Typed, Typed]] = []

    def bind(self, query: queries.Select, overs: Sequence[OverCall]) -> Node:
        """Return the plan of a query.

        Args:
            query: the query.
            overs: the functions with OVER that it selects.

        Raises:
            ValidationError: something in it is wrong.
        """
        for selected in query.items:
            if isinstance(selected, Star):
                raise invalid("Expression '*' is not being grouped", selected.span)
        binder, sets = self._groups(query.group_by or ())
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
        return project(grouped, made, projection.schema.names)

    def _groups(
        self, items: Sequence[queries.GroupItem]
    ) -> tuple[AggregatingBinder, GroupingSets | None]:
        sets = [[key for item in each for key in self._keys(item)] for each in sets_of(items)]

        def property_of(node: Any) -> Typed | None:
            found: Typed | None = window_property(node, self._windows)
            if found is not None and self._batch and node.name.upper().endswith("_PROCTIME"):
                raise invalid(
                    "PROCTIME window property is not supported in batch queries.", node.span
                )
            return found

        if len(sets) == 1:
            return AggregatingBinder(self._scope, self._functions, sets[0], property_of), None
        groups = grouping_sets(self._node, sets)
        self._node = groups.node
        binder = AggregatingBinder(
            self._scope, self._functions, groups.keys, property_of, groups.grouped_by
        )
        return binder, groups

    def _keys(self, expression: Any) -> list[Typed]:
        if not isinstance(expression, Call) or group_window(expression) is None:
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

    def _numbers_of_sets(
        self, query: queries.Select, sets: GroupingSets | None
    ) -> dict[Any, Typed]:
        """Return the values of all calls of ``GROUPING`` and related functions."""
        rows = ExpressionBinder(self._scope, self._functions)
        found: dict[Any, Typed] = {}
        for call in parts((*query.items, query.having)):
            if is_grouping(call):
                keys = [rows.bind(arg) for arg in call.args]
                value = None if sets is None else sets.value(call, keys)
                zero = Constant(logical.BIGINT.with_nullable(False), 0)
                found[call] = zero if value is None else value
        return found
