"""Queries become logical plans."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product
from typing import Any

from pyflink_on_spark._sql.binder.aggregates import AggregatingBinder, contains_aggregate, parts
from pyflink_on_spark._sql.binder.expressions import (
    ExpressionBinder,
    Functions,
    Scope,
    calcite_name,
    invoke,
)
from pyflink_on_spark._sql.binder.laterals import LateralQuery, aggregate_of, rows_of
from pyflink_on_spark._sql.binder.nulls import check_no_null
from pyflink_on_spark._sql.binder.projections import (
    count_of,
    limited,
    project,
    renamed,
    sorted_node,
    sql_projection,
)
from pyflink_on_spark._sql.binder.relations import (
    ONE_ROW,
    RelationBinder,
    all_of,
    distinct,
    filtered,
)
from pyflink_on_spark._sql.binder.sets import converted, set_operation, union_all
from pyflink_on_spark._sql.binder.subqueries import (
    BoundSubquery,
    NestedScope,
    is_correlated,
    semi_join,
    single_value,
    subqueries,
    with_correlated_existence,
    with_correlated_value,
    with_membership,
    with_value,
)
from pyflink_on_spark._sql.binder.windows import (
    OverBinder,
    bind_group_window,
    group_window,
    over_calls,
    window_property,
    with_overs,
)
from pyflink_on_spark._sql.catalog import CatalogManager
from pyflink_on_spark._sql.codegen.rows import folded
from pyflink_on_spark._sql.errors import QuerySettings, Span, invalid
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expressions import Constant, InputRef, Typed, convert
from pyflink_on_spark._sql.plan.nodes import (
    Expand,
    Filter,
    Node,
    Project,
    Schema,
    Sort,
    Union,
    Values,
)
from pyflink_on_spark._sql.syntax import queries
from pyflink_on_spark._sql.syntax import queries as syntax
from pyflink_on_spark._sql.syntax.expressions import (
    Alias,
    Call,
    Expression,
    Literal,
    Name,
    OverCall,
    Quantifier,
    SortItem,
    Star,
    Subquery,
)
from pyflink_on_spark._sql.syntax.queries import Grouping, GroupItem
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
            catalog, functions, settings, self._named, self.bind, self._lateral
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

    def _with_values(self, node: Node, binder: ExpressionBinder, expressions: object) -> Node:
        """Return a node with the values of the queries that stand for one in expressions."""
        for subquery in subqueries(expressions):
            if subquery in binder.columns:
                continue
            if subquery.quantifier is Quantifier.SCALAR:
                node, column = self._with_value(node, binder.scope, subquery)
            else:
                node, column = self._with_membership(node, binder, subquery)
            binder.columns[subquery] = column
        return node

    def _with_membership(
        self, node: Node, binder: ExpressionBinder, subquery: Subquery
    ) -> tuple[Node, Typed]:
        operands = [binder.bind(operand) for operand in subquery.operands]
        if subquery.quantifier is Quantifier.EXISTS:
            inside = self._subquery(subquery.query, binder.scope)
            if inside.correlated:
                return with_correlated_existence(node, inside, subquery.span)
        return with_membership(node, operands, self.bind(subquery.query), subquery)

    def _lateral(self, query: syntax.Query, scope: Scope) -> LateralQuery:
        """Return a query that may use the columns of a scope before it."""
        width = scope.width
        plain = isinstance(query, syntax.Select) and not query.distinct and not query.group_by
        if isinstance(query, syntax.Select) and plain and query.having is None:
            inner, rows, correlated = self._inside(query, scope)
            if correlated and not list(over_calls(query.items)):
                if not self._is_grouped(query):
                    made = sql_projection(inner, rows, query.items)
                    found = BoundSubquery(inner, correlated, made.expressions)
                    return rows_of(found, made.schema.names, width, query.span)
                binder = AggregatingBinder(rows.scope, self._functions, ())
                for item in query.items:
                    binder.bind(item)
                aggregate = binder.node(inner)
                made = sql_projection(aggregate, binder, query.items)
                return aggregate_of(
                    aggregate, made.expressions, made.schema.names, correlated, width, query.span
                )
        node = self.bind(query)
        return LateralQuery(node, node.schema.names, ())

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
            elif missing or contains_aggregate(item.expression, self._functions):
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


def is_grouping(node: object) -> bool:
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
        check_no_null(query.items)
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
        written = sets_of(items)
        for keys in written:
            check_no_null(keys)
        sets = [[key for item in each for key in self._keys(item)] for each in written]

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
