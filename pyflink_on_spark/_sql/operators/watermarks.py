"""Makes watermarks of a column."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.watermark_rhythm import WatermarkRhythm
from pyflink_on_spark._sql.compiler.program import Program
from pyflink_on_spark._sql.planner.changes import DELETE

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext

Marks = Callable[[list[Any]], Iterable[int | None]]
"""Gives the watermark (microseconds) of each element, or None."""

_MICROS_PER_MILLI = 1000
_row = itemgetter(1)


@dataclass(frozen=True)
class RowWatermarks:
    """Says which watermark follows each row.

    Args:
        program: a function of a row that returns the watermark (microseconds) or None.
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
            return lambda values: map(find, values)
        if self.whole_deletes:
            return lambda values: map(find, map(_row, values))
        return lambda values: (None if kind == DELETE else find(row) for kind, row in values)


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
    frozen = True

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
        """Yield the rows; what comes out is looked at by ``timestamps_of``."""
        return elements

    def advances(self, values: list[Any], emitted: int, step: int) -> Iterator[int]:
        """Yield after how many rows the watermark is further than a step (ms) from the last."""
        last = largest = max(emitted, 0) * _MICROS_PER_MILLI
        limit = last + step * _MICROS_PER_MILLI + _MICROS_PER_MILLI - 1
        for count, mark in enumerate(self._marks(values), 1):
            if mark is not None and mark > largest:
                largest = mark
                if mark > limit:
                    limit = mark - mark % _MICROS_PER_MILLI + (step + 1) * _MICROS_PER_MILLI - 1
                    yield count

    def timestamps_of(self, values: list[Any]) -> None:
        """Note what the watermarks of rows come to; rows have no timestamps."""
        time = _largest_time(self._marks(values))
        if time is not None:
            self._largest = max(self._largest, time)


class NoteTimes(Operator):
    """Rows stay as they are; the source that they come from gets to know their watermarks.

    The source has a watermark for each of its splits, and emits the smallest one. The operator ends
    its chain, so that what follows still works in slices of a bundle.

    Args:
        marks: say which watermark follows each row.
    """

    ends_chain = True
    frozen = True

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
            time = _largest_time(self._marks(values))
            if time is not None:
                self._note(time)
            yield values


def _largest_time(marks: Iterable[int | None]) -> int | None:
    """Return the time (ms) that the watermark follows by one, as if rows had timestamps."""
    largest = max([mark for mark in marks if mark is not None], default=None)
    return None if largest is None else largest // _MICROS_PER_MILLI + 1
