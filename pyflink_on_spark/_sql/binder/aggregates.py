"""GROUP BY, HAVING and aggregate functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    check_no_null,
    check_nulls_of_call,
    convert_args,
    wrong_count,
    wrong_types,
)
from pyflink_on_spark._sql.errors import did_you_mean, invalid, unresolved_field
from pyflink_on_spark._sql.functions.catalog import function_of_call
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    Typed,
    input_refs,
)
from pyflink_on_spark._sql.plan.nodes import Aggregate, Node, Schema
from pyflink_on_spark._sql.plan.signatures import AggregateFunction, RankingFunction
from pyflink_on_spark._sql.plan.time_conditions import windows_of
from pyflink_on_spark._sql.syntax import expressions as syntax

_IN_ANY_ORDER = ("ARRAY_AGG", "JSON_ARRAYAGG")
"""Aggregates that accept ORDER BY, which Flink ignores: values are in the order of rows."""


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
