"""Expressions before names are resolved, from the parser or from calls of the DSL."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.types.logical import LogicalType

if TYPE_CHECKING:
    from pyflink_on_spark._sql.syntax.queries import Query


@dataclass(frozen=True, slots=True)
class Expression:
    """An expression.

    Args:
        span: where it is in a SQL text; None in the DSL.
    """

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Name(Expression):
    """A column, perhaps with its table before it or a field after it: ``a``, ``t.a``, ``a.f``.

    Args:
        parts: at least one.
        spans: where each part is; empty in the DSL.
    """

    parts: tuple[str, ...]
    spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Star(Expression):
    """All columns, or those of one table.

    Args:
        qualifier: the table's name, or nothing.
    """

    qualifier: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Literal(Expression):
    """A constant.

    Args:
        value: in the form that values have inside a query.
        type: its type.
    """

    value: Any
    type: LogicalType


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A function or an operator.

    Args:
        name: a function's name as it was written, an operator's symbol (``+``, ``AND``,
            ``IS NULL``, ``NOT LIKE``), or one of the constructors ``ARRAY``, ``MAP`` and ``ROW``.
        args: the operands.
        function: the function itself, if the DSL has it at hand, or None.
        symbols: keywords among the arguments, as ``TRIM``'s LEADING or a unit of time.
    """

    name: str
    args: tuple[Expression, ...] = ()
    function: Any = None
    symbols: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AggregateCall(Expression):
    """A call with what only aggregate functions have.

    Args:
        call: the function and its arguments.
        distinct: whether equal arguments count once.
        filter: which rows count, or None for all.
        order_by: the order within a group.
        star: whether the argument is ``*``.
        nulls: ``IGNORE`` or ``RESPECT``, or None.
    """

    call: Call
    distinct: bool = False
    filter: Expression | None = None
    order_by: tuple[SortItem, ...] = ()
    star: bool = False
    nulls: str | None = None


@dataclass(frozen=True, slots=True)
class OverCall(Expression):
    """An aggregate or ranking function over a window of rows.

    Args:
        call: the function.
        window: the window, or the name of one that the query defines.
    """

    call: AggregateCall
    window: OverWindow | str


@dataclass(frozen=True, slots=True)
class OverWindow:
    """A window of rows around each row.

    Args:
        partition_by: rows with equal values are together.
        order_by: the order of rows.
        rows: whether the frame counts rows, and not their values.
        lower: how far it goes back; None: to the first row.
        upper: where it ends; None: at the last row.
        framed: whether a frame was given at all.
    """

    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()
    rows: bool = False
    lower: FrameDistance | FrameEnd | None = None
    upper: FrameDistance | FrameEnd | None = None
    framed: bool = False


class FrameEnd(enum.Enum):
    """Ends of a frame that are no distance."""

    CURRENT_ROW = "CURRENT ROW"
    UNBOUNDED_PRECEDING = "UNBOUNDED PRECEDING"
    UNBOUNDED_FOLLOWING = "UNBOUNDED FOLLOWING"


@dataclass(frozen=True, slots=True)
class FrameDistance(Expression):
    """``distance PRECEDING`` or ``distance FOLLOWING``.

    Args:
        distance: a number of rows, or a difference of values.
        following: whether it counts forward.
    """

    distance: Expression
    following: bool = False


@dataclass(frozen=True, slots=True)
class Cast(Expression):
    """``CAST(operand AS type)`` or ``TRY_CAST``.

    Args:
        operand: what is converted.
        type: to what.
        lenient: whether what cannot be converted is NULL.
    """

    operand: Expression
    type: LogicalType
    lenient: bool = False


@dataclass(frozen=True, slots=True)
class Case(Expression):
    """``CASE``.

    Args:
        branches: conditions and values.
        otherwise: the value if no condition holds, or None for NULL.
        operand: what is compared with the conditions, or None.
    """

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None = None
    operand: Expression | None = None


@dataclass(frozen=True, slots=True)
class Alias(Expression):
    """An expression with names.

    Args:
        operand: the expression.
        names: one, or several for what gives several columns.
    """

    operand: Expression
    names: tuple[str, ...]


class Quantifier(enum.Enum):
    """The use of a query in an expression."""

    SCALAR = "scalar"
    EXISTS = "EXISTS"
    IN = "IN"
    NOT_IN = "NOT IN"


@dataclass(frozen=True, slots=True)
class Subquery(Expression):
    """A query inside an expression.

    Args:
        query: the query.
        quantifier: how it is used.
        operands: what is looked for in it with ``IN``.
    """

    query: Query
    quantifier: Quantifier
    operands: tuple[Expression, ...] = ()


@dataclass(frozen=True, slots=True)
class TableArgument(Expression):
    """``TABLE t PARTITION BY k ORDER BY c`` as the argument of a table function.

    Args:
        query: the table.
        partition_by: which rows belong together.
        order_by: the order of rows.
    """

    query: Query
    partition_by: tuple[Expression, ...] = ()
    order_by: tuple[SortItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Descriptor(Expression):
    """``DESCRIPTOR(c, ...)``: names of columns as an argument.

    Args:
        names: the columns.
    """

    names: tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class NamedArgument(Expression):
    """``name => value`` as an argument.

    Args:
        name: the parameter.
        value: its value.
    """

    name: str
    value: Expression


@dataclass(frozen=True, slots=True)
class SortItem:
    """An item of ``ORDER BY``.

    Args:
        expression: what is compared.
        ascending: from the smallest on.
        nulls_first: whether NULL comes first; None for the default of the direction.
    """

    expression: Expression
    ascending: bool = True
    nulls_first: bool | None = None


def parts_of(
    node: object, *, closed: tuple[type[Expression], ...] = (), into_queries: bool = False
) -> Iterator[Any]:
    """Yield the expressions in a tree, each before those in it.

    Args:
        node: an expression, or a tuple of trees.
        closed: expressions of these classes are yielded, and those in them are not.
        into_queries: whether a query is looked through, too, and not only what stands beside it.
    """
    if isinstance(node, tuple):
        for item in node:
            yield from parts_of(item, closed=closed, into_queries=into_queries)
        return
    if isinstance(node, Expression):
        yield node
        if isinstance(node, closed):
            return
    elif not into_queries or not is_dataclass(node) or isinstance(node, Span | LogicalType):
        return
    for each in fields(node):
        yield from parts_of(getattr(node, each.name), closed=closed, into_queries=into_queries)


def subqueries(node: object) -> Iterator[Subquery]:
    """Yield the queries in expressions."""
    parts = parts_of(node, closed=(Subquery,))
    return (part for part in parts if isinstance(part, Subquery))


def over_calls(node: object) -> Iterator[OverCall]:
    """Yield the functions over windows of rows that expressions use."""
    parts = parts_of(node, closed=(OverCall, Subquery))
    return (part for part in parts if isinstance(part, OverCall))


def json_item(expression: Expression) -> Expression:
    """Return a value of JSON; JSON as a text stands for itself only where JSON is made."""
    if isinstance(expression, Call) and expression.name.upper() == "JSON":
        return replace(expression, name="$JSON")
    return expression
