"""Queries become logical plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import AggregatingBinder, contains_aggregate
from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    calcite_name,
    convert,
)
from pyflink_on_spark._sql.binder.grouping import GroupBinder
from pyflink_on_spark._sql.binder.joins import all_of, distinct, filtered
from pyflink_on_spark._sql.binder.over import over_calls, with_overs
from pyflink_on_spark._sql.binder.projections import (
    count_of,
    limited,
    project,
    renamed,
    sorted_node,
    sql_projection,
)
from pyflink_on_spark._sql.binder.relations import ONE_ROW, RelationBinder
from pyflink_on_spark._sql.binder.scope import Scope
from pyflink_on_spark._sql.binder.sets import converted, set_operation, union_all
from pyflink_on_spark._sql.binder.subqueries import (
    BoundSubquery,
    NestedScope,
    is_correlated,
    semi_join,
    single_value,
    subqueries,
    with_correlated_value,
    with_membership,
    with_value,
)
from pyflink_on_spark._sql.catalog import CatalogManager
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import Span, invalid
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import Node, Project, Schema, Sort, Union, Values
from pyflink_on_spark._sql.settings import QuerySettings
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import (
    Call,
    Literal,
    Name,
    Quantifier,
    SortItem,
    Subquery,
)
from pyflink_on_spark._sql.types.coercion import common_type


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
        self._relations = RelationBinder(catalog, functions, settings, self._named, self.bind)

    def bind(self, query: syntax.Query) -> Node:
        """Return the plan of a query.

        Raises:
            ValidationError: something in it is wrong.
        """
        return self._queries[type(query)](query)

    # -- queries ---------------------------------------------------------------------------------

    def _select(self, query: syntax.Select) -> Node:
        node, scope = self._relations.bind(query.from_)
        width = len(node.schema)
        if query.where is not None:
            node, _ = self._where(node, ExpressionBinder(scope, self._functions), query.where)
            scope = scope.retyped(node.schema.types)
        if not query.items:
            return _first_columns(node, width)
        overs = list(over_calls(query.items))
        if self._is_grouped(query):
            groups = GroupBinder(
                node, scope, self._functions, self._with_values, self._folded,
                batch=self._settings.batch,
            )  # fmt: skip
            node = groups.bind(query, overs)
        else:
            binder = ExpressionBinder(scope, self._functions)
            node = self._with_values(node, binder, query.items)
            node, columns = with_overs(node, binder, self._functions, overs, dict(query.windows))
            binder.columns |= columns
            projection = sql_projection(node, binder, query.items)
            node = project(
                node, list(map(self._folded, projection.expressions)), projection.schema.names
            )
        return distinct(node) if query.distinct else node

    def _where(
        self, node: Node, binder: ExpressionBinder, where: Any
    ) -> tuple[Node, tuple[Typed, ...]]:
        """Keep the rows for which a condition is TRUE.

        Returns:
            The rows, and the parts of the condition that use columns from around the query.
        """
        plain: list[Typed] = []
        correlated: list[Typed] = []
        tests: list[tuple[Subquery, bool]] = []
        for part in conjuncts(where):
            test = _membership(part)
            if test is not None:
                tests.append(test)
                continue
            node = self._with_values(node, binder, part)
            condition = self._folded(binder.condition(part, "WHERE"))
            (correlated if is_correlated(condition) else plain).append(condition)
        together = all_of(plain)
        if together is not None:
            node = filtered(node, together)
        for subquery, anti in tests:
            operands = [binder.bind(operand) for operand in subquery.operands]
            found = self._subquery(subquery.query, binder.scope)
            node = semi_join(node, operands, found, subquery, anti=anti)
        return node, tuple(correlated)

    # -- queries inside expressions --------------------------------------------------------------

    def _subquery(self, query: syntax.Query, scope: Scope) -> BoundSubquery:
        """Return a query of which every row matters, which may use columns of a scope."""
        simple = isinstance(query, syntax.Select) and query.from_ and not query.distinct
        if not isinstance(query, syntax.Select) or not simple or self._is_grouped(query):
            node = self.bind(query)
            columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
            return BoundSubquery(node, (), tuple(columns))
        node, binder, correlated = self._inside(query, scope)
        values = sql_projection(node, binder, query.items).expressions
        return BoundSubquery(node, correlated, values)

    def _inside(
        self, query: syntax.Select, scope: Scope
    ) -> tuple[Node, ExpressionBinder, tuple[Typed, ...]]:
        """Return the input of a query, the binder of its columns, and its correlated conditions."""
        node, own = self._relations.bind(query.from_)
        nested = NestedScope(own.tables, Scope(scope.tables))
        correlated: tuple[Typed, ...] = ()
        if query.where is not None:
            node, correlated = self._where(
                node, ExpressionBinder(nested, self._functions), query.where
            )
            own = own.retyped(node.schema.types)
        nested = NestedScope(own.tables, Scope(scope.tables))
        return node, ExpressionBinder(nested, self._functions), correlated

    def _with_values(self, node: Node, binder: ExpressionBinder, expressions: Any) -> Node:
        """Return a node with the values of the queries that stand for one in expressions."""
        for subquery in subqueries(expressions):
            if subquery in binder.columns:
                continue
            if subquery.quantifier is Quantifier.SCALAR:
                node, column = self._with_value(node, binder.scope, subquery)
            else:
                operands = [binder.bind(operand) for operand in subquery.operands]
                found = self.bind(subquery.query)
                node, column = with_membership(node, operands, found, subquery)
            binder.columns[subquery] = column
        return node

    def _with_value(self, node: Node, scope: Scope, subquery: Subquery) -> tuple[Node, Typed]:
        query = subquery.query
        if not isinstance(query, syntax.Select) or query.group_by or query.distinct:
            return with_value(node, _one_column(self.bind(query), subquery))
        if len(query.items) != 1 or query.having is not None or list(over_calls(query.items)):
            return with_value(node, _one_column(self.bind(query), subquery))
        inner, rows, correlated = self._inside(query, scope)
        if not correlated:
            return with_value(node, _one_column(self.bind(query), subquery))
        if self._is_grouped(query):
            binder = AggregatingBinder(rows.scope, self._functions, ())
            value = binder.bind(query.items[0])
            aggregate = binder.node(inner)
        else:
            aggregate = single_value(inner, rows.bind(query.items[0]))
            value = InputRef(aggregate.schema.types[0], 0)
        return with_correlated_value(node, aggregate, value, correlated, subquery.span)

    def _is_grouped(self, query: syntax.Select) -> bool:
        if query.group_by is not None or query.having is not None:
            return True
        return any(contains_aggregate(item, self._functions) for item in query.items)

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
        place = _columns_place(query.right)
        if query.operator is not syntax.SetOperator.UNION:
            return set_operation(query.operator, left, right, every=query.all, span=place)
        if query.all:
            return union_all(left, right, place)
        return distinct(union_all(left, right, place, "UNION"))

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


def conjuncts(node: Any) -> list[Any]:
    """Return the parts that all have to be TRUE for a condition as written to be TRUE."""
    if isinstance(node, Call) and node.name == "AND":
        return [part for arg in node.args for part in conjuncts(arg)]
    return [node]


def _membership(part: Any) -> tuple[Subquery, bool] | None:
    """Return the query of ``IN`` or ``EXISTS``, and whether it is negated."""
    negated = False
    while isinstance(part, Call) and part.name == "NOT":
        part, negated = part.args[0], not negated
    if not isinstance(part, Subquery) or part.quantifier is Quantifier.SCALAR:
        return None
    return part, negated is not (part.quantifier is Quantifier.NOT_IN)


def _first_columns(node: Node, count: int) -> Node:
    if len(node.schema) == count:
        return node
    columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types[:count])]
    return project(node, columns, node.schema.names[:count])


def _columns_place(query: syntax.Query) -> Span | None:
    """Return where the columns of a query are written."""
    spans = [item.span for item in query.items] if isinstance(query, syntax.Select) else []
    if not spans or spans[0] is None or spans[-1] is None:
        return query.span
    return spans[0].to(spans[-1])


def _one_column(node: Node, subquery: Subquery) -> Node:
    if len(node.schema) != 1:
        columns = zip(node.schema.names, node.schema.types)
        listed = ", ".join(f"{calcite_name(kind)} {name.upper()}" for name, kind in columns)
        raise invalid(
            "Cannot apply '$SCALAR_QUERY' to arguments of type "
            f"'$SCALAR_QUERY(<RECORDTYPE({listed})>)'. "
            "Supported form(s): '$SCALAR_QUERY(<RECORDTYPE(SINGLE FIELD)>)'",
            subquery.query.span,
        )
    return node
