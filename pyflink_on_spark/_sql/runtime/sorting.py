"""Orders rows, and keeps the first ones."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.plan.nodes import DELETE, INSERT, UPDATE_AFTER, UPDATE_BEFORE
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator, ProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext
    from pyflink_on_spark._runtime.state.time_to_live import TimeToLive

STATE_NAME = "rows"
ENDS_NAME = "ends"
_KEY = itemgetter(0)


class SortOperator(ProgramOperator):
    """Gives all rows in an order, at the end.

    Args:
        program: a function of a row that returns what is compared; None to leave the order.
        offset: how many rows are left out first.
        fetch: how many rows are kept; None for all.
    """

    def __init__(self, program: Program | None, offset: int, fetch: int | None) -> None:
        self._program, self._offset, self._fetch = program, offset, fetch

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._key = self._load(self._program, context)
        self._rows: list[Any] = []

    def process(self, elements: Iterator[object]) -> Iterator[Any]:
        """Yield nothing yet."""
        self._rows += elements
        return iter(())

    def end_input(self) -> Iterable[object]:
        """Yield the rows."""
        rows, self._rows = self._rows, []
        if self._key is not None:
            rows.sort(key=self._key)
        end = None if self._fetch is None else self._offset + self._fetch
        return rows[self._offset : end]


class TemporalSortOperator(KeyedProgramOperator):
    """Gives rows in the order of event time, when the watermark has passed them.

    A row that is not later than the last one that has come out is dropped, and not counted, as in
    Flink. State is the time of that one, and the rows that wait.

    Args:
        program: a function of a row that returns what is compared.
        time: the position of the time attribute.
    """

    def __init__(self, program: Program, time: int) -> None:
        self._program, self._time = program, time

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        self._key = self._load(self._program, context)
        self._rows = self._state(context, STATE_NAME)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        states, time, note = self._rows.current, self._time, self._rows.note
        for key, row in elements:
            state = states.get(key)
            if state is None:
                state = states[key] = [MIN_TIMESTAMP * 1000, []]
            if row[time] <= state[0]:
                continue
            state[1].append(row)
            note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[object]:
        """Yield the rows that are not later."""
        reached, time = (watermark + 1) * 1000, self._time
        for key, state in self._rows.current.items():
            rows = state[1]
            due = [row for row in rows if row[time] < reached]
            if due:
                due.sort(key=self._key)
                state[:] = due[-1][time], [row for row in rows if row[time] >= reached]
                self._rows.note(key)
                yield from due


class LimitOperator(KeyedProgramOperator):
    """Keeps some rows of those that come first.

    Args:
        offset: how many rows are left out first.
        fetch: how many rows are kept.
        ttl: how long after the last of them (ms) they are forgotten; 0 for never.
    """

    def __init__(self, offset: int, fetch: int, ttl: int = 0) -> None:
        self._offset, self._end, self._ttl = offset, offset + fetch, ttl

    def open(self, context: OperatorContext) -> None:
        """Find how many rows there were."""
        self._counts = self._state(context, STATE_NAME, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that are kept."""
        counts, note = self._counts.current, self._counts.note
        for key, row in elements:
            count = counts.get(key, 0)
            if count < self._end:
                counts[key] = count + 1
                note(key)
                if count >= self._offset:
                    yield row


class TopNOperator(KeyedProgramOperator):
    """Keeps the first rows of each key, in an order.

    Args:
        program: a function of a row that returns what is compared.
        offset: how many rows are left out first.
        end: the last rank that is kept.
        ranked: whether the rank is a column after those of the row.
        changelog: whether elements are pairs of the kind and the row.
        before: whether each update gets its UPDATE_BEFORE row.
        ttl: how long (ms) a row is kept; 0 for always.
    """

    def __init__(
        self,
        program: Program,
        offset: int,
        end: int,
        *,
        ranked: bool,
        changelog: bool,
        before: bool,
        ttl: int = 0,
    ) -> None:
        self._program, self._offset, self._end, self._ttl = program, offset, end, ttl
        self._ranked, self._changelog, self._before = ranked, changelog, before
        self._replaces = end == 1

    def open(self, context: OperatorContext) -> None:
        """Compile the function, and find the state."""
        self._key = self._load(self._program, context)
        self._groups = self._state(context, STATE_NAME, self._ttl, "list")
        only_new = not self._changelog and not self._offset
        self._changes_of = self._new_rows if only_new else self._changed_rows

    def process(self, elements: Iterator[object]) -> Iterator[object]:
        """Yield the changes."""
        groups, life = self._groups, self._groups.time_to_live
        if life is not None:
            return self._expiring(elements, life)
        return self._changes_of(elements, groups.current, groups.note)

    def _expiring(self, elements: Iterator[Any], life: TimeToLive) -> Iterator[object]:
        """Yield the changes; the rows that have expired are gone without one."""
        groups, note = self._groups.current, self._groups.note
        for key, element in elements:
            latest, now = life.latest_expired(), life.now()
            held = [stamped for stamped in groups.get(key, ()) if stamped[0] > latest]
            rows = [item for _, item in held]
            stamps = {id(item): stamp for stamp, item in held}
            changes = list(self._changes_of(iter([(key, element)]), {key: rows}, note))
            if rows:
                groups[key] = [(stamps.get(id(item), now), item) for item in rows]
            elif key in groups:
                del groups[key]
            note(key)
            yield from changes

    def _new_rows(
        self, elements: Iterator[Any], groups: Any, note: Callable[[object], object]
    ) -> Iterator[object]:
        """Yield the changes that rows bring which are only added."""
        sort_key, end, ranked = self._key, self._end, self._ranked
        for key, row in elements:
            rows = groups.get(key)
            if rows is None:
                rows = groups[key] = []
            compared = sort_key(row)
            full = len(rows) == end
            if full and not compared < rows[-1][0]:
                continue
            place = bisect_right(rows, compared, key=_KEY)
            rows.insert(place, (compared, row))
            gone = rows.pop()[1] if full else None
            note(key)
            if ranked:
                yield from self._moved_down(rows, place, gone)
            elif full and self._replaces:
                if self._before:
                    yield UPDATE_BEFORE, gone
                yield UPDATE_AFTER, row
            else:
                if full:
                    yield DELETE, gone
                yield INSERT, row

    def _moved_down(self, rows: list[Any], place: int, gone: Any) -> Iterator[object]:
        """Yield the changes of ranks from one on, where a row has been put in."""
        last, before = len(rows) - 1, self._before
        for index in range(place, last + 1):
            rank = (index + 1,)
            new = rows[index][1]
            if index == last and gone is None:
                yield INSERT, new + rank
                return
            if before:
                yield UPDATE_BEFORE, (gone if index == last else rows[index + 1][1]) + rank
            yield UPDATE_AFTER, new + rank

    def _changed_rows(
        self, elements: Iterator[Any], groups: Any, note: Callable[[object], object]
    ) -> Iterator[object]:
        sort_key = self._key
        for key, element in elements:
            kind, row = element if self._changelog else (INSERT, element)
            rows = groups.get(key)
            if rows is None:
                if kind & 1:
                    continue
                rows = groups[key] = []
            compared = sort_key(row)
            before = rows[: self._end]
            if kind & 1:
                if (compared, row) not in rows:
                    continue
                rows.remove((compared, row))
            else:
                rows.insert(bisect_right(rows, compared, key=_KEY), (compared, row))
                if not self._changelog and len(rows) > self._end:
                    rows.pop()
            note(key)
            if not rows:
                del groups[key]
            yield from self._changes(before, rows[: self._end])

    def _changes(self, before: list[object], after: list[object]) -> Iterator[object]:
        if self._ranked or self._offset:
            return self._ranks(before, after)
        return self._rows(before, after)

    def _rows(self, before: list[object], after: list[object]) -> Iterator[Any]:
        gone, come = _difference(before, after), _difference(after, before)
        for _, row in gone:
            yield DELETE, row
        for _, row in come:
            yield INSERT, row

    def _ranks(self, before: list[Any], after: list[Any]) -> Iterator[object]:
        for index in range(self._offset, max(len(before), len(after))):
            rank = (index + 1,) if self._ranked else ()
            old: Any = before[index][1] if index < len(before) else None
            new: Any = after[index][1] if index < len(after) else None
            if old == new and old is not None and before[index] is after[index]:
                continue
            if old is None:
                yield INSERT, new + rank
            elif new is None:
                yield DELETE, old + rank
            else:
                if self._before:
                    yield UPDATE_BEFORE, old + rank
                yield UPDATE_AFTER, new + rank


class VariableTopNOperator(TopNOperator):
    """Keeps as many of the first rows of each key as the first one that came has said.

    Args:
        program: a function of a row that returns what is compared.
        offset: how many rows are left out first.
        end: a function of a row that returns the last rank that is kept, or None.
        less: how much less than that it is.
        settings: as those of a TopNOperator.
    """

    def __init__(
        self, program: Program, offset: int, end: Program, less: int, **settings: Any
    ) -> None:
        super().__init__(program, offset, 0, **settings)
        self._end_program, self._less = end, less

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._end_of = self._load(self._end_program, context)
        self._ends = self._state(context, ENDS_NAME, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the changes."""
        ends, note = self._ends.current, self._ends.note
        for key, element in elements:
            end = ends.get(key)
            if end is None:
                row = element[1] if self._changelog else element
                end = ends[key] = (self._end_of(row) or 0) - self._less
                note(key)
            if end > self._offset:
                self._end = end
                yield from super().process(iter([(key, element)]))


class DeduplicateOperator(KeyedProgramOperator):
    """Keeps the last row of each key, or the first one in the order in which rows come.

    Args:
        time: the position of the event time, or None for the order in which rows come.
        last: whether the last row is kept.
        before: whether each update gets its UPDATE_BEFORE row.
        pairs: whether pairs of the kind and the row come out.
        ttl: how long (ms) the row of a key is kept; 0 for always.
        told: the positions of the columns by which rows are equal: all but times of the clock.
    """

    def __init__(
        self,
        time: int | None,
        *,
        last: bool,
        before: bool,
        pairs: bool,
        ttl: int,
        told: Sequence[int],
    ) -> None:
        self._time, self._last, self._before, self._pairs = time, last, before, pairs
        self._ttl = ttl
        self._told: Callable[[Any], object] = itemgetter(*told) if told else len
        self._some = told[-1] if told else 0

    def open(self, context: OperatorContext) -> None:
        """Find the state."""
        self._rows = self._state(context, STATE_NAME, self._ttl)

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
        """Yield the changes."""
        kept, note = self._rows.current, self._rows.note
        last, place = self._last, self._time
        # Where rows expire, those who follow have to learn that an equal row has come.
        told, some = None if self._ttl else self._told, self._some
        for key, row in elements:
            old = kept.get(key)
            if old is not None:
                if place is not None:
                    if row[place] < old[place]:
                        continue
                elif not last or (
                    told is not None and row[some] == old[some] and told(row) == told(old)
                ):
                    continue
            kept[key] = row
            note(key)
            if not self._pairs:
                yield row
            elif old is None:
                yield INSERT, row
            else:
                if self._before:
                    yield UPDATE_BEFORE, old
                yield UPDATE_AFTER, row


class BatchTopNOperator(ProgramOperator):
    """Gives the first rows of each key at the end.

    Args:
        program: a function of a row that returns what is compared.
        offset: how many rows are left out first.
        end: the last rank that is kept.
        ranked: whether the rank is a column after those of the row.
    """

    def __init__(self, program: Program, offset: int, end: int, *, ranked: bool) -> None:
        self._program, self._offset, self._end, self._ranked = program, offset, end, ranked

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._key = self._load(self._program, context)
        self._groups: dict[Any, list[Any]] = {}

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        for key, row in elements:
            self._groups.setdefault(key, []).append(row)
        return iter(())

    def end_input(self) -> Iterable[object]:
        """Yield the rows."""
        for rows in self._groups.values():
            rows.sort(key=self._key)
            for index, row in enumerate(islice(rows, self._offset, self._end), self._offset + 1):
                yield (*row, index) if self._ranked else row


def _difference(one: list[object], two: list[object]) -> list[Any]:
    rest = list(two)
    found = []
    for item in one:
        if item in rest:
            rest.remove(item)
        else:
            found.append(item)
    return found
