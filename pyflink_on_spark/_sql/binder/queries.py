"""Queries become logical plans."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import (
    AggregatingBinder,
    GroupBinder,
    contains_aggregate,
    parts,
    sql_projection,
    with_overs,
)
from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    all_of,
    calcite_name,
    check_no_null,
    invoke,
    unique_names,
)
from pyflink_on_spark._sql.binder.relations import (
    RelationBinder,
    distinct,
    filtered,
)
from pyflink_on_spark._sql.binder.sets import (
    converted,
    count_of,
    limited,
    set_operation,
    sorted_node,
    union_all,
)
from pyflink_on_spark._sql.binder.subqueries import (
    BoundSubquery,
    Inside,
    LateralQuery,
    NestedScope,
    columns_around,
    equality,
    is_correlated,
    names_in,
    resolved,
    semi_join,
    single_value,
    with_correlated_existence,
    with_correlated_membership,
    with_correlated_value,
    with_membership,
    with_outer_values,
    with_value,
)
from pyflink_on_spark._sql.catalog import CatalogManager
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import (
    QuerySettings,
    Span,
    TableError,
    ValidationError,
    invalid,
    not_yet,
)
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed, convert
from pyflink_on_spark._sql.plan.nodes import (
    ONE_ROW,
    Aggregate,
    Filter,
    Node,
    Project,
    Schema,
    Sort,
    TableScan,
    Union,
    Values,
    project,
    renamed,
)
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import (
    AggregateCall,
    Alias,
    Call,
    Expression,
    Literal,
    Name,
    OverCall,
    OverWindow,
    Quantifier,
    SortItem,
    Subquery,
    over_calls,
    subqueries,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import least_restrictive


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
        self._relations = RelationBinder(
            catalog, functions, settings, self._named, self.bind, self._lateral, self._values_of_on
        )

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
        self, node: Node, binder: ExpressionBinder, where: object
    ) -> tuple[Node, tuple[Typed, ...]]:
        """Keep the rows for which a condition is TRUE.

        Returns:
            The rows, and the parts of the condition that use columns from around the query.
        """
        plain: list[Typed] = []
        correlated: list[Typed] = []
        tests: list[tuple[Subquery, bool]] = []
        parts_of_it = conjuncts(where)
        if len(parts_of_it) > 1:
            check_no_null(parts_of_it)
        for part in parts_of_it:
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
            if self._always_exists(subquery):
                self.subquery(subquery.query, binder.scope, node)
                node = filtered(node, Constant(_TRUE.type, not anti))
                continue
            found = self.subquery(subquery.query, binder.scope, node)
            node = semi_join(node, operands, found, subquery, anti=anti)
        return node, tuple(correlated)

    # -- queries inside expressions --------------------------------------------------------------

    def subquery(
        self, query: syntax.Query, scope: Scope, around: Node | None, *, apart: bool = False
    ) -> BoundSubquery:
        """Return a query that may use columns from around it.

        Args:
            query: the query.
            scope: the columns around it.
            around: the rows around it; None if it cannot use them.
            apart: whether its conditions have to be equalities, and its values its own.
        """
        alone = self._alone(query)
        if isinstance(alone, Node):
            columns = tuple(InputRef(kind, at) for at, kind in enumerate(alone.schema.types))
            return BoundSubquery(alone, (), columns, alone.schema.names)
        query = _without_order(query)
        if isinstance(query, syntax.With):
            inner = self._with_definitions(query)
            return inner.subquery(query.query, scope, around, apart=apart)
        if not isinstance(query, syntax.Select):
            raise _refused(query, scope, alone)
        overs = list(over_calls(query.items))
        grouped = self._is_grouped(query)
        final = bool(overs) or query.distinct or grouped
        inside = self._inside(query, scope, around, alone, apart=apart or final)
        if grouped:
            groups = GroupBinder(
                inside.node, inside.scope, self._functions, self._with_values, self._folded,
                batch=self._settings.batch, apart=inside.keys,
            )  # fmt: skip
            node = groups.bind(query, overs)
        else:
            binder = ExpressionBinder(inside.scope, self._functions)
            node = self._with_values(inside.node, binder, query.items)
            node, columns_of_overs = with_overs(
                node, binder, self._functions, overs, dict(query.windows), inside.keys
            )
            binder.columns |= columns_of_overs
            made = sql_projection(node, binder, query.items)
            if not final:
                return BoundSubquery(node, inside.correlated, made.expressions, made.schema.names)
            names = (*made.schema.names, *(f"$k{at}" for at in range(len(inside.keys))))
            node = project(node, [*made.expressions, *inside.keys], unique_names(names))
        node = distinct(node) if query.distinct else node
        width = len(node.schema) - len(inside.keys)
        values = [InputRef(kind, at) for at, kind in enumerate(node.schema.types[:width])]
        return BoundSubquery(node, inside.grouped(node), tuple(values), node.schema.names[:width])

    def _alone(self, query: syntax.Query) -> Node | ValidationError:
        """Return the plan of a query that uses nothing from around it, or why there is none."""
        try:
            return self.bind(query)
        except ValidationError as error:
            return error

    def _inside(
        self,
        query: syntax.Select,
        scope: Scope,
        around: Node | None,
        error: ValidationError,
        *,
        apart: bool,
    ) -> Inside:
        """Return the rows that a query reads which uses columns from around it.

        Args:
            query: the query.
            scope: the columns around it.
            around: the rows around it; None if it cannot use them.
            error: why it is no query of its own.
            apart: whether its conditions have to be equalities, and what it selects its own.
        """
        node, own, given = self._from(query, scope, around, error)
        others = (query.items, query.group_by, query.having, query.windows)
        everything = (*others, query.where)
        if not given and not columns_around(everything, own, scope):
            raise error
        if around is None:
            raise _refused(query, scope, error, "in a grouped query")
        deep = tuple(subqueries(query.where)), tuple(subqueries(query.items))
        if not columns_around((others, deep) if apart else deep, own, scope):
            nested = NestedScope(own.tables, scope)
            rows, correlated = self._rows(node, nested, query.where)
            correlated = (*given, *correlated)
            if not apart or all(equality(each) is not None for each in correlated):
                tables = own.retyped(rows.schema.types).tables
                return Inside(rows, NestedScope(tables, scope), correlated)
        places = columns_around(everything, own, scope)
        node, known, same = with_outer_values(node, around, places)
        tables = own.retyped(node.schema.types).tables
        node, _ = self._rows(node, NestedScope(tables, scope, known), query.where)
        tables = own.retyped(node.schema.types).tables
        return Inside(node, NestedScope(tables, scope, known), (*given, *same))

    def _rows(
        self, node: Node, scope: Scope, where: Expression | None
    ) -> tuple[Node, tuple[Typed, ...]]:
        if where is None:
            return node, ()
        return self._where(node, ExpressionBinder(scope, self._functions), where)

    def _from(
        self, query: syntax.Select, scope: Scope, around: Node | None, error: ValidationError
    ) -> tuple[Node, Scope, tuple[Typed, ...]]:
        """Return the rows of FROM, their columns, and its conditions on columns around it."""
        try:
            node, own = self._relations.bind(query.from_)
        except ValidationError:
            relation = query.from_[0] if len(query.from_) == 1 else None
            name: str | None = None
            columns: tuple[str, ...] = ()
            if isinstance(relation, syntax.Aliased):
                name, columns, relation = relation.name, relation.columns, relation.relation
            if not isinstance(relation, syntax.DerivedTable):
                raise _refused(query, scope, error) from None
            found = self.subquery(relation.query, scope, around, apart=True)
            keys = [pair[0] for pair in map(equality, found.correlated) if pair is not None]
            names = columns or found.names
            inner = (*names, *(f"$k{at}" for at in range(len(keys))))
            node = project(found.node, [*found.values, *keys], unique_names(inner))
            schema = Schema(names, node.schema.types[: len(names)])
            inside = Inside(node, NestedScope(()), found.correlated)
            return node, Scope.of(schema, name), inside.grouped(node)
        return node, own, ()

    def _always_exists(self, subquery: Subquery) -> bool:
        """True for EXISTS with an aggregate of all rows, which has a row whatever these are."""
        query = subquery.query
        return (
            subquery.quantifier is Quantifier.EXISTS
            and isinstance(query, syntax.Select)
            and query.group_by is None
            and query.having is None
            and self._is_grouped(query)
        )

    def _with_values(self, node: Node, binder: ExpressionBinder, expressions: object) -> Node:
        """Return a node with the values of the queries that stand for one in expressions."""
        for subquery in subqueries(expressions):
            if subquery in binder.columns:
                continue
            if subquery.quantifier is Quantifier.SCALAR:
                node, column = self._with_value(node, binder, subquery)
            else:
                node, column = self._with_membership(node, binder, subquery)
            binder.columns[subquery] = column
        return node

    def _values_of_on(
        self, node: Node, condition: Expression
    ) -> tuple[Node, dict[Expression, Typed]]:
        """Return a node with the values of queries in ON that use nothing from around them."""
        columns: dict[Expression, Typed] = {}
        for subquery in subqueries(condition):
            alone = self._alone(subquery.query)
            if subquery.quantifier is Quantifier.SCALAR and isinstance(alone, Node):
                node, columns[subquery] = with_value(node, _one_column(alone, subquery))
        return node, columns

    def _with_membership(
        self, node: Node, binder: ExpressionBinder, subquery: Subquery
    ) -> tuple[Node, Typed]:
        operands = [binder.bind(operand) for operand in subquery.operands]
        around = None if isinstance(binder, AggregatingBinder) else node
        found = self.subquery(subquery.query, binder.scope, around, apart=True)
        if not found.uses_outer:
            return with_membership(node, operands, self.bind(subquery.query), subquery)
        if subquery.quantifier is Quantifier.EXISTS:
            if self._always_exists(subquery):
                return node, _TRUE
            return with_correlated_existence(node, found)
        if len(operands) != len(found.values):
            raise invalid("Values passed to IN operator must have compatible types", subquery.span)
        if len(operands) > 1:
            not_yet("IN of several values in such a place", subquery.span, "Join the query.")
        return with_correlated_membership(node, operands[0], found, subquery)

    def _lateral(
        self, query: syntax.Query, scope: Scope, around: Node, kind: syntax.JoinKind
    ) -> LateralQuery:
        """Return a query that may use the columns of a scope before it.

        Args:
            query: the query.
            scope: the columns before it.
            around: the rows before it.
            kind: of the join.
        """
        alone = self._alone(query)
        if isinstance(alone, Node):
            return LateralQuery(self.subquery(query, scope, around))
        query = _without_order(query)
        if isinstance(query, syntax.Ordered):
            if kind is syntax.JoinKind.LEFT:
                raise _refused(query, scope, alone)
            return LateralQuery(self._first_rows(query, scope, around, alone))
        if isinstance(query, syntax.Select):
            if not query.from_:
                raise _refused(query, scope, alone, "without FROM")
            if self._is_one_group(query):
                aggregate, made, correlated = self._aggregated(query, scope, around, alone)
                values = BoundSubquery(
                    aggregate.input, correlated, made.expressions, made.schema.names
                )
                return LateralQuery(values, aggregate)
        return LateralQuery(self.subquery(query, scope, around))

    def _first_rows(
        self, query: syntax.Ordered, scope: Scope, around: Node, error: ValidationError
    ) -> BoundSubquery:
        """Return the first rows of a query for each row around it."""
        written = query.order_by and query.limit is not None and query.offset is None
        if not written or self._settings.batch:
            raise _refused(query, scope, error)
        found = self.subquery(query.query, scope, around, apart=True)
        if not _takes_first(found, around):
            raise _refused(query, scope, error)
        keys = [pair[0] for pair in map(equality, found.correlated) if pair is not None]
        width = len(found.names)
        names = unique_names((*found.names, *(f"$k{at}" for at in range(len(keys)))))
        node: Node = project(found.node, [*found.values, *keys], names)
        types = node.schema.types
        values = Schema(found.names, types[:width])
        binder = ExpressionBinder(Scope.of(values), self._functions)
        number = OverCall(
            AggregateCall(Call("ROW_NUMBER", ())), OverWindow(order_by=query.order_by)
        )
        partition = [InputRef(kind, width + at) for at, kind in enumerate(types[width:])]
        numbered, columns = with_overs(node, binder, self._functions, [number], {}, partition)
        limit = Constant(columns[number].type, count_of(query.limit, "LIMIT"))
        within = invoke(builtin_functions()["<="], [columns[number], limit])
        kept = Filter(numbered.schema, numbered, within)
        everything = [InputRef(kind, at) for at, kind in enumerate(types)]
        node = project(kept, everything, names)
        inside = Inside(node, NestedScope(()), found.correlated)
        return BoundSubquery(node, inside.grouped(node), tuple(everything[:width]), found.names)

    def _is_one_group(self, query: syntax.Select) -> bool:
        """True for an aggregate of all rows that a query reads, and nothing else."""
        plain = query.group_by is None and query.having is None and not query.distinct
        return plain and self._is_grouped(query) and not list(over_calls(query.items))

    def _aggregated(
        self, query: syntax.Select, scope: Scope, around: Node | None, error: ValidationError
    ) -> tuple[Aggregate, Project, tuple[Typed, ...]]:
        """Return the aggregate of what belongs to a row, what is selected of it, and conditions."""
        inside = self._inside(query, scope, around, error, apart=True)
        binder = AggregatingBinder(inside.scope, self._functions, ())
        for item in query.items:
            binder.bind(item)
        aggregate = binder.node(inside.node)
        return aggregate, sql_projection(aggregate, binder, query.items), inside.correlated

    def _with_value(
        self, node: Node, binder: ExpressionBinder, subquery: Subquery
    ) -> tuple[Node, Typed]:
        scope, query = binder.scope, _without_order(subquery.query)
        alone = self._alone(subquery.query)
        if isinstance(alone, Node):
            return with_value(node, _one_column(alone, subquery))
        around = None if isinstance(binder, AggregatingBinder) else node
        if isinstance(query, syntax.Select) and self._is_one_group(query) and len(query.items) == 1:
            aggregate, made, correlated = self._aggregated(query, scope, around, alone)
            return with_correlated_value(node, aggregate, made.expressions[0], correlated)
        found = self.subquery(query, scope, around, apart=True)
        _one_column(project(found.node, found.values, found.names), subquery)
        value = single_value(found.node, found.values[0])
        column = InputRef(value.schema.types[0], 0)
        return with_correlated_value(node, value, column, found.correlated)

    def _is_grouped(self, query: syntax.Select) -> bool:
        if query.group_by is not None or query.having is not None:
            return True
        return any(contains_aggregate(item, self._functions) for item in query.items)

    def _values(self, query: syntax.Values) -> Node:
        binder = ExpressionBinder(Scope(()), self._functions)
        for row in query.rows:
            check_no_null(row)
        rows = [[binder.bind(item) for item in row] for row in query.rows]
        if len({len(row) for row in rows}) > 1:
            raise invalid("Values passed to VALUES operator must have compatible types", query.span)
        types = []
        for column in zip(*rows):
            common = least_restrictive([item.type for item in column])
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
        return self._with_definitions(query).bind(query.query)

    def _with_definitions(self, query: syntax.With) -> QueryBinder:
        """Return the binder of the query for which others are given names."""
        named = dict(self._named)
        for name, columns, definition in query.definitions:
            binder = QueryBinder(self._catalog, self._functions, self._settings, named)
            node = binder.bind(definition)
            named[name] = renamed(node, columns) if columns else node
        return QueryBinder(self._catalog, self._functions, self._settings, named)

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
            if isinstance(expression, Literal) and type(expression.value) is int:
                if not 1 <= expression.value <= len(node.schema):
                    raise invalid("Ordinal out of range", expression.span)
                expression = Name((node.schema.names[expression.value - 1],))
            elif isinstance(expression, Name) and _is_selected(expression, query.query):
                expression = replace(
                    expression, parts=expression.parts[-1:], spans=expression.spans[-1:]
                )
            items.append(replace(item, expression=expression))
        if isinstance(query.query, syntax.Select) and not query.query.distinct:
            hidden = self._hidden_columns(node, query.query, items)
            if hidden is not None:
                return hidden
        return sorted_node(node, binder, items)

    def _hidden_columns(
        self, node: Node, select: syntax.Select, items: list[SortItem]
    ) -> Node | None:
        """Return an order by what is not selected, or None if all is."""
        names = node.schema.names
        grouped = self._is_grouped(select)
        added: list[Expression] = []
        order = []
        for index, item in enumerate(items):
            missing = [part for part in _names(item.expression) if part.parts[0] not in names]
            if missing and not grouped and all(len(part.parts) == 1 for part in missing):
                added += missing
            elif missing or self._needs_input(item.expression):
                added.append(Alias(item.expression, (f"$order{index}",)))
                item = replace(item, expression=Name((f"$order{index}",)))
            order.append(item)
        if not added:
            return None
        wide = self.bind(replace(select, items=(*select.items, *added)))
        binder = ExpressionBinder(Scope.of(wide.schema), self._functions)
        ordered = sorted_node(wide, binder, order)
        columns = [InputRef(kind, index) for index, kind in enumerate(node.schema.types)]
        return project(ordered, columns, names)

    def _needs_input(self, expression: Expression) -> bool:
        """True for an expression that the columns of a result are not enough for."""
        queries_in_it = next(subqueries(expression), None) is not None
        return queries_in_it or contains_aggregate(expression, self._functions)

    def _folded(self, expression: Typed) -> Typed:
        return folded(expression, self._settings.time_zone)


def _is_selected(name: Name, query: syntax.Query) -> bool:
    """True for the qualified name of a column whose last part is the name of that result."""
    if len(name.parts) == 1:
        return False
    if not isinstance(query, syntax.Select) or query.distinct:
        return True
    return any(isinstance(item, Name) and item.parts == name.parts for item in query.items)


def _names(expression: Expression) -> list[Name]:
    return [part for part in parts(expression) if isinstance(part, Name)]


def values(schema: Schema, rows: list[list[Typed]]) -> Node:
    """Return rows of expressions without columns."""
    if all(isinstance(item, Constant) for row in rows for item in row):
        constants = tuple(
            tuple(item.value for item in row if isinstance(item, Constant)) for row in rows
        )
        return Values(schema, constants)
    nodes = tuple(converted(project(ONE_ROW, row, schema.names), schema) for row in rows)
    return nodes[0] if len(nodes) == 1 else Union(schema, nodes)


def _without_order(query: syntax.Query) -> syntax.Query:
    """Return a query without an order that nobody sees."""
    if isinstance(query, syntax.Ordered) and query.limit is None and query.offset is None:
        return query.query
    return query


def _takes_first(found: BoundSubquery, around: Node) -> bool:
    """True for the Top-N that Flink makes of LATERAL: the first rows for each key of a table.

    Args:
        found: the rows and columns of the table.
        around: the keys.
    """
    around = _without_projections(around)
    if not isinstance(around, Aggregate) or around.calls:
        return False
    table, same = _without_projections(around.input), _without_projections(found.node)
    if not isinstance(table, TableScan) or not isinstance(same, TableScan):
        return False
    columns = all(isinstance(value, InputRef) for value in found.values)
    return columns and table.path == same.path and len(found.correlated) == len(around.keys)


def _without_projections(node: Node) -> Node:
    while isinstance(node, Project):
        node = node.input
    return node


def _refused(
    query: syntax.Query, scope: Scope, error: ValidationError, where: str = ""
) -> Exception:
    """Return the error for columns from around a query where they cannot be used.

    Args:
        query: the query.
        scope: the columns around it.
        error: why it is no query of its own.
        where: what cannot use them; empty for what the query does.
    """
    for name in names_in(query):
        column = resolved(scope, name)
        told = ".".join(name.parts)
        qualified = len(name.parts) > 1 and scope.has_table(name.parts[:-1])
        if column is not None and (qualified or f"Column '{told}'" in str(error)):
            place = "" if name.span is None else f" at {name.span.place()}"
            where = where or "with LIMIT, in a set operation, in ON or deeper in FROM"
            return TableError(
                f"unexpected correlate variable in the plan: '{told}'{place} is a column of the "
                f"query around this one, which cannot be used {where}. Join the tables instead."
            )
    return error


def conjuncts(node: object) -> list[Any]:
    """Return the parts that all have to be TRUE for a condition as written to be TRUE."""
    if isinstance(node, Call) and node.name == "AND":
        return [part for arg in node.args for part in conjuncts(arg)]
    return [node]


def _membership(part: object) -> tuple[Subquery, bool] | None:
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


_TRUE = Constant(logical.BOOLEAN.with_nullable(False), True)
