"""Tables whose rows are in groups or windows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.binder.over import over_calls, with_overs
from pyflink_on_spark._sql.binder.projections import dsl_projection
from pyflink_on_spark._sql.depth import at_any_depth
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.functions.python.aggregates import PythonTableAggregate
from pyflink_on_spark._sql.plan.nodes import FlatAggregate, Schema
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types.logical import Root
from pyflink_on_spark.table._queries.grouping import Grouping
from pyflink_on_spark.table._queries.over_windows import check_order, over_window
from pyflink_on_spark.table.expression import Expression

if TYPE_CHECKING:
    from pyflink_on_spark.table.table import Table
    from pyflink_on_spark.table.udf import UserDefinedAggregateFunctionWrapper


def written(expressions: Any) -> list[Any]:
    """Return what expressions stand for.

    Raises:
        TypeError: something is no expression.
    """
    for expression in expressions:
        if not isinstance(expression, Expression):
            raise TypeError(f"an Expression is needed, not {expression!r}: use col() or lit()")
    return [expression._written for expression in expressions]


class GroupedTable:
    """Rows in groups.

    Args:
        java_table: the rows and what the groups are made of.
        t_env: the environment.
    """

    def __init__(self, java_table, t_env):
        self._table, self._keys = java_table
        self._t_env = t_env

    @at_any_depth
    def select(self, *fields: Expression) -> Table:
        """Compute columns of the groups.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        return self._table._then(self._grouping().select(written(fields)))

    def aggregate(self, func: Expression | UserDefinedAggregateFunctionWrapper) -> AggregatedTable:
        """Compute an aggregate of several columns, which ``select`` then names."""
        return AggregatedTable((self._table, self._keys, func), self._t_env)

    def flat_aggregate(
        self, func: Expression | UserDefinedAggregateFunctionWrapper
    ) -> FlatAggregateTable:
        """Compute any number of rows of each group, of which ``select`` then chooses columns."""
        return FlatAggregateTable((self._table, self._keys, func), self._t_env)

    def _grouping(self) -> Grouping:
        return Grouping(self._table._node, self._t_env._session, self._keys)


class GroupWindowedTable:
    """Rows in windows, to be grouped.

    Args:
        java_group_windowed_table: the rows and the window.
        t_env: the environment.
    """

    def __init__(self, java_group_windowed_table, t_env):
        self._table, self._window = java_group_windowed_table
        self._t_env = t_env

    def group_by(self, *fields: Expression) -> WindowGroupedTable:
        """Group rows by the window, and by columns.

        Raises:
            ValidationError: the window is not among the fields.
        """
        keys = written(fields)
        names = [key.parts for key in keys if isinstance(key, syntax.Name)]
        if (self._window.name,) not in names:
            raise ValidationError(
                f"GroupBy must contain exactly one window alias: '{self._window.name}'"
            )
        return WindowGroupedTable((self._table, keys, self._window), self._t_env)


class WindowGroupedTable:
    """Rows in groups and windows.

    Args:
        java_window_grouped_table: the rows, what the groups are made of, and the window.
        t_env: the environment.
    """

    def __init__(self, java_window_grouped_table, t_env):
        self._table, self._keys, self._window = java_window_grouped_table
        self._t_env = t_env

    @at_any_depth
    def select(self, *fields: Expression) -> Table:
        """Compute columns of the groups.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        return self._table._then(self._grouping().select(written(fields)))

    def aggregate(self, func: Expression | UserDefinedAggregateFunctionWrapper) -> AggregatedTable:
        """Compute an aggregate of several columns, which ``select`` then names."""
        return AggregatedTable((self._table, self._keys, func, self._window), self._t_env)

    def _grouping(self) -> Grouping:
        return Grouping(self._table._node, self._t_env._session, self._keys, self._window)


class OverWindowedTable:
    """Rows with windows of rows around each.

    Args:
        java_over_windowed_table: the rows and the windows.
        t_env: the environment.
    """

    def __init__(self, java_over_windowed_table, t_env):
        self._table, self._windows = java_over_windowed_table
        self._t_env = t_env

    @at_any_depth
    def select(self, *fields: Expression) -> Table:
        """Compute columns, some of them over windows of rows.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        items = written(fields)
        session = self._t_env._session
        functions, batch = session.functions, session.settings().batch
        node, binder = self._table._node, self._table._binder()
        windows = {window._window.name: over_window(window._window) for window in self._windows}
        for window in windows.values():
            check_order(window, binder, batch=batch)
        node, columns = with_overs(node, binder, functions, list(over_calls(tuple(items))), windows)
        binder.columns |= columns
        return self._table._then(dsl_projection(node, binder, items))


class AggregatedTable:
    """Groups with an aggregate of several columns.

    Args:
        java_table: the rows, what the groups are made of, and the function.
        t_env: the environment.
    """

    def __init__(self, java_table, t_env):
        self._table, self._keys, self._function, *rest = java_table
        self._window = rest[0] if rest else None
        self._t_env = t_env

    @at_any_depth
    def select(self, *fields: Expression) -> Table:
        """Choose among the keys and the columns of the aggregate.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        expression, names = aggregate_call(self._function, self._table)
        grouping = Grouping(self._table._node, self._t_env._session, self._keys, self._window)
        binder = grouping.binder()
        result = binder.bind(expression)
        columns = [syntax.Alias(expression, ("$aggregate",))]
        if result.type.root is Root.ROW:
            found = names or result.type.names
            parts: dict[str, Any] = {
                name: syntax.Call("DOT", (expression, _text(field)))
                for name, field in zip(found, result.type.names)
            }
        else:
            parts = {(names or ("f0",))[0]: columns[0].operand}
        items = [_replaced(item, parts) for item in written(fields)]
        return self._table._then(grouping.select(items))


class FlatAggregateTable:
    """Groups of which any number of rows is computed.

    Args:
        java_table: the rows, what the groups are made of, and the function.
        t_env: the environment.
    """

    def __init__(self, java_table, t_env):
        self._parts = java_table
        self._t_env = t_env

    @at_any_depth
    def select(self, *fields: Expression) -> Table:
        """Choose among the keys and the columns of the rows.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        table, keys, function = self._parts
        session = self._t_env._session
        grouping = Grouping(table._node, session, keys)
        return table._then(flat_aggregated(grouping, table, function))._select(written(fields))


def aggregate_call(function: Any, table: Table) -> tuple[Any, tuple[str, ...]]:
    """Return the call of an aggregate function, and the names of its columns.

    Args:
        function: a call, or a function that gets whole rows.
        table: the rows.
    """
    if isinstance(function, Expression):
        found = function._written
        if isinstance(found, syntax.Alias):
            return found.operand, found.names
        return found, ()
    names = table._node.schema.names
    args = tuple(syntax.Name((name,)) for name in names)
    call = syntax.Call(function._name, args, function._over_rows(names))
    return call, function._alias_names


def flat_aggregated(grouping: Grouping, table: Table, function: Any) -> FlatAggregate:
    """Return the keys and the rows that a table aggregate function has for each group.

    Raises:
        ValidationError: it is no table aggregate function.
    """
    call, names = aggregate_call(function, table)
    found = call.function
    if not isinstance(found, PythonTableAggregate):
        raise ValidationError("flat_aggregate needs a function of udtaf")
    args = tuple(grouping.bound(arg) for arg in call.args)
    keys = grouping.key_names()
    schema = Schema(
        (*keys, *(names or found.names)),
        (*(key.type.plain() for key in grouping.keys), *found.types),
    )
    return FlatAggregate(schema, grouping.node, grouping.keys, found, args)


def _text(value: str) -> syntax.Literal:
    from pyflink_on_spark.table._expressions.literals import literal

    return literal(value)


def _replaced(item: Any, parts: dict[str, Any]) -> Any:
    if isinstance(item, syntax.Name) and len(item.parts) == 1 and item.parts[0] in parts:
        return syntax.Alias(parts[item.parts[0]], (item.parts[0],))
    if isinstance(item, syntax.Alias):
        inner = _replaced(item.operand, parts)
        operand = inner.operand if isinstance(inner, syntax.Alias) else inner
        return syntax.Alias(operand, item.names)
    if isinstance(item, syntax.Call):
        args = []
        for arg in item.args:
            found = _replaced(arg, parts)
            args.append(found.operand if isinstance(found, syntax.Alias) else found)
        return syntax.Call(item.name, tuple(args), item.function, item.symbols)
    return item
