"""Aggregates the rows of windows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.late_rows import LateRows, register_watermark_latency
from pyflink_on_spark._runtime.state.keyed_timers import millisecond_from
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY, to_local

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

STATE_NAME = "windows"
_MICROS = 1000
_LAST_DATE = 8000 * 365 * MICROS_PER_DAY


def last_millisecond(end: int) -> int:
    """Return the watermark (ms) that ends a window, whose end is in microseconds."""
    return millisecond_from(end - _MICROS)


class WindowOperator(KeyedProgramOperator):
    """What all operators over windows have in common: when windows end.

    Args:
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(self, event_time: bool, zone: str | None) -> None:
        self._event_time, self._zone = event_time, zone
        self._reached = MIN_TIMESTAMP * _MICROS
        self._watermark = MIN_TIMESTAMP

    def open(self, context: OperatorContext) -> None:
        """Register the metrics."""
        self._late = LateRows(context, rate=True)
        register_watermark_latency(context, lambda: self._watermark)

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Yield the results of the windows that end."""
        self._watermark = watermark
        return self._advance(watermark) if self._event_time else ()

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Yield the results of the windows that end."""
        return () if self._event_time else self._advance(now)

    def _advance(self, time: int) -> Iterable[Any]:
        reached = time * _MICROS
        if self._zone is not None and abs(reached) < _LAST_DATE:
            reached = to_local(reached, self._zone)
        if reached <= self._reached:
            return ()
        self._reached = reached
        return self._ended(reached)

    def _ended(self, reached: int) -> Iterable[Any]:
        """Yield the results of windows whose last moment is not after a time (microseconds)."""
        raise NotImplementedError


class WindowAggregateOperator(WindowOperator):
    """Aggregates rows that have the start and the end of their window.

    Args:
        program: what ``compile_window_aggregate`` returns.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(self, program: Program, event_time: bool, zone: str | None) -> None:
        super().__init__(event_time, zone)
        self._program = program

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        self._add, self._rows = self._load(self._program, context)()
        self._groups = self._state(context, STATE_NAME)
        self._ends: set[Any] = set(self._groups.namespaces())

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing: results come when windows end."""
        self._add(elements, self._use, self._reached, self._late.drop)
        return iter(())

    def _use(self, end: int) -> tuple[Any, Callable[[Any], object]]:
        self._ends.add(end)
        return self._groups.namespace(end)

    def _ended(self, reached: int) -> Iterable[Any]:
        due = sorted(end for end in self._ends if end - _MICROS <= reached)
        for end in due:
            self._ends.discard(end)
            groups, _ = self._groups.namespace(end)
            yield from self._rows(groups.values())
            self._groups.remove(end)


class SessionAggregateOperator(WindowOperator):
    """Aggregates rows of a key whose times are close to each other.

    A late row still counts in a session that has not ended.

    Args:
        program: what ``compile_session_aggregate`` returns.
        event_time: whether watermarks end windows, and not the clock.
        zone: the time zone that windows are in; None where that makes no difference.
    """

    def __init__(self, program: Program, event_time: bool, zone: str | None) -> None:
        super().__init__(event_time, zone)
        self._program = program

    def open(self, context: OperatorContext) -> None:
        """Compile the functions, and find the state."""
        super().open(context)
        functions = self._load(self._program, context)()
        self._create, self._add, self._merge, self._extend, self._rows = functions
        self._sessions = self._state(context, STATE_NAME)
        self._due = self._timers(context, event_time=self._event_time)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield nothing: results come when sessions end."""
        self._extend(elements, self._sessions.current, self._sessions.note, self._place)
        return iter(())

    def _place(self, key: Any, element: Any) -> None:
        """Add an element to the sessions of its key."""
        sessions = self._sessions.current
        own = self._create(element)
        kept = []
        # A session ends before its end: one that begins there continues it.
        for other in sessions.get(key, ()):
            if other[1] <= own[2] and own[1] <= other[2]:
                own = self._united(other, own)
            else:
                kept.append(other)
        if own[2] - _MICROS <= self._reached:
            self._late.drop()
            return
        self._add(own, element)
        self._due.register(last_millisecond(own[2]), key, None)
        kept.append(own)
        sessions[key] = kept
        self._sessions.note(key)

    def _united(self, one: Any, two: Any) -> Any:
        self._merge(one, two)
        one[1], one[2] = min(one[1], two[1]), max(one[2], two[2])
        return one

    def _ended(self, reached: int) -> Iterable[Any]:
        sessions, note = self._sessions.current, self._sessions.note
        due = []
        for _, key, _ in self._due.until(reached // _MICROS):
            found = sessions.get(key, ())
            over = [session for session in found if session[2] - _MICROS <= reached]
            kept = [session for session in found if session[2] - _MICROS > reached]
            for session in kept:
                # It has become longer since.
                self._due.register(last_millisecond(session[2]), key, None)
            if not over:
                continue
            due += over
            if kept:
                sessions[key] = kept
            else:
                del sessions[key]
            note(key)
        due.sort(key=_end)
        yield from self._rows(due)


def _end(session: Any) -> Any:
    return session[2]
