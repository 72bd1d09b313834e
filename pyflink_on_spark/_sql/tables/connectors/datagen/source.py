"""The source of made-up rows."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.builtin.number_sequence import NumberSequence
from pyflink_on_spark._connectors.generator.rate import PerSecond
from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, share_of
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark._sql.tables.connectors.datagen.fields import Field

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_ENDLESS = 2**62


class DatagenSource(Source):
    """Makes rows, as many as there are values for all columns.

    Args:
        fields: a column each.
        rows: how many rows at most; None for any number.
        per_second: how many rows in a second, of all subtasks.
        batch: whether nobody looks at rows before the end.
    """

    def __init__(
        self, fields: tuple[Field, ...], rows: int | None, per_second: int, batch: bool
    ) -> None:
        limits = [limit for field in fields if (limit := field.rows) is not None]
        if rows is not None:
            limits.append(rows)
        self._fields, self._rows, self._per_second = fields, min(limits, default=None), per_second
        # What takes its time has to be seen before its end.
        self.bounded = self._rows is not None and (batch or self._rows <= per_second)

    def splits(self, parallelism: int) -> list[range]:
        """Cut the rows' numbers into contiguous ranges."""
        rows = _ENDLESS if self._rows is None else self._rows
        return NumberSequence(0, rows - 1).splits(parallelism) if rows else []

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        """Return what makes one subtask's rows."""
        left = splits if restored is None else share_of(restored, context)
        return _DatagenReader(self._fields, list(left), self._per_second, context)


class _DatagenReader(SourceReader):
    def __init__(
        self,
        fields: tuple[Field, ...],
        left: list[range],
        per_second: int,
        context: OperatorContext,
    ) -> None:
        self._left = left
        self._clock = context.clock
        task = context.task
        self._rate = PerSecond(per_second).share(task.subtask_index, task.parallelism)
        self.limit = BUNDLE_SIZE
        seed = random.Random()
        self._makers = [field.maker(seed, context.clock.now) for field in fields]

    @property
    def ended(self) -> bool:  # type: ignore[override]
        """Whether all rows were made."""
        return not self._left

    def poll(self) -> Bundle | None:
        """Return the next rows, as many as may be."""
        if not self._left:
            return None
        numbers = self._left[0]
        wanted = min(self.limit, numbers.stop - numbers.start)
        count = self._rate.take(wanted, self._clock.now())
        if not count:
            return None
        made, rest = numbers[:count], numbers[count:]
        if rest:
            self._left[0] = rest
        else:
            self._left.pop(0)
        if not self._makers:
            return Bundle([()] * count)
        return Bundle(list(zip(*[map(make, made) for make in self._makers])))

    def snapshot(self) -> list[range]:
        """Return the numbers of the rows that are left."""
        return list(self._left)
