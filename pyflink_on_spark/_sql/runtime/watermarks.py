"""Makes watermarks of a column."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, MIN_TIMESTAMP
from pyflink_on_spark._runtime.elements.clock import WatermarkRhythm
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.changes import DELETE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

Marks = Callable[[list[Any]], list[int]]
"""Gives the watermark (microseconds) of each element."""

_MICROS_PER_MILLI = 1000
_LOWEST = MIN_TIMESTAMP * _MICROS_PER_MILLI
_row = itemgetter(1)


@dataclass(frozen=True)
class RowWatermarks:
    """Says which watermark follows each row.

    Args:
        program: a function of rows that returns the watermark (microseconds) of each, or None.
        changelog: whether elements are pairs of the kind and the row.
        whole_deletes: whether a row that is deleted has all its values, and not its key alone.
    """

    program: Program
    changelog: bool
    whole_deletes: bool = True

    def load(self, context: OperatorContext) -> Marks:
        """Compile the function."""
        find = self.program.load(context).function
        if not self.changelog:
            return lambda values: _known(find(values))
        if self.whole_deletes:
            return lambda values: _known(find(map(_row, values)))

        def of_pairs(values: list[Any]) -> list[int]:
            marks = iter(_known(find(row for kind, row in values if kind != DELETE)))
            return [_LOWEST if kind == DELETE else next(marks) for kind, _ in values]

        return of_pairs


class WatermarkOperator(AssignTimestamps):
    """The last operator of its chain: rows stay as they are, and the chain gets watermarks.

    Rows have no timestamps; a rowtime attribute is a column like others.

    Args:
        marks: say which watermark follows each row.
        idle_after: after how long without rows (ms) the stream holds others back no more; None
            for never.
        rhythm: how often a watermark is emitted.
    """

    emits_timestamps = False
    at_once = True
    emits_immutable = True

    def __init__(
        self,
        marks: RowWatermarks,
        idle_after: int | None,
        rhythm: WatermarkRhythm | None = None,
    ) -> None:
        # A watermark is as large as the largest timestamp, less one.
        super().__init__(None, 0, idle_after, rhythm)
        self._row_watermarks = marks

    def for_job(self, rhythm: WatermarkRhythm) -> WatermarkOperator:
        """Return the same with the job's rhythm."""
        return WatermarkOperator(self._row_watermarks, self.idle_after, rhythm)

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        super().open(context)
        self._marks = self._row_watermarks.load(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows; ``advances`` checks them afterwards."""
        return elements

    def advances(self, values: list[Any], emitted: int, most: int) -> Iterator[int]:
        """Note the watermarks of rows; yield after how many of them one is due."""
        marks, step = self._marks(values), self.rhythm.event_time
        if most and step is not None:
            limit = (max(emitted, 0) + step + 1) * _MICROS_PER_MILLI - 1
            for count, mark in enumerate(marks, 1):
                if mark > limit:
                    limit = mark - mark % _MICROS_PER_MILLI + (step + 1) * _MICROS_PER_MILLI - 1
                    self._note(mark)
                    yield count
                    most -= 1
                    if not most:
                        break
        self._note(max(marks))

    def _note(self, mark: int) -> None:
        if mark > _LOWEST:
            self._largest = max(self._largest, _time(mark))


class NoteTimes(Operator):
    """Rows stay as they are; the source that they come from gets to know their watermarks.

    The source has a watermark for each of its splits, and emits the smallest one. The operator ends
    its chain, so that what follows still works in slices of a bundle.

    Args:
        marks: say which watermark follows each row.
    """

    ends_chain = True
    emits_immutable = True

    def __init__(self, marks: RowWatermarks) -> None:
        self._row_watermarks = marks

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._note = context.split_times.note
        self._marks = self._row_watermarks.load(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows."""
        return chain.from_iterable(self._noted(elements))

    def _noted(self, elements: Iterator[Any]) -> Iterator[list[Any]]:
        while values := list(islice(elements, BUNDLE_SIZE)):
            mark = max(self._marks(values))
            if mark > _LOWEST:
                self._note(_time(mark))
            yield values


def _known(marks: list[int | None]) -> list[int]:
    """Return watermarks with one before all times in place of None."""
    if None in marks:
        return [_LOWEST if mark is None else mark for mark in marks]
    return marks  # type: ignore[return-value]


def _time(mark: int) -> int:
    """Return the time (ms) that a watermark follows by one, as if rows had timestamps."""
    return mark // _MICROS_PER_MILLI + 1
