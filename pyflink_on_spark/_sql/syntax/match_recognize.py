"""MATCH_RECOGNIZE as it is written."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field

from pyflink_on_spark._sql.errors import Span
from pyflink_on_spark._sql.syntax.expressions import Expression, SortItem
from pyflink_on_spark._sql.syntax.queries import Relation


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
