"""Tables of groups: by keys, by windows, with OVER."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.binder.aggregates import (
    AggregatingBinder,
    dsl_projection,
    is_aggregate,
    parts,
    with_overs,
)
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Scope
from pyflink_on_spark._sql.binder.windows import interval_of, window_table
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import UnsupportedOperationError, ValidationError, at_any_depth
from pyflink_on_spark._sql.functions.python.aggregates import PythonTableAggregate
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import (
    FlatAggregate,
    Node,
    RowWindow,
    Schema,
    WindowKind,
    project,
)
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import FrameDistance, FrameEnd
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root, Time
from pyflink_on_spark.table._inner import node_of, session_of, syntax_of
from pyflink_on_spark.table.expression import Expression
from pyflink_on_spark.table.expression.texts import expression_text
from pyflink_on_spark.table.table.columns import call_over
from pyflink_on_spark.table.text_expressions import parse_expressions

if TYPE_CHECKING:
    from pyflink_on_spark.table.table.table import Table
    from pyflink_on_spark.table.udf import UserDefinedAggregateFunctionWrapper


_ENDS = frozenset({"CURRENT_ROW", "CURRENT_RANGE", "UNBOUNDED_ROW", "UNBOUNDED_RANGE"})


def over_window(window: Any) -> syntax.OverWindow:
    """Return a window that ``Over`` has made.

    Raises:
        ValidationError: its bounds are no numbers of rows, and no times.
    """
    partition = tuple(syntax_of(item) for item in window.partition)
    order = (syntax.SortItem(syntax_of(window.order)),)
    if window.lower is None:
        return syntax.OverWindow(partition, order)
    lower_rows, lower = _bound(syntax_of(window.lower), FrameEnd.UNBOUNDED_PRECEDING, False)
    rows, upper = lower_rows, FrameEnd.CURRENT_ROW
    if window.upper is not None:
        rows, upper = _bound(syntax_of(window.upper), FrameEnd.UNBOUNDED_FOLLOWING, True)
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


def _bound(written: object, unbounded: FrameEnd, following: bool) -> tuple[bool, Any]:
    """Return whether a bound counts rows, and the bound."""
    if isinstance(written, syntax.Call) and written.name in _ENDS:
        end = FrameEnd.CURRENT_ROW if written.name.startswith("CURRENT") else unbounded
        return written.name.endswith("ROW"), end
    if isinstance(written, syntax.Call) and written.name == "ROW_INTERVAL":
        return True, FrameDistance(written.args[0], following)
    if isinstance(written, syntax.Literal):
        return False, FrameDistance(written, following)
    raise ValidationError("Preceding and following need a row_interval, a time or a constant.")


_PARTS = {"START": 0, "END": 1, "ROWTIME": 2, "PROCTIME": 2}


class Grouping:
    """Rows in groups, to be selected from.

    Args:
        node: the rows.
        session: what plans queries.
        keys: what the groups are made of, as written.
        window: the window that is among the keys, or None.
    """

    def __init__(
        self, node: Node, session: Session, keys: Sequence[Any], window: Any = None
    ) -> None:
        self._session = session
        self._scope = Scope.of(node.schema)
        self._window_name = None if window is None else window.name
        self._window: tuple[Typed, ...] = ()
        self._rows: RowWindow | None = None
        if window is not None:
            node = self._windowed(node, window)
        self.node = node
        binder = ExpressionBinder(self._scope, session.functions)
        self._names: dict[str, Typed] = {}
        bound: list[Typed] = []
        for key in keys:
            if self._window_name is not None and _is_name(key, self._window_name):
                bound += self._window
                continue
            typed = binder.bind(key)
            bound.append(typed)
            if isinstance(key, syntax.Alias):
                self._names[key.names[0]] = typed
        self.keys = tuple(bound)

    def _windowed(self, node: Node, window: Any) -> Node:
        time = syntax_of(window.time)
        binder = ExpressionBinder(self._scope, self._session.functions)
        column, batch = binder.bind(time), self._session.settings().batch
        if column.type.time is None and not batch:
            raise ValidationError(
                "A group window expects a time attribute for grouping in a stream environment."
            )
        if _checked_rows(window, column):
            self._rows = _row_window(window)
            return node
        size = interval_of(syntax_of(window.size))
        step = 0 if window.step is None else interval_of(syntax_of(window.step))
        if column.type.root is Root.BIGINT:
            node, column = _with_time(node, binder, time)
        found = window_table(node, window.kind, column, size, step, batch=batch)
        first = len(node.schema)
        self._window = tuple(
            InputRef(found.schema.types[first + index], first + index) for index in range(3)
        )
        return found

    def binder(self) -> AggregatingBinder:
        """Return the binder of expressions over the groups."""
        return AggregatingBinder(self._scope, self._session.functions, self.keys, self._property)

    def _property(self, node: Any) -> Typed | None:
        if isinstance(node, syntax.Name) and len(node.parts) == 1 and node.parts[0] in self._names:
            return self._names[node.parts[0]]
        if not self._is_part(node):
            return None
        if self._rows is not None:
            kind = "tumble" if self._rows.step is None else "slide"
            raise ValidationError(
                f"Window start and Window end cannot be selected for a row-count {kind} window."
            )
        return self._window[_PARTS[node.name]]

    def _is_part(self, node: object) -> bool:
        """True for the start, the end or the time of the window."""
        if not isinstance(node, syntax.Call) or node.name not in _PARTS or len(node.args) != 1:
            return False
        return self._window_name is not None and _is_name(node.args[0], self._window_name)

    def bound(self, item: Any) -> Typed:
        """Return an expression over the rows."""
        return ExpressionBinder(self._scope, self._session.functions).bind(item)

    def key_names(self) -> tuple[str, ...]:
        """Return the names of the keys."""
        known = {key: name for name, key in self._names.items()}
        return tuple(
            known.get(key)
            or (self.node.schema.names[key.index] if isinstance(key, InputRef) else f"_k{index}")
            for index, key in enumerate(self.keys)
        )

    def select(self, items: Sequence[Any]) -> Node:
        """Return the node that computes expressions over the groups.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        for item in items:
            if isinstance(item, syntax.Star):
                raise ValidationError("'*' cannot be selected from groups: name the columns")
        binder = self.binder()
        functions = self._session.functions
        numbered: list[Any] = []
        for part in parts(tuple(items)):
            if part not in numbered and (is_aggregate(part, functions) or self._is_part(part)):
                numbered.append(part)
        projection = dsl_projection(self.node, binder, [_numbered(i, numbered) for i in items])
        grouped = replace(binder.node(self.node), rows=self._rows)
        zone = self._session.settings().time_zone
        columns = [folded(item, zone) for item in projection.expressions]
        return project(grouped, columns, projection.schema.names)


def _numbered(item: Any, results: list[Any]) -> Any:
    """Return an expression in which the result that names its column has its number for a name."""
    if isinstance(item, syntax.Cast):
        return replace(item, operand=_numbered(item.operand, results))
    if item.span is not None or item not in results:  # SQL gives no name
        return item
    return syntax.Alias(item, (f"EXPR${results.index(item)}",))


def _counts_rows(size: Expression | None) -> bool:
    written = None if size is None else syntax_of(size)
    return isinstance(written, syntax.Call) and written.name == "ROW_INTERVAL"


def _checked_rows(window: Any, time: Typed) -> bool:
    """True for a window of a number of rows.

    Raises:
        ValidationError: Flink has no such window.
        UnsupportedOperationError: the rows are ordered by event time.
    """
    by_rows = _counts_rows(window.size)
    if by_rows and window.kind is WindowKind.SESSION:
        raise ValidationError("A session window expects a gap literal of a day-time interval type.")
    if window.step is not None and _counts_rows(window.step) is not by_rows:
        raise ValidationError("A sliding window expects the same type of size and slide.")
    if by_rows and time.type.time is Time.ROWTIME:
        raise UnsupportedOperationError(
            "Event-time grouping windows on row intervals are currently not supported."
        )
    return by_rows


def _row_window(window: Any) -> RowWindow:
    time = syntax_of(window.time)
    size = syntax_of(window.size).args[0]
    step = None if window.step is None else syntax_of(window.step).args[0].value
    if size.value < 1 or (step is not None and step < 1):
        raise ValidationError("The size and the slide of a window of rows must be above 0.")
    return RowWindow(window.name, time.parts[-1], size.value, step)


def _with_time(node: Node, binder: ExpressionBinder, number: Any) -> tuple[Node, Typed]:
    """Return a node with a column of the timestamp that a number of milliseconds stands for."""
    since = syntax.Literal(0, logical.timestamp(3).with_nullable(False))
    milli = syntax.Literal(1000, logical.INTERVAL_SECOND.with_nullable(False))
    time = binder.bind(syntax.Call("+", (since, syntax.Call("*", (number, milli)))))
    schema = node.schema
    columns = [InputRef(kind, index) for index, kind in enumerate(schema.types)]
    made = project(node, [*columns, time], (*schema.names, "time of the window"))
    return made, InputRef(made.schema.types[-1], len(columns))


def _is_name(node: object, name: str) -> bool:
    return isinstance(node, syntax.Name) and node.parts == (name,)


def written(expressions: Any) -> list[Any]:
    """Return the syntax of expressions; a single text may have several.

    Raises:
        TypeError: something is no expression.
        SqlParseError: the text cannot be read.
    """
    if len(expressions) == 1 and isinstance(expressions[0], str):
        expressions = parse_expressions(expressions[0])
    for expression in expressions:
        if not isinstance(expression, Expression):
            raise TypeError(f"an Expression is needed, not {expression!r}: use col() or lit()")
    return [syntax_of(expression) for expression in expressions]


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
        return Grouping(node_of(self._table), session_of(self._t_env), self._keys)


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
        return Grouping(node_of(self._table), session_of(self._t_env), self._keys, self._window)


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
        session = session_of(self._t_env)
        functions, batch = session.functions, session.settings().batch
        node, binder = node_of(self._table), self._table._binder()
        windows = {window._window.name: over_window(window._window) for window in self._windows}
        for window in windows.values():
            check_order(window, binder, batch=batch)
        node, columns = with_overs(
            node, binder, functions, list(syntax.over_calls(tuple(items))), windows
        )
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
        expression, names = call_over(self._function, node_of(self._table))
        grouping = Grouping(node_of(self._table), session_of(self._t_env), self._keys, self._window)
        binder = grouping.binder()
        result = binder.bind(expression)
        kind = result.type
        if kind.root is Root.ROW:
            values = [syntax.Call("DOT", (expression, _text(name))) for name in kind.names]
            called = names or kind.names
            unnamed = tuple(f"TMP_0${name}" for name in kind.names)
        else:
            values, called, unnamed = [expression], (names or ("f0",))[:1], ("TMP_0",)
        shown = names or unnamed
        parts: dict[str, Any] = dict(zip((*called, *shown), (*values, *values)))
        chosen: list[Any] = []
        for item in written(fields):
            if item == syntax.Name(("*",)):
                chosen += [*self._key_items(), *(syntax.Name((name,)) for name in shown)]
            else:
                chosen.append(item)
        items = [_replaced(item, parts) for item in chosen]
        return self._table._then(grouping.select(items))

    def _key_items(self) -> list[object]:
        """Return the keys as columns.

        Raises:
            ValidationError: the window is among them.
        """
        if self._window is not None:
            raise ValidationError("Can not use * for window aggregate!")
        items: list[Any] = []
        for key in self._keys:
            if isinstance(key, syntax.Alias):
                items.append(syntax.Name(key.names))
            elif isinstance(key, syntax.Name):
                items.append(key)
            else:
                items.append(syntax.Alias(key, (expression_text(key),)))
        return items


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
        session = session_of(self._t_env)
        grouping = Grouping(node_of(table), session, keys)
        return table._then(flat_aggregated(grouping, table, function))._select(written(fields))


def flat_aggregated(grouping: Grouping, table: Table, function: object) -> FlatAggregate:
    """Return the keys and the rows that a table aggregate function has for each group.

    Raises:
        ValidationError: it is no table aggregate function.
    """
    call, names = call_over(function, node_of(table))
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
    from pyflink_on_spark.table.expression.parts import literal

    return literal(value)


def _replaced(item: object, parts: dict[str, Any]) -> Any:
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
