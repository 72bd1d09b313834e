"""Finds patterns among the rows of each key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.late_rows import LateRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.match import RowPattern
from pyflink_on_spark._sql.runtime.row_pattern import Automaton
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "matches"
_MICROS = 1000
_PENDING, _KNOWN = 0, 1


class MatchOperator(KeyedProgramOperator):
    """The common part of all operators for MATCH_RECOGNIZE.

    State of a key is a list: the rows that wait, by time (ms), and what the automaton knows. A key
    that nothing may come of any more is forgotten.

    Args:
        program: what ``MatchCompiler`` makes.
        pattern: the pattern.
        alone: for each variable, whether its condition depends on the row alone.
        order: a function of a row that says how rows of one time compare; None for their arrival.
    """

    def __init__(
        self,
        program: Program,
        pattern: RowPattern,
        alone: Sequence[bool],
        order: Program | None,
    ) -> None:
        self._program, self._pattern = program, pattern
        self._alone, self._order = tuple(alone), order

    def open(self, context: OperatorContext) -> None:
        """Compile the conditions and the measures."""
        conditions, measure = self._load(self._program, context)()
        self._compared = self._load(self._order, context)
        self._automaton = Automaton(self._pattern, conditions, self._alone, measure)

    def _new(self) -> list[Any]:
        return [{}, self._automaton.new()]

    def _due(self, held: list[Any], until: int) -> Iterator[tuple[list[Any], bool, int]]:
        """Yield the matches of the rows up to a time (ms), and of that time itself.

        Each comes with whether a match may begin with a row of a time, and with this time.
        """
        pending, known = held
        advance, process = self._automaton.advance, self._automaton.process
        limited = self._pattern.within > 0
        for time in sorted([time for time in pending if time <= until]):
            rows = pending.pop(time)
            if limited and (made := advance(known, time)):
                yield made, False, time
            if len(rows) > 1 and self._compared is not None:
                rows.sort(key=self._compared)
            for row in rows:
                made, begun = process(known, row, time)
                if made or begun:
                    yield made, begun, time
        if limited and (made := advance(known, until)):
            yield made, False, until


class EventTimeMatchOperator(MatchOperator):
    """Finds patterns in the order of event time, when the watermark has passed a row.

    Args:
        program: what ``MatchCompiler`` makes.
        pattern: the pattern.
        alone: for each variable, whether its condition depends on the row alone.
        order: how rows of one time compare; None for their arrival.
        time: the position of the time attribute.
    """

    def __init__(
        self,
        program: Program,
        pattern: RowPattern,
        alone: Sequence[bool],
        order: Program | None,
        time: int,
    ) -> None:
        super().__init__(program, pattern, alone, order)
        self._time = time

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._held = self._state(context, STATE_NAME)
        self._ticks = self._timers(context)
        self._late, self._reached = LateRows(context), MIN_TIMESTAMP

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        place, reached, entries = self._time, self._reached, self._held.current
        note, register = self._held.note, self._ticks.register
        for key, row in elements:
            time = millis_of(row[place])
            if time <= reached:
                self._late.drop()
                continue
            held = entries.get(key)
            if held is None:
                held = entries[key] = self._new()
            rows = held[_PENDING].get(time)
            if rows is None:
                held[_PENDING][time] = [row]
                register(time, key, None)
            else:
                rows.append(row)
            note(key)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the matches that end with rows that are not later."""
        self._reached = watermark
        entries, within = self._held.current, self._pattern.within
        for _, key, _ in self._ticks.until(watermark):
            held = entries.get(key)
            if held is None:
                continue
            for made, begun, time in self._due(held, watermark):
                if begun and within:
                    self._ticks.register(time + within, key, None)
                yield from made
            if not held[_PENDING] and Automaton.is_new(held[_KNOWN]):
                del entries[key]
            self._held.note(key)


class ArrivalMatchOperator(MatchOperator):
    """Finds patterns in the order in which rows come.

    Rows of one millisecond wait for it to pass if there is an order among them.
    """

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._held = self._state(context, STATE_NAME)
        self._ticks = self._timers(context, event_time=False)
        self._clock = context.clock

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the matches that end with the rows."""
        entries, note, within = self._held.current, self._held.note, self._pattern.within
        for key, row in elements:
            now = self._clock.now()
            held = entries.get(key)
            if held is None:
                held = entries[key] = self._new()
            if self._compared is not None:
                held[_PENDING].setdefault(now, []).append(row)
                self._ticks.register(now + 1, key, None)
                note(key)
                continue
            known = held[_KNOWN]
            yield from self._automaton.advance(known, now)
            made, begun = self._automaton.process(known, row, now)
            if begun and within:
                self._ticks.register(now + within + 1, key, None)
            self._settle(key, held)
            yield from made

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the matches of the rows that have waited, and of those that waited for others."""
        within = self._pattern.within
        for _, key, _ in self._ticks.until(now):
            held = self._held.current.get(key)
            if held is None:
                continue
            for made, begun, time in self._due(held, now):
                if begun and within:
                    self._ticks.register(time + within + 1, key, None)
                yield from made
            self._settle(key, held)

    def _settle(self, key: Any, held: list[Any]) -> None:
        """Forget a key that nothing is known of, and note the change."""
        if not held[_PENDING] and Automaton.is_new(held[_KNOWN]):
            del self._held.current[key]
        self._held.note(key)


class BatchMatchOperator(MatchOperator):
    """Finds patterns at the end of the input.

    Args:
        program: what ``MatchCompiler`` makes.
        pattern: the pattern.
        alone: for each variable, whether its condition depends on the row alone.
        order: how rows of one time compare; None for their arrival.
        time: the position of the column that rows are ordered by; None for their arrival.
    """

    keyed = False

    def __init__(
        self,
        program: Program,
        pattern: RowPattern,
        alone: Sequence[bool],
        order: Program | None,
        time: int | None,
    ) -> None:
        super().__init__(program, pattern, alone, order)
        self._time = time

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        super().open(context)
        self._entries: dict[Any, list[Any]] = {}
        self._clock = context.clock

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing yet."""
        entries, place = self._entries, self._time
        for key, row in elements:
            held = entries.get(key)
            if held is None:
                held = entries[key] = self._new()
            time = self._clock.now() if place is None else millis_of(row[place])
            held[_PENDING].setdefault(time, []).append(row)
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the matches."""
        entries, self._entries = self._entries, {}
        for held in entries.values():
            for made, _, _ in self._due(held, MAX_WATERMARK):
                yield from made


def millis_of(value: int | None) -> int:
    """Return the time (ms) of a row.

    Raises:
        TableError: it has none.
    """
    if value is None:
        raise TableError(
            "RowTime field should not be null, please convert it to a non-null long value."
        )
    return value // _MICROS
