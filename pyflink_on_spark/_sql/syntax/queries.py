"""Queries as they are written, MATCH_RECOGNIZE among them."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.syntax.expressions import Call, Expression, Name, OverWindow, SortItem


@dataclass(frozen=True, slots=True)
class Query:
    """Something that gives rows.

    Args:
        span: where it is in a SQL text.
    """

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Values(Query):
    """``VALUES (1, 'a'), (2, 'b')``.

    Args:
        rows: the expressions of each row.
    """

    rows: tuple[tuple[Expression, ...], ...]


@dataclass(frozen=True, slots=True)
class Select(Query):
    """A ``SELECT``.

    Args:
        items: what is selected.
        distinct: whether equal rows come once.
        from_: the tables, which a comma separates.
        where: the condition, or None.
        group_by: what groups are made of; None without ``GROUP BY``.
        having: the condition for groups, or None.
        windows: the windows that the query names.
    """

    items: tuple[Expression, ...]
    distinct: bool = False
    from_: tuple[Relation, ...] = ()
    where: Expression | None = None
    group_by: tuple[GroupItem, ...] | None = None
    having: Expression | None = None
    windows: tuple[tuple[str, OverWindow], ...] = ()


class Grouping(enum.Enum):
    """Kinds of items of ``GROUP BY``."""

    PLAIN = ""
    ROLLUP = "ROLLUP"
    CUBE = "CUBE"
    SETS = "GROUPING SETS"


@dataclass(frozen=True, slots=True)
class GroupItem:
    """An item of ``GROUP BY``.

    Args:
        kind: what it is.
        sets: one set of one expression if it is plain; else what is in the parentheses.
    """

    kind: Grouping
    sets: tuple[tuple[Expression, ...], ...]


class SetOperator(enum.Enum):
    """The set operators."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True, slots=True)
class SetOperation(Query):
    """Two queries as one.

    Args:
        operator: how.
        left: the first one.
        right: the second one.
        all: whether equal rows count for themselves.
    """

    operator: SetOperator
    left: Query
    right: Query
    all: bool = False


@dataclass(frozen=True, slots=True)
class Ordered(Query):
    """A query with ``ORDER BY``, ``LIMIT`` or ``OFFSET``.

    Args:
        query: the query.
        order_by: the order.
        limit: how many rows, or None for all.
        offset: how many rows to leave out first, or None.
    """

    query: Query
    order_by: tuple[SortItem, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None


@dataclass(frozen=True, slots=True)
class With(Query):
    """A query that others are given names for.

    Args:
        definitions: the names, the names of their columns, and the queries.
        query: the query that uses them.
    """

    definitions: tuple[tuple[str, tuple[str, ...], Query], ...]
    query: Query


@dataclass(frozen=True, slots=True)
class Relation:
    """Something in ``FROM``.

    Args:
        span: where it is in a SQL text.
    """

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class TableReference(Relation):
    """A table or view.

    Args:
        path: its name, perhaps with database and catalog before it.
        options: hints of ``/*+ OPTIONS(...) */``.
        system_time: the time of ``FOR SYSTEM_TIME AS OF``, or None.
    """

    path: tuple[str, ...]
    options: tuple[tuple[str, str], ...] = ()
    system_time: Expression | None = None


@dataclass(frozen=True, slots=True)
class DerivedTable(Relation):
    """A query in parentheses.

    Args:
        query: the query.
        lateral: whether it may use what stands before it.
    """

    query: Query
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class FunctionTable(Relation):
    """``TABLE(f(...))`` or ``LATERAL TABLE(f(...))``.

    Args:
        call: the table function.
        lateral: whether ``LATERAL`` was written.
    """

    call: Call
    lateral: bool = False


@dataclass(frozen=True, slots=True)
class Unnest(Relation):
    """``UNNEST(collection)``.

    Args:
        operand: the collection.
        ordinality: whether a column with positions follows.
    """

    operand: Expression
    ordinality: bool = False


@dataclass(frozen=True, slots=True)
class Aliased(Relation):
    """A relation with names of its own.

    Args:
        relation: the relation.
        name: its name.
        columns: the names of its columns, or nothing.
    """

    relation: Relation
    name: str
    columns: tuple[str, ...] = ()


class JoinKind(enum.Enum):
    """Kinds of joins that can be written."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    CROSS = "CROSS"


@dataclass(frozen=True, slots=True)
class Join(Relation):
    """Two relations side by side.

    Args:
        left: the first one.
        right: the second one.
        kind: which rows are kept.
        on: the condition, or None.
        using: the columns that are in both, or nothing.
        natural: whether those are all with equal names.
    """

    left: Relation
    right: Relation
    kind: JoinKind
    on: Expression | None = None
    using: tuple[Name, ...] = ()
    natural: bool = False


@dataclass(frozen=True, slots=True)
class Pattern:
    """A part of the pattern after PATTERN.

    Args:
        span: where it is in a SQL text.
    """

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Variable(Pattern):
    """A variable.

    Args:
        name: the variable.
    """

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Sequence(Pattern):
    """One pattern after another one.

    Args:
        first: the one.
        then: the other one.
    """

    first: Pattern
    then: Pattern

    def __str__(self) -> str:
        return f"({self.first}, {self.then})"


@dataclass(frozen=True, slots=True)
class Quantified(Pattern):
    """A pattern that repeats.

    Args:
        operand: the pattern.
        least: how often at least; None if it is not written.
        most: how often at most; None for any number.
        reluctant: whether it repeats as little as it can.
    """

    operand: Pattern
    least: int | None
    most: int | None
    reluctant: bool

    def __str__(self) -> str:
        least = -1 if self.least is None else self.least
        most = -1 if self.most is None else self.most
        reluctant = str(self.reluctant).lower()
        return f"PATTERN_QUANTIFIER({self.operand}, {least}, {most}, {reluctant})"


class Choice(enum.Enum):
    """Patterns that Flink's parser accepts and Flink's planner refuses."""

    ALTERNATION = "|"
    PERMUTATION = "PATTERN_PERMUTE"
    EXCLUSION = "PATTERN_EXCLUDE"


@dataclass(frozen=True, slots=True)
class Chosen(Pattern):
    """A choice among patterns, or a pattern that is left out of the result.

    Args:
        choice: which.
        operands: the patterns.
    """

    choice: Choice
    operands: tuple[Pattern, ...]

    def __str__(self) -> str:
        return f"{self.choice.value}({', '.join(map(str, self.operands))})"


class After(enum.Enum):
    """The row with which the search continues after a match."""

    PAST_LAST_ROW = "PAST LAST ROW"
    TO_NEXT_ROW = "TO NEXT ROW"
    TO_FIRST = "TO FIRST"
    TO_LAST = "TO LAST"


@dataclass(frozen=True, slots=True)
class MatchRecognize(Relation):
    """``relation MATCH_RECOGNIZE (...)``.

    Args:
        relation: the rows.
        partition_by: what they are together by.
        order_by: their order.
        measures: what a row of the result is made of, with its names.
        all_rows: whether ``ALL ROWS PER MATCH`` is written.
        after: where the search continues after a match.
        target: the variable that ``after`` names, or None.
        pattern: the pattern.
        anchors: ``^`` and ``$`` where they are written, or nothing.
        within: how long a match may take, or None.
        subset: where ``SUBSET`` is written, or None.
        define: the conditions of variables.
    """

    relation: Relation
    partition_by: tuple[Expression, ...]
    order_by: tuple[SortItem, ...]
    measures: tuple[tuple[Expression, str], ...]
    all_rows: bool
    after: After
    target: Variable | None
    pattern: Pattern
    anchors: tuple[Span, ...]
    within: Expression | None
    subset: Span | None
    define: tuple[tuple[Variable, Expression], ...]
