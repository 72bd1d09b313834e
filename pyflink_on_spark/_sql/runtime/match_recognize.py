"""Finds patterns among the rows of each key.

It follows Flink's library for complex events: the same states, the same conditions on what leads
from one to the next, the same order among the matches that end with one row. A pattern of SQL has
no gaps, so that each match so far consists of all rows since its first one. What a variable has
taken is therefore a slice of these rows, and a match so far is the number of its first row, a
state, and where the slices end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP
from pyflink_on_spark._runtime.operators.timestamps import LateRows
from pyflink_on_spark._sql.codegen.program import Program
from pyflink_on_spark._sql.errors import TableError
from pyflink_on_spark._sql.plan.match import PatternVariable, RowPattern, Skip
from pyflink_on_spark._sql.runtime.rows import KeyedProgramOperator

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


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

    def advance_watermark(self, watermark: int) -> Iterable[object]:
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

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
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

    def advance_processing_time(self, now: int) -> Iterable[object]:
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

    def next_processing_time(self) -> int | None:
        """Return a time that is over: matches may wait for the clock."""
        return 0

    def _settle(self, key: object, held: list[Any]) -> None:
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

    def process(self, elements: Iterator[Any]) -> Iterator[object]:
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


Ends = tuple[int, ...]
"""How many rows there are up to the last one of each variable, from the first row of the match."""
Condition = Callable[[object, Sequence[object], int, Ends, int], bool]
"""The condition of a variable for a row.

The arguments are the row, the rows that are held, the place of the first row of the match among
them, the ends of the variables so far, and the time of the row (ms).
"""
Measure = Callable[[Sequence[object], int, Ends, int], object]
"""The function from a match to its result; the arguments are those of a condition but the row."""

_END, _START = -1, 0
_NO_ROW = math.inf
"""The number in place of a first row that does not exist; larger than all others."""
_FEW = 64
"""So many rows that nothing needs any more are kept, rather than moving the others."""


@dataclass(eq=False)
class _State:
    """A state while the automaton is made.

    Args:
        steps: what leads to other states.
    """

    steps: list[_Step] = field(default_factory=list)

    def forbid(self, variable: int) -> None:
        """Let nothing lead on with a row that a greedy variable before would take."""
        for step in self.steps:
            step.tests = (*step.tests, ~variable)


@dataclass(eq=False)
class _Step:
    """A transition of the automaton.

    Args:
        target: the other state.
        variable: what takes the row; None if none does.
        tests: the variables whose conditions hold; ``~`` means that one does not.
    """

    target: _State
    variable: int | None
    tests: tuple[int, ...]


class Edge(NamedTuple):
    """A way to take a row.

    Args:
        tests: the variables whose conditions have to hold; ``~`` means that one must not.
        variable: what takes the row.
        target: the state after it.
        exits: further tests of the same row, each of which means that the match may end with it.
    """

    tests: tuple[int, ...]
    variable: int
    target: int
    exits: tuple[tuple[int, ...], ...]


def edges_of(variables: Sequence[PatternVariable]) -> list[tuple[Edge, ...]]:
    """Return how each state of a pattern's automaton can take a row; the first one is the start."""
    end = _State()
    following = end
    for number in reversed(range(len(variables))):
        following = _state_of(number, variables[number], following)
    numbers: dict[_State, int] = {end: _END, following: _START}
    exits: dict[_State, tuple[tuple[int, ...], ...]] = {end: ()}
    made: list[tuple[Edge, ...]] = []
    states = [following]
    for state in states:  # which becomes longer
        found = []
        for tests, step in _ways(state):
            target = step.target
            if target not in numbers:
                numbers[target] = len(numbers) - 1
                states.append(target)
            if target not in exits:
                exits[target] = tuple(_exits(target, end))
            assert step.variable is not None
            found.append(Edge(tests, step.variable, numbers[target], exits[target]))
        made.append(tuple(found))
    return made


def _state_of(number: int, variable: PatternVariable, following: _State) -> _State:
    """Return the first state of a variable.

    A variable that takes n to m rows has a state for each of them, one with any number of rows has
    a loop after the states of the least number.
    """
    least = max(variable.least, 1)
    if variable.most is None:
        last = _State()
        last.steps = [_Step(following, None, ()), _Step(last, number, (number,))]
        more = 0
    else:
        last, more = following, variable.most - least
    if variable.greedy and variable.most != least:
        following.forbid(number)
    for _ in range(more):
        last = _taking(number, last, following)
    for _ in range(least - 1):
        last = _taking(number, last, None)
    return _taking(number, last, following if variable.optional else None)


def _taking(number: int, target: _State, past: _State | None) -> _State:
    """Return a state that takes a row, or else continues with another state."""
    steps = [_Step(target, number, (number,))]
    if past is not None:
        steps.append(_Step(past, None, ()))
    return _State(steps)


def _ways(state: _State) -> Iterable[tuple[tuple[int, ...], _Step]]:
    """Yield the steps that take a row, and the tests before each, in Flink's order."""
    todo: list[tuple[_State, tuple[int, ...]]] = [(state, ())]
    while todo:
        state, before = todo.pop()
        for step in state.steps:
            tests = (*before, *step.tests)
            if step.variable is None:
                todo.append((step.target, tests))
            else:
                yield tuple(dict.fromkeys(tests)), step


def _exits(state: _State, end: _State) -> Iterable[tuple[int, ...]]:
    """Yield the tests of each path to the end that takes no further row."""
    todo: list[tuple[_State, tuple[int, ...]]] = [(state, ())]
    while todo:
        state, before = todo.pop()
        for step in state.steps:
            if step.variable is not None:
                continue
            tests = (*before, *step.tests)
            if step.target is end:
                yield tuple(dict.fromkeys(tests))
            else:
                todo.append((step.target, tests))


class _Tests:
    """The conditions for one row, each evaluated once for each match so far that it depends on.

    Args:
        conditions: of the variables.
        alone: for each of them, whether it depends on the row alone.
        row: the row.
        rows: the rows that are held.
        time: the time of the row (ms).
    """

    __slots__ = (
        "_alone", "_conditions", "_ends", "_offset", "_of_match", "_of_row", "_row", "_rows",
        "_time",
    )  # fmt: skip

    def __init__(
        self,
        conditions: Sequence[Condition],
        alone: Sequence[bool],
        row: object,
        rows: Sequence[object],
        time: int,
    ) -> None:
        self._conditions, self._alone = conditions, alone
        self._row, self._rows, self._time = row, rows, time
        self._of_row: dict[int, bool] = {}

    def turn_to(self, offset: int, ends: Ends) -> None:
        """Test the row for another match so far.

        Args:
            offset: the place of its first row among those that are held.
            ends: of its variables.
        """
        self._offset, self._ends = offset, ends
        self._of_match: dict[int, bool] = {}

    def hold(self, tests: tuple[int, ...]) -> bool:
        """True if all tests of an edge hold."""
        for test in tests:
            variable = test if test >= 0 else ~test
            memory = self._of_row if self._alone[variable] else self._of_match
            found = memory.get(variable)
            if found is None:
                condition = self._conditions[variable]
                found = condition(self._row, self._rows, self._offset, self._ends, self._time)
                memory[variable] = found
            if found is not (test >= 0):
                return False
        return True


class Automaton:
    """Finds the matches of a pattern among rows that come in order.

    What it knows of a key is a list of plain values, which it changes in place: the number of the
    first row that is held, these rows, the matches so far, and the matches that wait because an
    earlier one may still become longer. Each of the latter two is a heap by the first row.

    Args:
        pattern: the pattern.
        conditions: of the variables.
        alone: for each of them, whether it depends on the row alone.
        measure: makes what comes out of a match.
    """

    def __init__(
        self,
        pattern: RowPattern,
        conditions: Sequence[Condition],
        alone: Sequence[bool],
        measure: Measure,
    ) -> None:
        self._edges = edges_of(pattern.variables)
        self._pattern, self._conditions, self._alone = pattern, tuple(conditions), tuple(alone)
        self._measure, self._within = measure, pattern.within
        width = len(pattern.variables)
        self._start = (_NO_ROW, 0, _START, (0,) * width)
        self._width = width

    def new(self) -> list[object]:
        """Return the state of a key without rows."""
        return [0, [], [self._start], []]

    @staticmethod
    def is_new(known: list[object]) -> bool:
        """True for the state of a key that may be forgotten."""
        return not known[1]

    def process(self, known: list[Any], row: object, time: int) -> tuple[list[object], bool]:
        """Take the next row; return the matches, and whether a match may begin with the row.

        Args:
            known: what is known of the key.
            row: the row.
            time: its time (ms).
        """
        kept: list[object] = []
        ended: list[object] = []
        begun = self._move(known, row, time, kept, ended)
        rows, complete = known[1], known[3]
        if not ended and len(kept) == 1 and not complete:
            if rows:
                known[:] = self.new()
            return [], False
        rows.append(row)
        known[2] = kept
        for match in ended:
            _push(complete, match)
        made = self._release(known, time) if complete else []
        self._trim(known)
        return made, begun

    def _move(
        self, known: list[Any], row: object, time: int, kept: list[object], ended: list[object]
    ) -> bool:
        """Let all matches so far take a row, and tell whether one begins with it.

        Args:
            known: what is known of the key.
            row: the row.
            time: its time (ms).
            kept: gets the matches so far that may become longer.
            ended: gets the matches that end with the row.
        """
        base, rows, partial, _ = known
        place, width = len(rows), self._width
        tests_of = _Tests(self._conditions, self._alone, row, rows, time)
        hold = tests_of.hold
        begun = False
        for each in partial:
            start, began, state, ends = each
            new = start == _NO_ROW
            if new:
                start, began = base + place, time
            tests_of.turn_to(start - base, ends)
            for tests, variable, target, exits in self._edges[state]:
                if not hold(tests):
                    continue
                taken = ends[:variable] + (ends[-1] + 1,) * (width - variable)
                if target != _END:
                    _push(kept, (start, began, target, taken))
                    begun = begun or new
                if target == _END or any(map(hold, exits)):
                    _push(ended, (start, taken, time))
            if new:
                kept.append(each)
        return begun

    def advance(self, known: list[Any], time: int) -> list[object]:
        """Drop the matches so far that last too long, and return what waited for them.

        Args:
            known: what is known of the key.
            time: how far the time is (ms).
        """
        partial = known[2]
        if not self._within or len(partial) == 1:
            return []
        first = time - self._within
        if all(each[0] == _NO_ROW or each[1] > first for each in partial):
            return []
        kept: list[object] = []
        known[2] = kept
        for each in partial:
            if each[0] == _NO_ROW or each[1] > first:
                _push(kept, each)
        made = self._release(known, time) if known[3] else []
        self._trim(known)
        return made

    def _release(self, known: list[Any], time: int) -> list[object]:
        """Return the rows of complete matches that no earlier partial match holds back."""
        base, rows, partial, complete = known
        made = []
        while complete and (not partial or complete[0][0] <= partial[0][0]):
            start, ends, own_time = _pop(complete)
            first = self._next_first(start, ends)
            _prune(partial, first)
            _prune(complete, first)
            # At the end of the input there is no time that a match could have got.
            at = own_time if time >= MAX_WATERMARK else time
            made.append(self._measure(rows, start - base, ends, at))
        return made

    def _next_first(self, start: int, ends: Ends) -> int:
        """Return the number of the first row that other matches may begin with."""
        skip, target = self._pattern.skip, self._pattern.target
        if skip is Skip.PAST_LAST_ROW:
            return start + ends[-1]
        if skip is Skip.TO_NEXT_ROW:
            return start + 1
        assert target is not None
        first, last = ends[target - 1] if target else 0, ends[target]
        if first == last:
            name = self._pattern.variables[target].name
            raise TableError(
                f"Could not skip to {name}. No such element in the found match. Name a variable "
                "after AFTER MATCH SKIP TO that takes a row of every match."
            )
        found = first if skip is Skip.TO_FIRST else last - 1
        if not found:
            raise TableError("Could not skip to first element of a match.")
        return start + found

    @staticmethod
    def _trim(known: list[Any]) -> None:
        """Forget rows that nothing can need any more."""
        base, rows, partial, complete = known
        first = min(partial[0][0], complete[0][0] if complete else _NO_ROW)
        if first == _NO_ROW:
            rows.clear()
            known[0] = 0
            return
        gone = first - base
        if gone > _FEW and gone * 2 > len(rows):
            del rows[:gone]
            known[0] = first


# -- heaps ---------------------------------------------------------------------------------------
#
# Among matches that begin with the same row, the one that comes first is the one that comes first
# in a heap of Java's. These are the steps of java.util.PriorityQueue; heapq's are others.


def _push(heap: list[Any], item: Any) -> None:
    place = len(heap)
    heap.append(item)
    while place:
        parent = (place - 1) >> 1
        other = heap[parent]
        if item[0] >= other[0]:
            break
        heap[place] = other
        place = parent
    heap[place] = item


def _pop(heap: list[object]) -> Any:
    first, last = heap[0], heap.pop()
    if heap:
        _sift_down(heap, 0, last)
    return first


def _sift_down(heap: list[Any], place: int, item: Any) -> None:
    count = len(heap)
    while (child := 2 * place + 1) < count:
        other = heap[child]
        if child + 1 < count and other[0] > heap[child + 1][0]:
            child += 1
            other = heap[child]
        if item[0] <= other[0]:
            break
        heap[place] = other
        place = child
    heap[place] = item


def _prune(heap: list[Any], first: int) -> None:
    """Drop the matches that begin before a row."""
    if not heap or heap[0][0] >= first:
        return
    heap[:] = [item for item in heap if item[0] >= first]
    for place in reversed(range(len(heap) // 2)):
        _sift_down(heap, place, heap[place])
