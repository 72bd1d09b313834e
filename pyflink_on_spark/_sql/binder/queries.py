"""Queries become logical plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import AggregatingBinder, contains_aggregate
from pyflink_on_spark._sql.binder.correlate import Lateral, bind_correlate, lateral_of
from pyflink_on_spark._sql.binder.expressions import ExpressionBinder, Functions
from pyflink_on_spark._sql.binder.joins import conjuncts, distinct, join, semi_join
from pyflink_on_spark._sql.binder.overloads import convert
from pyflink_on_spark._sql.binder.projections import project, renamed, sql_projection
from pyflink_on_spark._sql.binder.ranks import RANK, over_calls, ranked
from pyflink_on_spark._sql.binder.scans import scan
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.sets import set_operation
from pyflink_on_spark._sql.binder.sorting import count_of, limited, sorted_node
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
from pyflink_on_spark._sql.plan.nodes import Filter, Node, Project, Sort, Union, Values
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import (
    Alias,
    Call,
    Literal,
    Name,
    OverCall,
    Quantifier,
    SortItem,
    Star,
    Subquery,
)
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
            syntax.Unnest: self._unnest,
            syntax.Join: self._join,
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
            node = self._where(node, binder, query.where)
        if not query.items:
            return node
        overs = over_calls(query.items)
        if overs:
            node, query = self._ranked(query, node, binder, overs)
            scope = scope.joined(Scope.of(Schema(node.schema.names[-1:], node.schema.types[-1:])))
            binder = ExpressionBinder(scope, self._functions)
        if self._is_grouped(query):
            node = self._grouped(query, node, scope)
        else:
            projection = sql_projection(node, binder, query.items)
            columns = tuple(map(self._folded, projection.expressions))
            node = project(node, columns, projection.schema.names)
        return distinct(node) if query.distinct else node

    def _where(self, node: Node, binder: ExpressionBinder, where: Any) -> Node:
        """Keep the rows for which a condition is TRUE; ``IN`` with a query becomes a join."""
        for part in conjuncts(where):
            if isinstance(part, Subquery) and part.quantifier is Quantifier.IN:
                node = semi_join(node, binder, part, self.bind(part.query))
            else:
                condition = binder.condition(part, "WHERE")
                node = Filter(node.schema, node, self._folded(condition))
        return node

    def _ranked(
        self,
        query: syntax.Select,
        node: Node,
        binder: ExpressionBinder,
        overs: list[OverCall],
    ) -> tuple[Node, syntax.Select]:
        if len(set(overs)) > 1:
            not_yet("several functions of OVER", overs[1].span, "Use a subquery for each.")
        rank = ranked(node, binder, overs[0], dict(query.windows))
        items: list[Any] = []
        for item in query.items:
            inner = item.operand if isinstance(item, Alias) else item
            if isinstance(item, Star):
                items += [Name((name,)) for name, _ in binder.scope.columns(item.qualifier)]
            elif isinstance(inner, OverCall):
                name = item.names[0] if isinstance(item, Alias) else f"EXPR${len(items)}"
                items.append(Alias(Name((RANK,)), (name,)))
            else:
                items.append(item)
        return rank, replace(query, items=tuple(items))

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
        node, scope = self._relation(query.from_[0])
        for relation in query.from_[1:]:
            node, scope = self._joined(node, scope, relation, syntax.JoinKind.CROSS, None)
        return node, scope

    def _join(self, join: syntax.Join) -> tuple[Node, Scope]:
        node, scope = self._relation(join.left)
        if join.natural or join.using:
            not_yet("USING", join.span, "Write the condition after ON.")
        return self._joined(node, scope, join.right, join.kind, join.on)

    def _joined(
        self,
        node: Node,
        scope: Scope,
        relation: syntax.Relation,
        kind: syntax.JoinKind,
        on: Any,
    ) -> tuple[Node, Scope]:
        lateral = lateral_of(relation)
        if lateral is not None and not self._is_window(lateral[0]):
            return self._correlated(node, scope, lateral, kind, on)
        other, other_scope = self._relation(relation)
        both = scope.joined(other_scope)
        condition = None
        if on is not None:
            binder = ExpressionBinder(both, self._functions)
            condition = self._folded(binder.condition(on, "ON"))
        return join(node, other, kind, condition), both

    def _correlated(
        self,
        node: Node,
        scope: Scope,
        lateral: Lateral,
        kind: syntax.JoinKind,
        on: Any,
    ) -> tuple[Node, Scope]:
        relation, name, columns = lateral
        binder = ExpressionBinder(scope, self._functions)
        left = kind is syntax.JoinKind.LEFT
        if kind in {syntax.JoinKind.RIGHT, syntax.JoinKind.FULL}:
            raise invalid("Lateral joins are INNER or LEFT", relation.span)
        correlated = bind_correlate(node, binder, relation, columns, left)
        own = Schema(
            correlated.schema.names[len(node.schema) :], correlated.schema.types[len(node.schema) :]
        )
        both = scope.joined(Scope.of(own, name))
        if on is not None:
            condition = ExpressionBinder(both, self._functions).condition(on, "ON")
            correlated = replace(correlated, condition=self._folded(condition))
        return correlated, both

    @staticmethod
    def _is_window(relation: syntax.Relation) -> bool:
        return isinstance(relation, syntax.FunctionTable) and relation.call.name.upper() in KINDS

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
        left, right = self.bind(query.left), self.bind(query.right)
        if query.operator is not syntax.SetOperator.UNION:
            return set_operation(
                query.operator, left, right, every=query.all, span=query.right.span
            )
        united = union_all(left, right, query.right.span)
        return united if query.all else distinct(united)

    def _with(self, query: syntax.With) -> Node:
        named = dict(self._named)
        for name, columns, definition in query.definitions:
            binder = QueryBinder(self._catalog, self._functions, self._settings, named)
            node = binder.bind(definition)
            named[name] = renamed(node, columns) if columns else node
        return QueryBinder(self._catalog, self._functions, self._settings, named).bind(query.query)

    def _ordered(self, query: syntax.Ordered) -> Node:
        node = self.bind(query.query)
        if query.order_by:
            node = self._sorted(node, query)
        offset = count_of(query.offset, "OFFSET")
        fetch = count_of(query.limit, "LIMIT")
        if offset is None and fetch is None:
            return node
        if isinstance(node, Project) and isinstance(node.input, Sort):
            return replace(node, input=limited(node.input, offset or 0, fetch))
        return limited(node, offset or 0, fetch)

    def _sorted(self, node: Node, query: syntax.Ordered) -> Node:
        """Order by columns of the result, by their positions, or by columns of the input."""
        binder = ExpressionBinder(Scope.of(node.schema), self._functions)
        items = []
        for item in query.order_by:
            expression = item.expression
            if isinstance(expression, Literal) and isinstance(expression.value, int):
                expression = Name((node.schema.names[expression.value - 1],))
            elif isinstance(expression, Name) and len(expression.parts) > 1:
                expression = replace(
                    expression, parts=expression.parts[-1:], spans=expression.spans[-1:]
                )
            items.append(replace(item, expression=expression))
        if isinstance(query.query, syntax.Select) and isinstance(node, Project):
            hidden = self._hidden_columns(node, query.query, items)
            if hidden is not None:
                return hidden
        return sorted_node(node, binder, items)

    def _hidden_columns(
        self, node: Project, select: syntax.Select, items: list[SortItem]
    ) -> Node | None:
        """Return an order by columns that are not selected, or None if all are."""
        names = node.schema.names
        missing = [
            item.expression
            for item in items
            if isinstance(item.expression, Name) and item.expression.parts[0] not in names
        ]
        if not missing or self._is_grouped(select) or select.distinct:
            return None
        extended = replace(select, items=(*select.items, *missing))
        wide = self.bind(extended)
        binder = ExpressionBinder(Scope.of(wide.schema), self._functions)
        ordered = sorted_node(wide, binder, items)
        columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
        return project(ordered, columns, names)

    # -- relations -------------------------------------------------------------------------------

    def _relation(self, relation: syntax.Relation) -> tuple[Node, Scope]:
        return self._relations[type(relation)](relation)

    def _unnest(self, relation: syntax.Unnest) -> tuple[Node, Scope]:
        return self._correlated(
            ONE_ROW, Scope(()), (relation, None, ()), syntax.JoinKind.CROSS, None
        )

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
            return self._correlated(
                ONE_ROW, Scope(()), (table, None, ()), syntax.JoinKind.CROSS, None
            )
        node = bind_window_function(table.call, self.bind)
        return node, Scope.of(node.schema)

    def _derived(self, derived: syntax.DerivedTable) -> tuple[Node, Scope]:
        if derived.lateral:
            not_yet("LATERAL", derived.span, "Use flat_map of a DataStream.")
        node = self.bind(derived.query)
        return node, Scope.of(node.schema)

    def _aliased(self, aliased: syntax.Aliased) -> tuple[Node, Scope]:
        lateral = lateral_of(aliased)
        if lateral is not None and not self._is_window(lateral[0]):
            return self._correlated(ONE_ROW, Scope(()), lateral, syntax.JoinKind.CROSS, None)
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


def values(schema: Schema, rows: list[list[Typed]]) -> Node:
    """Return rows of expressions without columns."""
    if all(isinstance(item, Constant) for row in rows for item in row):
        constants = tuple(
            tuple(item.value for item in row if isinstance(item, Constant)) for row in rows
        )
        return Values(schema, constants)
    nodes = tuple(converted(project(ONE_ROW, row, schema.names), schema) for row in rows)
    return nodes[0] if len(nodes) == 1 else Union(schema, nodes)
