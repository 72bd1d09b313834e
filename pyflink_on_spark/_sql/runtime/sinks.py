"""Keeps the rows of each primary key, so that a table has one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._sql.errors import TableRuntimeError
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_AFTER
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext

ROWS_NAME = "rows"
BUFFER_NAME = "buffer"
CURRENT_NAME = "current"


class _Rows:
    """Finds rows among those of a primary key.

    Args:
        upsert_key: the positions by which rows differ; without any all columns count.
    """

    def __init__(self, upsert_key: Sequence[int]) -> None:
        self._of_row: Callable[[Any], Any] | None = itemgetter(*upsert_key) if upsert_key else None

    def add(self, rows: list[Any], row: Any) -> None:
        """Add a row in the place of the one with the same upsert key, or as the last one."""
        place = None if self._of_row is None else self.find(rows, row)
        if place is None:
            rows.append(row)
        else:
            rows[place] = row

    def find(self, rows: Sequence[Any], row: Any) -> int | None:
        """Return the place of a row; the first one if there are several."""
        of_row = self._of_row
        if of_row is None:
            return rows.index(row) if row in rows else None
        wanted = of_row(row)
        return next((at for at, each in enumerate(rows) if of_row(each) == wanted), None)


class MaterializeOperator(KeyedProgramOperator):
    """Gives the last row of each primary key that has not been taken back.

    Args:
        upsert_key: the positions by which rows of one primary key differ; without any all count.
        changelog: whether elements are pairs of the kind and the row.
        ttl: after how long without a change (ms) the rows of a key are forgotten; 0 for never.
    """

    def __init__(self, upsert_key: Sequence[int], changelog: bool, ttl: int = 0) -> None:
        self._upsert_key, self._changelog, self._ttl = tuple(upsert_key), changelog, ttl

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._found = _Rows(self._upsert_key)
        self._kept = self._state(context, ROWS_NAME, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes."""
        kept, note, found = self._kept.current, self._kept.note, self._found
        for key, element in elements:
            kind, row = element if self._changelog else (INSERT, element)
            rows = kept.get(key)
            if not kind & 1:
                change = UPDATE_AFTER if rows else INSERT
                if not rows:
                    rows = kept[key] = []
                found.add(rows, row)
                note(key)
                yield change, row
                continue
            place = None if rows is None else found.find(rows, row)
            if rows is None or place is None:
                continue  # forgotten
            was_last = place == len(rows) - 1
            del rows[place]
            if not rows:
                del kept[key]
            note(key)
            if not rows:
                yield DELETE, row
            elif was_last:
                yield UPDATE_AFTER, rows[-1]


class StampRowsOperator(Operator):
    """Makes of each element a pair of the watermark and the change, to go with its key.

    Args:
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_pairs = True
    emits_immutable = True

    def __init__(self, changelog: bool) -> None:
        self._changelog = changelog

    def open(self, context: OperatorContext) -> None:
        """Begin without a watermark."""
        self._watermark = MIN_TIMESTAMP

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        time = self._watermark
        if self._changelog:
            return ((key, (time, change)) for key, change in elements)
        return ((key, (time, (INSERT, row))) for key, row in elements)

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Note the watermark."""
        self._watermark = watermark
        return ()


class CompactingMaterializeOperator(KeyedProgramOperator):
    """Gives the one row of each primary key, when the watermark has passed the changes to it.

    Changes come with the watermark that there was where they were made. When the watermark here has
    passed it, no other change of that time is on its way. What is left then of several rows is a
    conflict.

    Args:
        upsert_key: the positions by which rows of one primary key differ; without any all count.
        key: the positions and the names of the primary key.
        fails: whether a conflict fails the job; otherwise the first row stays.
        ttl: after how long without a change (ms) the row of a key is forgotten; 0 for never.
    """

    def __init__(
        self,
        upsert_key: Sequence[int],
        key: Sequence[tuple[int, str]],
        *,
        fails: bool,
        ttl: int = 0,
    ) -> None:
        self._upsert_key, self._key = tuple(upsert_key), tuple(key)
        self._fails, self._ttl = fails, ttl

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._found = _Rows(self._upsert_key)
        self._waiting = self._state(context, BUFFER_NAME)
        self._rows = self._state(context, CURRENT_NAME, self._ttl)
        self._due = self._timers(context)
        self._watermark = MIN_TIMESTAMP
        self._restored = context.restored is not None

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        self._begin_again()
        waiting, note, register = self._waiting.current, self._waiting.note, self._due.register
        unknown = self._watermark == MIN_TIMESTAMP
        for key, (time, change) in elements:
            if unknown:
                time = MIN_TIMESTAMP
            times = waiting.get(key)
            if times is None:
                times = waiting[key] = {}
            changes = times.setdefault(time, [])
            if not _cancelled(changes, change):
                changes.append(change)
            register(time + 1, key, None)
            note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the changes to rows."""
        self._begin_again()
        self._watermark = watermark
        for time, key, _ in self._due.until(watermark):
            yield from self._compacted(key, time - 1)

    def _begin_again(self) -> None:
        """Let all that waits be as old as any: after a restart there are no watermarks."""
        if not self._restored:
            return
        self._restored = False
        waiting, note, register = self._waiting.current, self._waiting.note, self._due.register
        for key in list(waiting):
            times = waiting[key]
            changes: list[object] = []
            for time in sorted(times):
                for change in times[time]:
                    if not _cancelled(changes, change):
                        changes.append(change)
            waiting[key] = {MIN_TIMESTAMP: changes}
            note(key)
            register(MIN_TIMESTAMP + 1, key, None)

    def _compacted(self, key: Any, time: int) -> Iterator[object]:
        kept = self._rows.current
        current = kept.get(key)
        rows = self._left(key, time, current)
        if len(rows) > 1 and self._fails:
            values = ", ".join(f"{name}={rows[0][index]}" for index, name in self._key)
            raise TableRuntimeError(
                "Primary key constraint violation: multiple distinct records with the same primary "
                f"key detected. Conflicting key: [{values}]. Use ON CONFLICT DO NOTHING to keep "
                "the first record."
            )
        if not rows:
            if current is not None:
                del kept[key]
                self._rows.note(key)
                yield DELETE, current
            return
        if current is not None and (len(rows) > 1 or rows[0] == current):
            return
        kept[key] = rows[0]
        self._rows.note(key)
        yield (INSERT if current is None else UPDATE_AFTER), rows[0]

    def _left(self, key: Any, time: int, current: object) -> list[Any]:
        """Return the rows of a key that are left at a time; the current one comes first."""
        waiting, found = self._waiting.current, self._found
        rows = [] if current is None else [current]
        times = waiting.get(key)
        if times is None:
            return rows
        for stamp in sorted(stamp for stamp in times if stamp <= time):
            for kind, row in times.pop(stamp):
                if not kind & 1:
                    found.add(rows, row)
                elif (place := found.find(rows, row)) is not None:
                    del rows[place]
        if not times:
            del waiting[key]
        self._waiting.note(key)
        return rows


def _cancelled(changes: list[Any], change: Any) -> bool:
    """Remove the change that another one undoes, and return True if there is one."""
    kind, row = change
    for place, (other, before) in enumerate(changes):
        if (kind ^ other) & 1 and row == before:
            del changes[place]
            return True
    return False
