"""What the DSL groups rows by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import AggregatingBinder, is_aggregate
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder
from pyflink_on_spark._sql.binder.projections import dsl_projection, project
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.windows import interval_of, window_table
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import ValidationError, not_yet
from pyflink_on_spark._sql.plan.expressions import InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Node
from pyflink_on_spark._sql.session.session import Session
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import Root

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
        time = window.time._written
        if isinstance(window.size._written, syntax.Call):
            not_yet("a window of a number of rows", None, "Use count_window of a DataStream.")
        binder = ExpressionBinder(self._scope, self._session.functions)
        size = interval_of(window.size._written)
        step = 0 if window.step is None else interval_of(window.step._written)
        column, batch = binder.bind(time), self._session.settings().batch
        if column.type.time is None and not batch:
            raise ValidationError(
                "A group window expects a time attribute for grouping in a stream environment."
            )
        if column.type.root is Root.BIGINT:
            node, column = _with_time(node, binder, time)
        found = window_table(node, window.kind, column, size, step, batch=batch)
        first = len(node.schema)
        self._window = tuple(
            InputRef(found.schema.types[first + index], first + index) for index in range(3)
        )
        return found

    def binder(self) -> AggregatingBinder:
        """Return what resolves expressions over the groups."""
        return AggregatingBinder(self._scope, self._session.functions, self.keys, self._property)

    def _property(self, node: Any) -> Typed | None:
        if isinstance(node, syntax.Name) and len(node.parts) == 1 and node.parts[0] in self._names:
            return self._names[node.parts[0]]
        return self._window[_PARTS[node.name]] if self._is_part(node) else None

    def _is_part(self, node: Any) -> bool:
        """Whether an expression is the start, the end or the time of the window."""
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
        """Return what is computed of the groups.

        Raises:
            ValidationError: something in an expression is wrong.
        """
        for item in items:
            if isinstance(item, syntax.Star):
                raise ValidationError("'*' cannot be selected from groups: name the columns")
        binder = self.binder()
        functions = self._session.functions
        numbered = [item for item in items if is_aggregate(item, functions) or self._is_part(item)]
        named = [
            syntax.Alias(item, (f"EXPR${numbered.index(item)}",)) if item in numbered else item
            for item in items
        ]
        projection = dsl_projection(self.node, binder, named)
        grouped = binder.node(self.node)
        zone = self._session.settings().time_zone
        columns = [folded(item, zone) for item in projection.expressions]
        return project(grouped, columns, projection.schema.names)


def _with_time(node: Node, binder: ExpressionBinder, number: Any) -> tuple[Node, Typed]:
    """Return a node with a column of the timestamp that a number of milliseconds stands for."""
    since = syntax.Literal(0, logical.timestamp(3).with_nullable(False))
    milli = syntax.Literal(1000, logical.INTERVAL_SECOND.with_nullable(False))
    time = binder.bind(syntax.Call("+", (since, syntax.Call("*", (number, milli)))))
    schema = node.schema
    columns = [InputRef(kind, index) for index, kind in enumerate(schema.types)]
    made = project(node, [*columns, time], (*schema.names, "time of the window"))
    return made, InputRef(made.schema.types[-1], len(columns))


def _is_name(node: Any, name: str) -> bool:
    return isinstance(node, syntax.Name) and node.parts == (name,)
