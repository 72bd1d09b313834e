"""Queries become logical plans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import AggregatingBinder, contains_aggregate
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions
from pyflink_on_spark._sql.binder.overloads import convert
from pyflink_on_spark._sql.binder.projections import project, renamed, sql_projection
from pyflink_on_spark._sql.binder.scans import scan
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.unions import converted, union_all
from pyflink_on_spark._sql.binder.windows import (
    KINDS,
    bind_group_window,
    bind_window_function,
    group_window,
    window_property,
)
from pyflink_on_spark._sql.catalog.manager import CatalogManager
from pyflink_on_spark._sql.catalog.objects import CatalogTable
from pyflink_on_spark._sql.compiler.folding import folded
from pyflink_on_spark._sql.errors import invalid, not_yet
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Aggregate, Filter, Node, Union, Values
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import Call, Star
from pyflink_on_spark._sql.types.coercion import common_type

ONE_ROW = Values(Schema((), ()), ((),))
"""What a query without FROM reads."""


class QueryBinder:
    """Gives the names of one query their meaning.

    Args:
        catalog: the tables that there are.
        functions: the functions that there are.
        settings: the session's.
        named: the queries of WITH, by name.
    """

    def __init__(
        self,
        catalog: CatalogManager,
        functions: Functions,
        settings: QuerySettings,
        named: dict[str, Node] | None = None,
    ) -> None:
        self._catalog, self._functions, self._settings = catalog, functions, settings
        self._named = named or {}
        self._queries: dict[type, Callable[[Any], Node]] = {
            syntax.Select: self._select,
            syntax.Values: self._values,
            syntax.SetOperation: self._set_operation,
            syntax.With: self._with,
            syntax.Ordered: self._ordered,
        }
        self._relations: dict[type, Callable[[Any], tuple[Node, Scope]]] = {
            syntax.TableReference: self._table,
            syntax.DerivedTable: self._derived,
            syntax.Aliased: self._aliased,
            syntax.FunctionTable: self._function_table,
        }

    def bind(self, query: syntax.Query) -> Node:
        """Return the plan of a query.

        Raises:
            ValidationError: something in it is wrong.
        """
        return self._queries[type(query)](query)

    # -- queries ---------------------------------------------------------------------------------

    def _select(self, query: syntax.Select) -> Node:
        node, scope = self._from(query)
        binder = ExpressionBinder(scope, self._functions)
        if query.where is not None:
            condition = binder.condition(query.where, "WHERE")
            node = Filter(node.schema, node, self._folded(condition))
        if not query.items:
            return node
        if self._is_grouped(query):
            node = self._grouped(query, node, scope)
        else:
            projection = sql_projection(node, binder, query.items)
            columns = tuple(map(self._folded, projection.expressions))
            node = project(node, columns, projection.schema.names)
        return distinct(node) if query.distinct else node

    def _is_grouped(self, query: syntax.Select) -> bool:
        if query.group_by is not None or query.having is not None:
            return True
        return any(contains_aggregate(item, self._functions) for item in query.items)

    def _grouped(self, query: syntax.Select, node: Node, scope: Scope) -> Node:
        rows = ExpressionBinder(scope, self._functions)
        keys: list[Typed] = []
        windows: list[tuple[Call, Typed, Typed, Typed]] = []
        for item in query.group_by or ():
            if item.kind is not syntax.Grouping.PLAIN:
                not_yet(item.kind.value, query.span, "Unite several queries with GROUP BY.")
            ((expression,),) = item.sets
            if isinstance(expression, Call) and group_window(expression) is not None:
                node = bind_group_window(node, expression, scope)
                first = len(node.schema) - 3
                start, end, time = (
                    InputRef(node.schema.types[first + index], first + index) for index in range(3)
                )
                windows.append((expression, start, end, time))
                keys += [start, end, time]
            else:
                keys.append(rows.bind(expression))
        for selected in query.items:
            if isinstance(selected, Star):
                raise invalid("Expression '*' is not being grouped", selected.span)
        binder = AggregatingBinder(
            scope, self._functions, keys, lambda node: window_property(node, windows)
        )
        projection = sql_projection(node, binder, query.items)
        having = None if query.having is None else binder.condition(query.having, "HAVING")
        grouped: Node = binder.node(node)
        if having is not None:
            grouped = Filter(grouped.schema, grouped, self._folded(having))
        columns = tuple(map(self._folded, projection.expressions))
        return project(grouped, columns, projection.schema.names)

    def _from(self, query: syntax.Select) -> tuple[Node, Scope]:
        if not query.from_:
            return ONE_ROW, Scope(())
        if len(query.from_) > 1:
            not_yet("a join", query.from_[1].span, "Connect two DataStreams.")
        return self._relation(query.from_[0])

    def _values(self, query: syntax.Values) -> Node:
        binder = ExpressionBinder(Scope(()), self._functions)
        rows = [[binder.bind(item) for item in row] for row in query.rows]
        if len({len(row) for row in rows}) > 1:
            raise invalid("Values passed to VALUES operator must have compatible types", query.span)
        types = []
        for column in zip(*rows):
            common = common_type([item.type for item in column])
            if common is None:
                raise invalid(
                    "Values passed to VALUES operator must have compatible types", query.span
                )
            types.append(common)
        names = tuple(f"EXPR${index}" for index in range(len(types)))
        rows_of_type = [
            [self._folded(convert(item, kind)) for item, kind in zip(row, types)] for row in rows
        ]
        return values(Schema(names, tuple(types)), rows_of_type)

    def _set_operation(self, query: syntax.SetOperation) -> Node:
        if query.operator is not syntax.SetOperator.UNION or not query.all:
            what = query.operator.value + (" ALL" if query.all else "")
            not_yet(what, query.span, "Unite DataStreams.")
        left, right = self.bind(query.left), self.bind(query.right)
        return union_all(left, right, query.right.span)

    def _with(self, query: syntax.With) -> Node:
        named = dict(self._named)
        for name, columns, definition in query.definitions:
            binder = QueryBinder(self._catalog, self._functions, self._settings, named)
            node = binder.bind(definition)
            named[name] = renamed(node, columns) if columns else node
        return QueryBinder(self._catalog, self._functions, self._settings, named).bind(query.query)

    def _ordered(self, query: syntax.Ordered) -> Node:
        not_yet("ORDER BY or LIMIT", query.span, "Sort what is collected.")

    # -- relations -------------------------------------------------------------------------------

    def _relation(self, relation: syntax.Relation) -> tuple[Node, Scope]:
        bind = self._relations.get(type(relation))
        if bind is None:
            words = {
                syntax.Join: "a join",
                syntax.FunctionTable: "a table function",
                syntax.Unnest: "UNNEST",
            }
            not_yet(words[type(relation)], relation.span, "Use the functions of a DataStream.")
        return bind(relation)

    def _table(self, reference: syntax.TableReference) -> tuple[Node, Scope]:
        if reference.system_time is not None:
            not_yet("FOR SYSTEM_TIME AS OF", reference.span, "Connect two DataStreams.")
        if len(reference.path) == 1 and reference.path[0] in self._named:
            name = reference.path[0]
            return self._named[name], Scope.of(self._named[name].schema, name)
        path = self._catalog.qualify(reference.path)
        found = self._catalog.find(path)
        if found is None:
            raise invalid(f"Object '{reference.path[-1]}' not found", reference.span)
        if isinstance(found, CatalogTable):
            node = scan(path, found, dict(reference.options), self._settings)
        else:
            node = found.plan
        return node, Scope.of(node.schema, reference.path[-1], path)

    def _function_table(self, table: syntax.FunctionTable) -> tuple[Node, Scope]:
        if table.call.name.upper() not in KINDS:
            not_yet("a table function", table.span, "Use the functions of a DataStream.")
        node = bind_window_function(table.call, self.bind)
        return node, Scope.of(node.schema)

    def _derived(self, derived: syntax.DerivedTable) -> tuple[Node, Scope]:
        if derived.lateral:
            not_yet("LATERAL", derived.span, "Use flat_map of a DataStream.")
        node = self.bind(derived.query)
        return node, Scope.of(node.schema)

    def _aliased(self, aliased: syntax.Aliased) -> tuple[Node, Scope]:
        node, _ = self._relation(aliased.relation)
        if aliased.columns:
            if len(aliased.columns) != len(node.schema):
                raise invalid(
                    f"List of column aliases must have same degree as table; table has "
                    f"{len(node.schema)} columns, whereas alias list has "
                    f"{len(aliased.columns)} columns",
                    aliased.span,
                )
            node = renamed(node, aliased.columns)
        return node, Scope.of(node.schema, aliased.name)

    def _folded(self, expression: Typed) -> Typed:
        return folded(expression, self._settings.time_zone)


def distinct(node: Node) -> Node:
    """Return the rows of a node without doubles."""
    types = tuple(kind.plain() for kind in node.schema.types)
    keys = tuple(InputRef(kind, index) for index, kind in enumerate(types))
    return Aggregate(Schema(node.schema.names, types), node, keys, ())


def values(schema: Schema, rows: list[list[Typed]]) -> Node:
    """Return rows of expressions without columns."""
    if all(isinstance(item, Constant) for row in rows for item in row):
        constants = tuple(
            tuple(item.value for item in row if isinstance(item, Constant)) for row in rows
        )
        return Values(schema, constants)
    nodes = tuple(converted(project(ONE_ROW, row, schema.names), schema) for row in rows)
    return nodes[0] if len(nodes) == 1 else Union(schema, nodes)
