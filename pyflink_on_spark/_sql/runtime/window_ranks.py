"""The first rows of windows, in an order."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.runtime.window_aggregate import WindowOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_MICROS = 1000
_COMPARED = itemgetter(0)


class WindowTopNOperator(WindowOperator):
    """Gives the first rows of each key, of which the window is a part, when the window ends.

    Args:
        program: a function of a row that returns what is compared.
        offset: how many rows are left out first.
        end: the last rank that is kept.
        ranked: whether the rank is a column after those of the row.
        window_end: the position of the end of the window.
        last: whether of equal rows the one that comes last is the first one.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(
        self,
        program: Program,
        offset: int,
        end: int,
        *,
        ranked: bool,
        window_end: int,
        last: bool,
        event_time: bool,
        zone: str | None,
    ) -> None:
        super().__init__(event_time, zone)
        self._program, self._offset, self._end = program, offset, end
        self._ranked, self._window_end = ranked, window_end
        self._place = bisect_left if last else bisect_right

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        super().open(context)
        self._compared = self._load(self._program, context)
        self._groups = self._state(context, "rows")
        self._known = set(self._groups.namespaces())

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet; rows of windows that have ended are dropped."""
        compare, place = self._compared, self._window_end
        reached, find = self._reached, self._place
        current: int | None = None
        groups: Any = None
        note: Any = None
        for key, row in elements:
            window_end = row[place]
            if window_end != current:
                if window_end - _MICROS <= reached:
                    self._late.drop()
                    continue
                self._known.add(window_end)
                current, (groups, note) = window_end, self._groups.namespace(window_end)
            rows = groups.get(key)
            if rows is None:
                rows = groups[key] = []
            compared = compare(row)
            rows.insert(find(rows, compared, key=_COMPARED), (compared, row))
            if len(rows) > self._end:
                rows.pop()
            note(key)
        return iter(())

    def _ended(self, reached: int) -> Iterable[Any]:
        for end in sorted(end for end in self._known if end - _MICROS <= reached):
            self._known.discard(end)
            for rows in self._groups.namespace(end)[0].values():
                for index in range(self._offset, len(rows)):
                    row = rows[index][1]
                    yield (*row, index + 1) if self._ranked else row
            self._groups.remove(end)
