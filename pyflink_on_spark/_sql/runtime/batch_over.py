"""Functions over the rows around each row of a table that ends."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.program import Program

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


@dataclass(frozen=True)
class RankedColumn:
    """A function of the place of rows in an order.

    Args:
        column: computes it for a whole group.
        args: for each argument a function of a row.
    """

    column: Callable[..., list[Any]]
    args: tuple[Program, ...]


@dataclass(frozen=True)
class FrameBounds:
    """Which rows count for a row.

    Args:
        rows: whether the bounds count rows, and not the distance of values.
        lower: as a distance from the row; None for the first row.
        upper: as a distance from the row; None for the last row.
        value: the value that distances are measured in, as a function of a row; None if no bound
            is a distance of values.
        descending: whether values get smaller.
    """

    rows: bool
    lower: int | None
    upper: int | None
    value: Program | None = None
    descending: bool = False


class BatchOverOperator(Operator):
    """Orders each group at the end, and gives its rows with the values of functions.

    Args:
        order: a function of a row that returns what is compared.
        columns: for each function how it is computed: an index into the values of the frame, or
            what is computed of the places of rows.
        frame: what ``compile_frame`` returns, or None.
        bounds: which rows count for the frame.
    """

    frozen = True

    def __init__(
        self,
        order: Program,
        columns: Sequence[int | RankedColumn],
        frame: Program | None,
        bounds: FrameBounds,
    ) -> None:
        self._order, self._columns, self._frame = order, tuple(columns), frame
        self._bounds = bounds

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        self._key = self._order.load(context).function
        self._ranked = [
            None
            if isinstance(column, int)
            else [program.load(context).function for program in column.args]
            for column in self._columns
        ]
        if self._frame is not None:
            self._create, self._add, self._retract, self._values = self._frame.load(
                context
            ).function()
        value = self._bounds.value
        self._value = None if value is None else value.load(context).function
        self._groups: dict[Any, list[Any]] = {}

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        groups = self._groups
        for key, row in elements:
            groups.setdefault(key, []).append(row)
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the rows."""
        for rows in self._groups.values():
            rows.sort(key=self._key)
            peers = _first_peers([self._key(row) for row in rows])
            framed = [] if self._frame is None else self._framed(rows, peers)
            columns = []
            for column, args in zip(self._columns, self._ranked):
                if isinstance(column, int):
                    columns.append([values[column] for values in framed])
                else:
                    given = ([arg(row) for row in rows] for arg in args or ())
                    columns.append(column.column(peers, *given))
            for row, values in zip(rows, zip(*columns)):
                yield row + values

    def _framed(self, rows: list[Any], peers: list[int]) -> list[Any]:
        found = []
        start = end = 0
        accumulator = self._create()
        for first, last in self._frames(rows, peers):
            if (first > start and self._retract is None) or first < start or last < end:
                accumulator, start, end = self._create(), first, first
            while end < last:
                self._add(accumulator, rows[end])
                end += 1
            while start < min(first, end):
                self._retract(accumulator, rows[start])
                start += 1
            if first >= last:
                accumulator, start, end = self._create(), last, last
            found.append(self._values(accumulator))
        return found

    def _frames(self, rows: list[Any], peers: list[int]) -> Iterator[tuple[int, int]]:
        """Yield the first row of each frame, and the first one after it."""
        size, bounds = len(rows), self._bounds
        if bounds.rows:
            for index in range(size):
                first = 0 if bounds.lower is None else max(0, index + bounds.lower)
                last = size if bounds.upper is None else min(size, index + bounds.upper + 1)
                yield first, max(first, last)
            return
        ends = {first: index + 1 for index, first in enumerate(peers)}
        distances = None
        if self._value is not None:
            distances = _Distances([self._value(row) for row in rows], bounds.descending)
        for index, first in enumerate(peers):
            if distances is None or distances.is_null(index):
                yield (
                    0 if bounds.lower is None else first,
                    size if bounds.upper is None else ends[first],
                )
            else:
                yield distances.frame(index, bounds.lower, bounds.upper)


class _Distances:
    """Finds rows by the distance of their values; NULLs are before or after all values."""

    def __init__(self, values: list[Any], descending: bool) -> None:
        sign = -1 if descending else 1
        self._values = [None if value is None else sign * value for value in values]
        known = [index for index, value in enumerate(values) if value is not None]
        self._first, self._end = (known[0], known[-1] + 1) if known else (0, 0)

    def is_null(self, index: int) -> bool:
        return self._values[index] is None

    def frame(self, index: int, lower: int | None, upper: int | None) -> tuple[int, int]:
        values: list[Any] = self._values
        value = values[index]
        first, last = 0, len(values)
        if lower is not None:
            first = bisect_left(values, value + lower, self._first, self._end)
        if upper is not None:
            last = bisect_right(values, value + upper, self._first, self._end)
        return first, max(first, last)


def _first_peers(keys: list[Any]) -> list[int]:
    """Return for each row the position of the first one that is equal in order."""
    peers: list[int] = []
    for index, key in enumerate(keys):
        peers.append(peers[-1] if index and keys[index - 1] == key else index)
    return peers
