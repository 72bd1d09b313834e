"""Queries inside expressions become joins."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields

from pyflink_on_spark._sql.binder.expressions import Scope, invoke
from pyflink_on_spark._sql.binder.relations import all_of, distinct, join
from pyflink_on_spark._sql.binder.tables import has_one_row
from pyflink_on_spark._sql.errors import Span, ValidationError, invalid, not_yet
from pyflink_on_spark._sql.functions.library import builtin_functions
from pyflink_on_spark._sql.plan.expressions import (
    AggregateInvocation,
    Constant,
    InputRef,
    Invocation,
    OuterRef,
    Typed,
    rewrite,
    shifted,
    walk,
)
from pyflink_on_spark._sql.plan.nodes import Aggregate, Node, Project, Schema, SemiJoin
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
    """

    outer: Scope = field(default_factory=lambda: Scope(()))

    def resolve(self, name: syntax.Name) -> Typed:
        """Return the column of a name; those of this query come first.

        Raises:
            ValidationError: no column matches, or more than one.
        """
        try:
            return super().resolve(name)
        except ValidationError:
            try:
                found = self.outer.resolve(name)
            except ValidationError:
                found = None
            if found is None:
                raise
        return rewrite(
            found,
            lambda part: OuterRef(part.type, part.index) if isinstance(part, InputRef) else None,
        )


@dataclass(frozen=True)
class BoundSubquery:
    """A query inside another one.

    Args:
        node: what it reads, with what of its conditions is about its own columns alone.
        correlated: its conditions that use columns from around it.
        values: what it selects, over the columns of the node.
    """

    node: Node
    correlated: tuple[Typed, ...]
    values: tuple[Typed, ...]

    def joined(self, expression: Typed, width: int, before: int = 0) -> Typed:
        """Return a condition over the columns around the query, followed by those of its node.

        Args:
            expression: the condition.
            width: how many columns there are around it.
            before: how many others stand before those of its node.
        """
        moved = rewrite(
            expression,
            lambda part: (
                InputRef(part.type, part.index + before) if isinstance(part, InputRef) else None
            ),
        )
        return _joined(moved, width)


@dataclass(frozen=True)
class CorrelatedKeys:
    """Groups of the rows of a query, of which each belongs to equal values around it.

    Args:
        grouped: the groups.
        own: what the groups are made of, over the columns of the query.
        outer: what each has to be equal to, over the columns around the query.
        types: the types of the keys.
    """

    grouped: Aggregate
    own: tuple[Typed, ...]
    outer: tuple[Typed, ...]
    types: tuple[logical.LogicalType, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the keys, which come first."""
        return self.grouped.schema.names[: len(self.own)]

    def conditions(self, place: int) -> tuple[Typed, ...]:
        """Return the conditions of a join.

        Args:
            place: the position of the first key among all columns.
        """
        equal = builtin_functions()["="]
        return tuple(
            invoke(equal, [one, InputRef(kind, place + index)])
            for index, (one, kind) in enumerate(zip(self.outer, self.types))
        )


def correlated_keys(
    aggregate: Aggregate, correlated: tuple[Typed, ...], span: Span | None
) -> CorrelatedKeys:
    """Return the aggregate of a query for each group that belongs to equal values around it.

    Args:
        aggregate: of all rows that the query reads.
        correlated: which rows of the query belong to a row around it.
        span: where the query is, for messages.
    """
    own: list[Typed] = []
    outer: list[Typed] = []
    for condition in correlated:
        pair = _equality(condition)
        if pair is None:
            not_yet("a query with such a condition on columns from around it", span, "Join it.")
        one, other = pair
        own.append(one)
        outer.append(rewrite(other, lambda part: _joined(part, 0) if is_ref(part) else None))
    names = tuple(f"$k{index}" for index in range(len(own)))
    types = tuple(key.type.plain() for key in own)
    schema = Schema((*names, *aggregate.schema.names), (*types, *aggregate.schema.types))
    grouped = Aggregate(schema, aggregate.input, tuple(own), aggregate.calls)
    return CorrelatedKeys(grouped, tuple(own), tuple(outer), types)


def is_correlated(expression: Typed) -> bool:
    """True for an expression with columns of an outer query."""
    return any(isinstance(part, OuterRef) for part in walk(expression))


def subqueries(node: object) -> Iterator[syntax.Subquery]:
    """Yield the queries in expressions."""
    if isinstance(node, syntax.Subquery):
        yield node
    elif isinstance(node, tuple):
        for item in node:
            yield from subqueries(item)
    elif isinstance(node, syntax.Expression):
        for each in fields(node):
            yield from subqueries(getattr(node, each.name))


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
            condition = invoke(functions["="], [operand, other], span=part.span)
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
    condition = invoke(functions["="], [operand, InputRef(kind, width)], span=part.span)
    node, partner = _left_joined(node, values, condition, 0)
    unknown, true, false = (Constant(logical.BOOLEAN, each) for each in (None, True, False))
    is_null = functions["IS NULL"]
    result = invoke(
        builtin_functions()["CASE"],
        [
            invoke(functions["="], [rows, zero]), false,
            invoke(is_null, [operand]), unknown,
            invoke(functions["IS NOT NULL"], [partner]), true,
            invoke(functions["<"], [known, rows]), unknown,
            false,
        ],
    )  # fmt: skip
    if part.quantifier is Quantifier.NOT_IN:
        result = invoke(functions["NOT"], [result])
    return node, result


def _counted(found: Node, value: Typed | None) -> Node:
    """Return how many rows a query has, or how many of them have a value."""
    function = builtin_functions()["COUNT"]
    args = () if value is None else (value,)
    overload = next(each for each in function.overloads if each.takes(len(args)))
    call = AggregateInvocation(_COUNT, function, overload, args)
    return Aggregate(Schema(("$count",), (_COUNT,)), found, (), (call,))


def with_correlated_value(
    node: Node, aggregate: Aggregate, value: Typed, correlated: tuple[Typed, ...], span: Span | None
) -> tuple[Node, Typed]:
    """Return the rows of a node with a value that is aggregated for each of them.

    Args:
        node: the node.
        aggregate: of all rows that the query reads.
        value: over the columns of the aggregate.
        correlated: which rows of the query belong to a row of the node.
        span: where the query is, for messages.
    """
    keys = correlated_keys(aggregate, correlated, span)
    made = shifted(value, len(keys.own))
    joined, column = _with_key_values(node, keys, made)
    if is_count(value, aggregate):
        column = or_zero(column)
    return joined, column


def with_correlated_existence(
    node: Node, found: BoundSubquery, span: Span | None
) -> tuple[Node, Typed]:
    """Return the rows of a node with whether a query has rows for each of them.

    Args:
        node: the node.
        found: the query.
        span: where the query is, for messages.
    """
    nothing = Aggregate(Schema((), ()), found.node, (), ())
    keys = correlated_keys(nothing, found.correlated, span)
    true = Constant(logical.BOOLEAN.with_nullable(False), True)
    joined, column = _with_key_values(node, keys, true)
    return joined, invoke(builtin_functions()["IS NOT NULL"], [column])


def _with_key_values(node: Node, keys: CorrelatedKeys, value: Typed) -> tuple[Node, Typed]:
    columns = [InputRef(kind, index) for index, kind in enumerate(keys.types)]
    schema = Schema((*keys.names, "$value"), (*keys.types, value.type))
    values = Project(schema, keys.grouped, (*columns, value))
    condition = all_of(keys.conditions(len(node.schema)))
    return _left_joined(node, values, condition, len(columns))


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


def _equality(condition: Typed) -> tuple[Typed, Typed] | None:
    if not isinstance(condition, Invocation) or condition.function.name != "=":
        return None
    one, two = condition.args
    if is_correlated(one):
        one, two = two, one
    from_around = is_correlated(two) and not any(isinstance(part, InputRef) for part in walk(two))
    return (one, two) if from_around and not is_correlated(one) else None


def or_zero(count: Typed) -> Typed:
    """Return a count that is 0 instead of NULL."""
    return invoke(builtin_functions()["COALESCE"], [count, Constant(_COUNT, 0)])


def is_count(value: Typed, aggregate: Aggregate) -> bool:
    """True for a column of an aggregate that counts rows."""
    first = len(aggregate.keys)
    return (
        isinstance(value, InputRef)
        and aggregate.calls[value.index - first].function.name == "COUNT"
    )


def single_value(node: Node, value: Typed) -> Aggregate:
    """Return the value that an expression has for the only row of a node."""
    function = builtin_functions()["$SINGLE_VALUE"]
    kind = value.type.plain().with_nullable(True)
    call = AggregateInvocation(kind, function, function.overloads[0], (value,))
    return Aggregate(Schema(("$value",), (kind,)), node, (), (call,))
