"""MATCH_RECOGNIZE as a logical node: patterns of rows, and the columns that they measure."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from pyflink_on_spark._sql.plan.expressions import AggregateInvocation, InputRef, Typed
from pyflink_on_spark._sql.plan.nodes import SortKey, Unary

ALL_ROWS = "*"
"""Stands for all variables of a pattern, where a column is written without one."""


@dataclass(frozen=True)
class PatternVariable:
    """A variable of a pattern, and how many rows it takes.

    Args:
        name: the variable.
        least: the smallest number of rows.
        most: the largest number of rows; None for any number.
        greedy: whether it takes as many rows as it can.
    """

    name: str
    least: int = 1
    most: int | None = 1
    greedy: bool = True

    @property
    def optional(self) -> bool:
        """True for a variable that may match no row."""
        return self.least == 0


class Skip(enum.Enum):
    """The row with which the search continues after a match."""

    PAST_LAST_ROW = "SKIP PAST LAST ROW"
    TO_NEXT_ROW = "SKIP TO NEXT ROW"
    TO_FIRST = "SKIP TO FIRST"
    TO_LAST = "SKIP TO LAST"


@dataclass(frozen=True)
class RowPattern:
    """The pattern that consecutive rows have to match.

    Args:
        variables: in the order of their rows.
        skip: where the search continues after a match.
        target: the number of the variable that ``skip`` names, or None.
        within: how much later (ms) than the first row the last one is not any more; 0 for no limit.
    """

    variables: tuple[PatternVariable, ...]
    skip: Skip = Skip.TO_NEXT_ROW
    target: int | None = None
    within: int = 0


@dataclass(frozen=True, slots=True)
class MatchedField(Typed):
    """A column of one of the rows that a variable has taken; NULL if there is no such row.

    Args:
        variable: its name, or ``ALL_ROWS``.
        column: the position of the column.
        first: whether rows are counted from the first one, and not from the last one.
        distance: how many rows further on, or further back.
        name: of the column, for plans.
    """

    variable: str
    column: int
    first: bool = False
    distance: int = 0
    name: str = ""

    def __str__(self) -> str:
        word = "FIRST" if self.first else "LAST"
        return f"{word}({self.variable}.{self.name}, {self.distance})"


@dataclass(frozen=True, slots=True)
class MatchedAggregate(Typed):
    """An aggregate function of the rows that a variable has taken.

    Args:
        variable: its name, or ``ALL_ROWS``.
        call: the function, over the columns of a row.
        text: for plans.
    """

    variable: str
    call: AggregateInvocation
    text: str = ""

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class MatchTime(Typed):
    """The time of the row with which a match is found."""

    def __str__(self) -> str:
        return "MATCH_ROWTIME()"


@dataclass(frozen=True, eq=False)
class Match(Unary):
    """Gives a row for each match: the columns that rows are together by, then the measures.

    Args:
        partition: the positions of the columns that rows are together by.
        keys: the columns that they are ordered by, time first.
        pattern: the pattern.
        definitions: the condition of each variable of the pattern.
        measures: what is computed of a match.
    """

    partition: tuple[int, ...]
    keys: tuple[SortKey, ...]
    pattern: RowPattern
    definitions: tuple[Typed, ...]
    measures: tuple[Typed, ...]

    def describe(self) -> str:
        """Return all of it."""
        parts = ", ".join(f"{key}=[{value}]" for key, value in self.details().items())
        return f"LogicalMatch({parts})"

    def details(self) -> dict[str, str]:
        """Return all of it by keyword, as plans show it."""
        names, made = self.input.schema.names, self.schema.names[len(self.partition) :]
        pattern = self.pattern
        order = (
            f"{names[_position(key)]} {'ASC' if key.ascending else 'DESC'}" for key in self.keys
        )
        measures = (f"FINAL({each}) AS {name}" for each, name in zip(self.measures, made))
        defined = (
            f"{variable.name}={each}" for variable, each in zip(pattern.variables, self.definitions)
        )
        partition = ", ".join(names[index] for index in self.partition)
        after = pattern.skip.value
        if pattern.target is not None:
            after = f"{after} {pattern.variables[pattern.target].name}"
        within = {"within": f"{pattern.within} ms"} if pattern.within else {}
        return {
            **({"partitionBy": partition} if partition else {}),
            "orderBy": ", ".join(order),
            "measures": ", ".join(measures),
            "rowsPerMatch": "ONE ROW PER MATCH",
            "after": after,
            "pattern": _told(pattern.variables),
            **within,
            "define": f"{{{', '.join(defined)}}}",
        }


def _position(key: SortKey) -> int:
    """Return the position of the column that rows are ordered by."""
    assert isinstance(key.value, InputRef)
    return key.value.index


def _told(variables: tuple[PatternVariable, ...]) -> str:
    """Return a pattern in the words of Flink's plans."""
    told = [
        each.name
        if (each.least, each.most) == (1, 1)
        else f"PATTERN_QUANTIFIER({each.name}, {each.least}, "
        f"{-1 if each.most is None else each.most}, {str(not each.greedy).lower()})"
        for each in variables
    ]
    text = told[0]
    for each in told[1:]:
        text = f"({text}, {each})"
    return text
