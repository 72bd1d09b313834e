"""Queries inside expressions and after LATERAL become joins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from pyflink_on_spark._sql.binder.expressions import (
    Scope,
    all_of,
    equal_numbers,
    invoke,
    unique_names,
)
from pyflink_on_spark._sql.binder.relations import distinct, filtered, join
from pyflink_on_spark._sql.binder.tables import has_one_row
from pyflink_on_spark._sql.errors import ValidationError, invalid, not_yet
from pyflink_on_spark._sql.functions.catalog import builtin_functions
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    Invocation,
    OuterRef,
    Typed,
    rewrite,
    shifted,
    substitute,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import (
    Aggregate,
    Node,
    Project,
    Schema,
    SemiJoin,
    Values,
    project,
)
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import Quantifier
from pyflink_on_spark._sql.syntax.queries import JoinKind
from pyflink_on_spark._sql.types import logical

_COUNT = logical.BIGINT.with_nullable(False)


@dataclass(frozen=True)
class NestedScope(Scope):
    """The tables of a query inside another one, whose columns it can use as well.

    Args:
        outer: the tables around it.
        known: the columns around it that rows of the query have as their own, by position; None
            if it has none of them.
    """

    outer: Scope = field(default_factory=lambda: Scope(()))
    known: Mapping[int, Typed] | None = None

    def resolve(self, name: syntax.Name) -> Typed:
        """Return the column of a name; those of this query come first.

        Raises:
            ValidationError: no column matches, or more than one.
        """
        try:
            return super().resolve(name)
        except ValidationError:
            found = self._around(name)
            if found is None:
                raise
            return found

    def _around(self, name: syntax.Name) -> Typed | None:
        found = resolved(self.outer, name)
        known = self.known
        if found is None or is_correlated(found):
            return None
        if known is None:
            return rewrite(
                found,
                lambda part: (
                    OuterRef(part.type, part.index) if isinstance(part, InputRef) else None
                ),
            )
        if any(isinstance(part, InputRef) and part.index not in known for part in walk(found)):
            return None
        return rewrite(
            found, lambda part: known[part.index] if isinstance(part, InputRef) else None
        )


def resolved(scope: Scope, name: syntax.Name) -> Typed | None:
    """Return the column that a scope has for a name, or None."""
    try:
        return scope.resolve(name)
    except ValidationError:
        return None


def names_in(node: object) -> Iterator[syntax.Name]:
    """Yield the names in expressions and queries, also in those inside of them."""
    parts = syntax.parts_of(node, into_queries=True)
    return (part for part in parts if isinstance(part, syntax.Name))


def columns_around(node: object, own: Scope, outer: Scope) -> tuple[int, ...]:
    """Return the positions of the columns of an outer query that names mean.

    Args:
        node: expressions and queries.
        own: the tables that come first.
        outer: the tables around them.
    """
    found = []
    for name in names_in(node):
        if resolved(own, name) is None and (column := resolved(outer, name)) is not None:
            found += [part.index for part in walk(column) if isinstance(part, InputRef)]
    return tuple(dict.fromkeys(found))


@dataclass(frozen=True)
class BoundSubquery:
    """A query inside another one.

    Args:
        node: what it reads, with what of its conditions is about its own columns alone.
        correlated: its conditions that use columns from around it.
        values: what it selects, over the columns of the node.
        names: of what it selects.
    """

    node: Node
    correlated: tuple[Typed, ...]
    values: tuple[Typed, ...]
    names: tuple[str, ...] = ()

    @property
    def uses_outer(self) -> bool:
        """True if the query has different rows for different rows around it."""
        return bool(self.correlated) or any(map(is_correlated, self.values))

    def joined(self, expression: Typed, width: int, before: int = 0) -> Typed:
        """Return a condition over the columns around the query, followed by those of its node.

        Args:
            expression: the condition.
            width: how many columns there are around it.
            before: how many others stand before those of its node.
        """
        return _joined(shifted(expression, before), width)


@dataclass(frozen=True)
class Inside:
    """The rows that a query inside another one reads.

    Args:
        node: the rows.
        scope: their columns, and those around them.
        correlated: the conditions that use columns from around the query.
    """

    node: Node
    scope: NestedScope
    correlated: tuple[Typed, ...]

    @property
    def keys(self) -> tuple[Typed, ...]:
        """The expressions in which rows of the query are equal that belong together."""
        return tuple(pair[0] for pair in map(equality, self.correlated) if pair is not None)

    def grouped(self, node: Node) -> tuple[Typed, ...]:
        """Return the conditions for groups whose columns end with the keys of their rows."""
        start = len(node.schema) - len(self.correlated)
        return tuple(
            _equal(condition, InputRef(node.schema.types[start + index], start + index))
            for index, condition in enumerate(self.correlated)
        )


def _equal(condition: Typed, key: Typed) -> Typed:
    """Return a condition of equality with another key of the query."""
    pair = equality(condition)
    assert pair is not None
    return invoke(builtin_functions()[pair[2]], [pair[1], key])


def with_outer_values(
    node: Node, around: Node, places: tuple[int, ...]
) -> tuple[Node, dict[int, Typed], tuple[Typed, ...]]:
    """Return the rows of a query once for all different values of columns around it.

    Args:
        node: what the query reads.
        around: the rows around the query.
        places: the positions of the columns.

    Returns:
        The rows, with the values after their columns; these, by position around the query; and
        the conditions for the rows that belong to a row around it.
    """
    width = len(node.schema)
    types = [around.schema.types[place].plain() for place in places]
    chosen = [InputRef(around.schema.types[place], place) for place in places]
    names = tuple(f"$outer{place}" for place in places)
    values = distinct(Project(Schema(names, tuple(types)), around, tuple(chosen)))
    if not node.schema.names and isinstance(node, Values):
        made: Node = values
    else:
        made = join(node, values, JoinKind.CROSS, None)
    columns = [InputRef(kind, width + index) for index, kind in enumerate(types)]
    same = builtin_functions()["IS NOT DISTINCT FROM"]
    conditions = [
        invoke(same, [OuterRef(kind, place), column])
        for place, kind, column in zip(places, types, columns)
    ]
    return made, dict(zip(places, columns)), tuple(conditions)


@dataclass(frozen=True)
class CorrelatedKeys:
    """Groups of the rows of a query, of which each belongs to equal values around it.

    Args:
        grouped: the groups.
        own: what the groups are made of, over the columns of the query.
        outer: what each has to be equal to, over the columns around the query.
        types: the types of the keys.
        signs: the operators that compare them.
    """

    grouped: Aggregate
    own: tuple[Typed, ...]
    outer: tuple[Typed, ...]
    types: tuple[logical.LogicalType, ...]
    signs: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the keys, which come first."""
        return self.grouped.schema.names[: len(self.own)]

    def conditions(self, place: int) -> tuple[Typed, ...]:
        """Return the conditions of a join.

        Args:
            place: the position of the first key among all columns.
        """
        functions = builtin_functions()
        return tuple(
            invoke(functions[sign], [one, InputRef(kind, place + index)])
            for index, (one, kind, sign) in enumerate(zip(self.outer, self.types, self.signs))
        )


def correlated_keys(aggregate: Aggregate, correlated: tuple[Typed, ...]) -> CorrelatedKeys:
    """Return the aggregate of a query for each group that belongs to equal values around it.

    Args:
        aggregate: of all rows that the query reads.
        correlated: which rows of the query belong to a row around it; equalities.
    """
    own: list[Typed] = []
    outer: list[Typed] = []
    signs: list[str] = []
    for condition in correlated:
        pair = equality(condition)
        assert pair is not None
        one, other, sign = pair
        signs.append(sign)
        own.append(one)
        outer.append(rewrite(other, lambda part: _joined(part, 0) if is_ref(part) else None))
    names = tuple(f"$k{index}" for index in range(len(own)))
    types = tuple(key.type.plain() for key in own)
    schema = Schema((*names, *aggregate.schema.names), (*types, *aggregate.schema.types))
    grouped = Aggregate(schema, aggregate.input, tuple(own), aggregate.calls)
    return CorrelatedKeys(grouped, tuple(own), tuple(outer), types, tuple(signs))


def is_correlated(expression: Typed) -> bool:
    """True for an expression with columns of an outer query."""
    return any(isinstance(part, OuterRef) for part in walk(expression))


def semi_join(
    node: Node, operands: list[Typed], found: BoundSubquery, part: syntax.Subquery, *, anti: bool
) -> SemiJoin:
    """Return the rows of a node for which ``IN`` or ``EXISTS`` with a query is TRUE.

    Args:
        node: the node.
        operands: what is looked for in the query; nothing for ``EXISTS``.
        found: the query.
        part: the expression.
        anti: whether it is ``NOT IN`` or ``NOT EXISTS``.

    Raises:
        ValidationError: there are not as many operands as columns.
    """
    functions = builtin_functions()
    width = len(node.schema)
    conditions = [_joined(item, width) for item in found.correlated]
    if operands or part.quantifier in {Quantifier.IN, Quantifier.NOT_IN}:
        if len(operands) != len(found.values) or any(map(_is_object, operands)):
            raise invalid("Values passed to IN operator must have compatible types", part.span)
        for operand, value in zip(operands, found.values):
            other = _joined(value, width)
            condition = invoke(functions["="], equal_numbers([operand, other]), span=part.span)
            if anti:
                for side in (operand, other):
                    if side.type.nullable:
                        unknown = invoke(functions["IS NULL"], [side])
                        condition = invoke(functions["OR"], [condition, unknown])
            conditions.append(condition)
    return SemiJoin(node.schema, node, found.node, all_of(conditions), anti)


def _is_object(expression: Typed) -> bool:
    return expression.type.root is logical.Root.STRUCTURED


def _joined(expression: Typed, width: int) -> Typed:
    """Return a condition over the columns around a query, followed by those of the query."""

    def change(part: Typed) -> Typed | None:
        if isinstance(part, OuterRef):
            return InputRef(part.type, part.index)
        if isinstance(part, InputRef):
            return InputRef(part.type, width + part.index)
        return None

    return rewrite(expression, change)


# -- one value -----------------------------------------------------------------------------------


def with_value(node: Node, found: Node) -> tuple[Node, Typed]:
    """Return the rows of a node with the value of a query that has one row at most.

    Args:
        node: the node.
        found: the query, with one column.
    """
    kind = found.schema.types[0]
    single = found if has_one_row(found) else single_value(found, InputRef(kind, 0))
    return _left_joined(node, single, None, len(single.schema) - 1)


def with_membership(
    node: Node, operands: Sequence[Typed], found: Node, part: syntax.Subquery
) -> tuple[Node, Typed]:
    """Return the rows of a node with whether ``IN`` or ``EXISTS`` with a query is TRUE for them.

    Args:
        node: the node.
        operands: what is looked for in the query; nothing for ``EXISTS``.
        found: the query.
        part: the expression.

    Raises:
        ValidationError: there are not as many operands as columns.
    """
    functions = builtin_functions()
    zero = Constant(_COUNT, 0)
    node, rows = with_value(node, _counted(found, None))
    rows = invoke(functions["COALESCE"], [rows, zero])
    if part.quantifier is Quantifier.EXISTS:
        return node, invoke(functions[">"], [rows, zero])
    if len(operands) != len(found.schema) or any(map(_is_object, operands)):
        raise invalid("Values passed to IN operator must have compatible types", part.span)
    if len(operands) > 1:
        not_yet("IN of several values in such a place", part.span, "Join the query.")
    (operand,) = operands
    node, known = with_value(node, _counted(found, InputRef(found.schema.types[0], 0)))
    known = invoke(functions["COALESCE"], [known, zero])
    values = distinct(found)
    width = len(node.schema)
    kind = values.schema.types[0]
    both = equal_numbers([operand, InputRef(kind, width)])
    condition = invoke(functions["="], both, span=part.span)
    node, partner = _left_joined(node, values, condition, 0)
    return node, _membership(operand, [rows, known], partner, part)


def _membership(
    operand: Typed, counts: Sequence[Typed], partner: Typed, part: syntax.Subquery
) -> Typed:
    """Return whether a value is in a query.

    Args:
        operand: the value.
        counts: how many rows the query has, and in how many the column is not NULL.
        partner: the value if the query has it, or NULL.
        part: the expression.
    """
    functions = builtin_functions()
    rows, known = counts
    zero = Constant(_COUNT, 0)
    unknown, true, false = (Constant(logical.BOOLEAN, each) for each in (None, True, False))
    is_null = functions["IS NULL"]
    result = invoke(
        functions["CASE"],
        [
            invoke(functions["="], [rows, zero]), false,
            invoke(is_null, [operand]), unknown,
            invoke(functions["IS NOT NULL"], [partner]), true,
            invoke(functions["<"], [known, rows]), unknown,
            false,
        ],
    )  # fmt: skip
    if part.quantifier is Quantifier.NOT_IN:
        return invoke(functions["NOT"], [result])
    return result


def _counted(found: Node, value: Typed | None) -> Node:
    """Return how many rows a query has, or how many of them have a value."""
    return Aggregate(Schema(("$count",), (_COUNT,)), found, (), (_count(value),))


def _count(value: Typed | None) -> AggregateInvocation:
    function = builtin_functions()["COUNT"]
    args = () if value is None else (value,)
    overload = next(each for each in function.overloads if each.takes(len(args)))
    return AggregateInvocation(_COUNT, function, overload, args)


def with_correlated_membership(
    node: Node, operand: Typed, found: BoundSubquery, part: syntax.Subquery
) -> tuple[Node, Typed]:
    """Return the rows of a node with whether ``IN`` with a query about each of them is TRUE.

    Args:
        node: the node.
        operand: what is looked for in the query.
        found: the query.
        part: the expression.
    """
    functions = builtin_functions()
    (value,) = found.values
    rows, known = _count(None), _count(value)
    counted = Aggregate(
        Schema(("$rows", "$known"), (_COUNT, _COUNT)), found.node, (), (rows, known)
    )
    keys = correlated_keys(counted, found.correlated)
    joined = _belonging(node, keys, keys.grouped)
    first = len(node.schema) + len(keys.own)
    counts = [or_zero(InputRef(joined.schema.types[at], at)) for at in (first, first + 1)]
    kind = value.type.plain()
    schema = Schema((*keys.names, "$value"), (*keys.types, kind))
    values = distinct(Project(schema, found.node, (*keys.own, value)))
    place = len(joined.schema)
    both = equal_numbers([operand, InputRef(kind, place + len(keys.own))])
    equal = invoke(functions["="], both, span=part.span)
    condition = all_of([*keys.conditions(place), equal])
    joined, partner = _left_joined(joined, values, condition, len(keys.own))
    return joined, _membership(operand, counts, partner, part)


def with_correlated_value(
    node: Node, aggregate: Aggregate, value: Typed, correlated: tuple[Typed, ...]
) -> tuple[Node, Typed]:
    """Return the rows of a node with a value that is aggregated for each of them.

    Args:
        node: the node.
        aggregate: of all rows that the query reads.
        value: over the columns of the aggregate.
        correlated: which rows of the query belong to a row of the node; equalities.
    """
    keys = correlated_keys(aggregate, correlated)
    joined = _belonging(node, keys, keys.grouped)
    return joined, of_no_rows_too(value, aggregate, joined, len(node.schema) + len(keys.own))


def of_no_rows_too(value: Typed, aggregate: Aggregate, joined: Node, place: int) -> Typed:
    """Return a value of an aggregate where a row may have no group: then counts are 0.

    Args:
        value: over the columns of the aggregate.
        aggregate: without keys.
        joined: rows with the columns of the aggregate, or NULL.
        place: where these begin.
    """

    def change(part: Typed) -> Typed | None:
        if not isinstance(part, InputRef):
            return None
        column = InputRef(joined.schema.types[place + part.index], place + part.index)
        counts = aggregate.calls[part.index].function.name == "COUNT"
        return or_zero(column) if counts else column

    return rewrite(value, change)


def with_correlated_existence(node: Node, found: BoundSubquery) -> tuple[Node, Typed]:
    """Return the rows of a node with whether a query has rows for each of them.

    Args:
        node: the node.
        found: the query; its conditions are equalities.
    """
    keys = correlated_keys(Aggregate(Schema((), ()), found.node, (), ()), found.correlated)
    there = Constant(logical.BOOLEAN.with_nullable(False), True)
    columns = [InputRef(kind, index) for index, kind in enumerate(keys.types)]
    schema = Schema((*keys.names, "$there"), (*keys.types, there.type))
    values = Project(schema, keys.grouped, (*columns, there))
    joined = _belonging(node, keys, values)
    place = len(joined.schema) - 1
    column = InputRef(joined.schema.types[place], place)
    return joined, invoke(builtin_functions()["IS NOT NULL"], [column])


def _belonging(node: Node, keys: CorrelatedKeys, groups: Node) -> Node:
    """Return the rows of a node with the group that belongs to each, or NULL."""
    return join(node, groups, JoinKind.LEFT, all_of(keys.conditions(len(node.schema))))


def is_ref(part: Typed) -> bool:
    """True for a column of an outer query."""
    return isinstance(part, OuterRef)


def _left_joined(
    node: Node, found: Node, condition: Typed | None, index: int
) -> tuple[Node, Typed]:
    joined = join(node, found, JoinKind.LEFT, condition)
    # The rows of the node are all there, in the same order of columns, with their times.
    place = len(node.schema) + index
    return joined, InputRef(joined.schema.types[place], place)


def equality(condition: Typed) -> tuple[Typed, Typed, str] | None:
    """Return the equal expressions inside and outside of a query, and the operator.

    Args:
        condition: the condition.

    Returns:
        None if the condition is another one.
    """
    if not isinstance(condition, Invocation):
        return None
    sign = condition.function.name
    if sign not in {"=", "IS NOT DISTINCT FROM"}:
        return None
    one, two = condition.args
    if is_correlated(one):
        one, two = two, one
    from_around = is_correlated(two) and not any(isinstance(part, InputRef) for part in walk(two))
    own = any(isinstance(part, InputRef) for part in walk(one))
    return (one, two, sign) if from_around and own and not is_correlated(one) else None


def or_zero(count: Typed) -> Typed:
    """Return a count that is 0 instead of NULL."""
    return invoke(builtin_functions()["COALESCE"], [count, Constant(_COUNT, 0)])


def single_value(node: Node, value: Typed) -> Aggregate:
    """Return the value that an expression has for the only row of a node."""
    function = builtin_functions()["$SINGLE_VALUE"]
    kind = value.type.plain().with_nullable(True)
    call = AggregateInvocation(kind, function, function.overloads[0], (value,))
    return Aggregate(Schema(("$value",), (kind,)), node, (), (call,))


# -- LATERAL -------------------------------------------------------------------------------------

_THERE = Constant(logical.BOOLEAN.with_nullable(False), True)


@dataclass(frozen=True)
class LateralQuery:
    """A query after LATERAL.

    Args:
        found: the query; without conditions it has the same rows for all rows before it.
        aggregate: of all its rows, if it is that: what it selects is over the aggregate's columns.
    """

    found: BoundSubquery
    aggregate: Aggregate | None = None

    def named(self, columns: Sequence[str]) -> LateralQuery:
        """Return the same with other names, if there are any."""
        if not columns:
            return self
        return replace(self, found=replace(self.found, names=tuple(columns)))

    def after(self, node: Node, kind: JoinKind, condition: Typed | None) -> Node:
        """Return the rows of a node with those of the query.

        Args:
            node: the rows before it.
            kind: INNER, CROSS or LEFT.
            condition: of ON, over the columns of both; None for all pairs.
        """
        if self.aggregate is not None:
            return self._aggregated(self.aggregate, node, kind, condition)
        found, width = self.found, len(node.schema)
        inner, values = found.node, [found.joined(value, width) for value in found.values]
        conditions = [found.joined(each, width) for each in found.correlated]
        if condition is not None:
            before = [InputRef(type_, index) for index, type_ in enumerate(node.schema.types)]
            conditions.append(substitute(condition, (*before, *values)))
        if kind is JoinKind.LEFT and not all(isinstance(each, InputRef) for each in found.values):
            own = [InputRef(type_, index) for index, type_ in enumerate(inner.schema.types)]
            inner = project(inner, [*own, _THERE], unique_names((*inner.schema.names, "$there")))
            place = width + len(own)
            there = InputRef(_THERE.type.with_nullable(True), place)
            values = [_where_there(value, there) for value in values]
        made = join(node, inner, kind, all_of(conditions))
        return self._selected(node, made, [_retyped(value, made.schema) for value in values])

    def _aggregated(
        self, aggregate: Aggregate, node: Node, kind: JoinKind, condition: Typed | None
    ) -> Node:
        """Return the rows of a node with one row of the query for each.

        A row to which nothing belongs has no partner, as in Flink; after LEFT JOIN its counts
        are 0.
        """
        width = len(node.schema)
        keys = correlated_keys(aggregate, self.found.correlated)
        made = join(node, keys.grouped, kind, all_of(keys.conditions(width)))
        place = width + len(keys.own)
        values = [of_no_rows_too(each, aggregate, made, place) for each in self.found.values]
        selected = self._selected(node, made, values)
        if condition is None:
            return selected
        if kind is not JoinKind.LEFT:
            return filtered(selected, _retyped(condition, selected.schema))
        columns = [InputRef(type_, index) for index, type_ in enumerate(selected.schema.types)]
        kept = _retyped(condition, selected.schema)
        shown = [_where_there(column, kept, known=False) for column in columns[width:]]
        return project(selected, [*columns[:width], *shown], selected.schema.names)

    def _selected(self, node: Node, made: Node, values: Sequence[Typed]) -> Node:
        columns = [InputRef(made.schema.types[index], index) for index in range(len(node.schema))]
        names = unique_names((*node.schema.names, *self.found.names))
        return project(made, [*columns, *values], names)

    @property
    def schema(self) -> Schema:
        """The columns of the query."""
        return Schema(self.found.names, tuple(value.type for value in self.found.values))


def _where_there(value: Typed, there: Typed, *, known: bool = True) -> Typed:
    """Return a value where a row has a partner, else NULL.

    Args:
        value: the value.
        there: a column that is NULL without a partner, or a condition.
        known: whether it is the column.
    """
    functions = builtin_functions()
    condition = invoke(functions["IS NOT NULL"], [there]) if known else there
    return invoke(
        functions["CASE"], [condition, value, Constant(value.type.with_nullable(True), None)]
    )


def _retyped(expression: Typed, schema: Schema) -> Typed:
    """Return an expression over columns that may have become nullable."""
    columns = tuple(InputRef(kind, index) for index, kind in enumerate(schema.types))
    return substitute(expression, columns)
