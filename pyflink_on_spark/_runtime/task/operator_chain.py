"""A line of operators inside a subtask, its key groups, and the watermarks that pass it."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    OperatorChainPlan,
    OperatorPlan,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.diagnosis import OperatorLine
from pyflink_on_spark._runtime.elements.bundle import (
    BUNDLE_SIZE,
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    CombinedTime,
    Cursor,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.elements.immutability import (
    are_flat,
    copied,
    is_immutable,
    unwrap_key,
)
from pyflink_on_spark._runtime.elements.time import Clock, EventTime, WatermarkTimer
from pyflink_on_spark._runtime.key_groups import KeyGroups
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, processes
from pyflink_on_spark._runtime.operators.stateless import ConvertOperator, SelectKeyOperator
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, Piece
from pyflink_on_spark._runtime.task.exchange_writer import (
    ChannelEvent,
    ExchangeWriter,
    LocalOutput,
    Output,
    SideOutput,
    ends_of,
)

_LONGEST_SECONDS = 0.005
_MOST = 128
SOURCE_CHANNEL = "source"
"""The channel of a chain's own source."""
Stages = tuple[StagePlan, ...]


class Pacing:
    """Hands out a bundle in slices until a deadline has passed.

    A chain draws the next slice when it is through with the last one. So the clock is read once for
    each slice, not for each element, and a slow function gets slices of one element.

    Args:
        now: the time in seconds; any clock that never goes back.
    """

    __slots__ = ("_now", "_size", "taken")

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now, self._size = now, 1
        self.taken = 0
        """How many elements were handed out."""

    def slices(self, count: int, deadline: float) -> Iterator[slice]:
        """Yield slices of ``count`` elements, at least one, until the deadline (s) has passed."""
        now, before = self._now, self._now()
        self.taken = 0
        while self.taken < count:
            begin = self.taken
            self.taken = min(begin + self._size, count)
            yield slice(begin, self.taken)
            after = now()
            self._adapt(after - before)
            before = after
            if after >= deadline:
                return

    def start(self, count: int) -> float | None:
        """Return the time (s) if ``count`` elements are one slice, which is handed out at once."""
        if count > self._size:
            return None
        self.taken = count
        return self._now()

    def end(self, begun: float) -> None:
        """Note that a slice is processed, which ``start`` has handed out."""
        self._adapt(self._now() - begun)

    def _adapt(self, took: float) -> None:
        if took > _LONGEST_SECONDS:
            self._size = max(1, int(self._size * _LONGEST_SECONDS / took))
        elif self._size < _MOST:
            self._size *= 2


class OperatorChain(OperatorLine):
    """Runs the operators of a chain over the chain's input.

    Bundles and events wait in an inbox until ``step`` processes them, one after the other.

    Args:
        operators: opened by the subtask.
        cursor: shared with the operators.
        main: where the last operator's elements go.
        sides: the side outputs by tag.
        channels: the number of the input that each channel ends in, by the channel's name.
        pacing: cuts bundles where time is over.
    """

    def __init__(
        self,
        operators: list[Operator],
        cursor: Cursor,
        main: Output,
        sides: dict[str, SideOutput],
        channels: Mapping[object, int],
        pacing: Pacing,
    ) -> None:
        self.cursor = cursor
        self._all_sides = self._sides = sides
        self._time = EventTime(channels)
        self._pacing = pacing
        self._heads = operators[0].inputs() if operators else ()
        self.records = 0
        """How many elements have come in."""
        self.inbox: deque[tuple[Hashable, Bundle | ChannelEvent | CombinedTime]] = deque()
        """The queue: with each bundle the number of its input, with each event its channel."""
        self._rest: OperatorChain | None = None
        self._arrange(operators, main)

    def _arrange(self, operators: list[Operator], main: Output) -> None:
        """Note what follows from the operators, and from where the last one's elements go."""
        self.operators, self._main = operators, main
        self._lines: dict[tuple[int, bool], list[Process]] = {}
        self._watermarks = main if isinstance(main, WatermarkOutput) else None
        self._clocked = self._overriding("advance_processing_time")
        self._timed = self._overriding("advance_watermark")
        self._assigns_at_once = (
            self._watermarks is not None
            and not self._watermarks.at_once
            and all(isinstance(operator, ConvertOperator) for operator in operators[:-1])
        )

        self._only_selects_keys = (
            len(operators) == 1
            and isinstance(operators[0], SelectKeyOperator)
            and isinstance(main, ExchangeWriter)
            and main.by_key
        )

    @property
    def watermark(self) -> int:
        """The event time (ms) that has been reached."""
        own = MIN_TIMESTAMP if self._watermarks is None else self._watermarks.emitted
        if self._rest is not None:
            own = max(own, self._rest.watermark)
        return max(self._time.current, own)

    @property
    def follows_clock(self) -> bool:
        """True if processing time has an effect on the chain."""
        return bool(self._clocked) or self._watermarks is not None

    @property
    def ended(self) -> bool:
        """True once all channels have ended and the inbox is empty."""
        return self._time.ended and not self.inbox

    @property
    def ending(self) -> bool:
        """True once all channels have ended."""
        return self._time.ended

    def cut(
        self, place: int, channel: int, nodes: Container[int], now: Callable[[], float]
    ) -> tuple[LocalOutput, OperatorChain]:
        """Keep the operators before a place; a new chain of the others receives their output.

        Args:
            place: the index of an operator.
            channel: the name of the edge between them.
            nodes: the numbers of the operators that stay, in the job.
            now: the time in seconds; any clock that never goes back.

        Returns:
            Where elements go, which is to be connected, and the chain of the others.
        """
        self.cursor.part()
        stay = {tag: side for tag, side in self._sides.items() if int(tag.split("/")[0]) in nodes}
        leave = {tag: side for tag, side in self._sides.items() if tag not in stay}
        rest = OperatorChain(
            self.operators[place:], self.cursor, self._main, leave, {channel: 0}, Pacing(now)
        )
        rest._all_sides, rest._rest = self._all_sides, self._rest
        watermark = self._time.current
        if watermark != MIN_TIMESTAMP:
            watermark -= sum(each.watermark_delay for each in self.operators[:place])
        rest._time.take(channel, CombinedTime(watermark, self._time.idle))
        output = LocalOutput(rest.receive, 0, rest.take_event, channel, True, True)
        self._sides, self._rest = stay, rest
        self._arrange(self.operators[:place], output)
        return output, rest

    def ends(self) -> Iterator[Output]:
        """Yield the ends of all edges that leave it."""
        for output in (self._main, *(side.output for side in self._sides.values())):
            end = output.output if isinstance(output, WatermarkOutput) else output
            yield from ends_of(end)

    def side_output(self, tag: str, value: object) -> None:
        """Emit to a side output; without a consumer nothing happens."""
        side = self._all_sides.get(tag)
        if side is not None:
            side.add(value, self.cursor.timestamp)

    def receive(self, port: int, bundle: Bundle) -> None:
        """Queue a bundle."""
        self.records += len(bundle.values)
        self.inbox.append((port, bundle))

    def take_event(self, channel: Hashable, event: ChannelEvent | CombinedTime) -> None:
        """Queue an event."""
        self.inbox.append((channel, event))

    def step(self, deadline: float) -> None:
        """Process the first bundle or event that waits; of a bundle as much as there is time for.

        Args:
            deadline: when time is over, by the clock of the pacing (s).
        """
        where, event = self.inbox.popleft()
        if not isinstance(event, Bundle):
            self._take(where, event)
            return
        assert isinstance(where, int)
        done = self._process(where, event, deadline)
        if done < len(event.values):
            self.inbox.appendleft((where, event.after(done)))

    def feed(self, port: int, elements: Iterator[object]) -> None:
        """Process elements; the cursor gets their timestamps as they are drawn."""
        if len(self._heads) > 1:
            self._run(self._heads[port](elements), 1)
        else:
            self._run(elements, 0)

    def tick(self, now: int) -> None:
        """Let operators fire what is due by processing time (ms), and emit a watermark if due."""
        for index, operator in self._clocked:
            self._emit(operator.advance_processing_time(now), index)
        if self._watermarks is not None:
            self._watermarks.tick(now)

    def next_processing_time(self) -> int | None:
        """Return when (ms) the clock may have an effect next, unless an element comes before."""
        times = [operator.next_processing_time() for _, operator in self._clocked]
        if self._watermarks is not None:
            times.append(self._watermarks.next_processing_time())
        return min((time for time in times if time is not None), default=None)

    def prepare_barrier(self) -> None:
        """Let operators emit what belongs to before a barrier."""
        for index, operator in self._overriding("prepare_barrier"):
            self._emit(operator.prepare_barrier(), index)

    def save_time(self) -> tuple[object, ...]:
        """Return the event time of the chain and of its channels, as plain data."""
        output = None if self._watermarks is None else self._watermarks.save()
        return self._time.save(), output

    def load_time(self, saved: tuple[Any, ...]) -> None:
        """Take over what ``save_time`` returned, in a chain that is open.

        A source that was idle is read again, and holds others back until it is idle again.
        """
        time, output = saved
        self._time.load(time)
        if self._watermarks is not None and output is not None:
            self._watermarks.load(output)
        if self._time.current > MIN_TIMESTAMP:
            self._advance(self._time.current)
        if SOURCE_CHANNEL in self._time.idle_channels:
            self._take(SOURCE_CHANNEL, ChannelStatus(idle=False))

    def _process(self, port: int, bundle: Bundle, deadline: float) -> int:
        """Process a bundle until time is over; return the number of processed elements."""
        count, pacing = len(bundle.values), self._pacing
        begun = pacing.start(count)
        if begun is None:
            parts = _parts(bundle, pacing.slices(count, deadline))
            self._draw(port, bundle, chain.from_iterable(parts))
        else:
            self._draw(port, bundle, iter(_whole(bundle)))
            pacing.end(begun)
        return pacing.taken

    def _draw(self, port: int, bundle: Bundle, elements: Iterator[object]) -> None:
        """Process the elements of a bundle, those with keys in pairs."""
        if self._only_selects_keys and bundle.keys is None:
            self._send_with_keys(bundle, elements)
        elif bundle.timestamps is None:
            self.cursor.timestamp = None
            if self._assigns_at_once and bundle.keys is None:
                for convert in self.operators[:-1]:
                    elements = convert.process(elements)
                assert self._watermarks is not None
                self._watermarks.assign(elements)
            else:
                self.feed(port, elements)
        elif len(self._heads) > 1:
            self.feed(port, _with_cursor(elements, bundle.timestamps, self.cursor))
        else:
            self._run(zip(elements, bundle.timestamps, strict=False), 0, timed=True)

    def _send_with_keys(self, bundle: Bundle, elements: Iterator[object]) -> None:
        """Hand on a bundle with the keys of its elements; there is no other work for each."""
        keys = [key for key, _ in self._line(0)[0](elements)]
        done = bundle.first(len(keys))
        done.keys = keys
        self._main.write_bundle(done)

    def _take(self, channel: Hashable, event: ChannelEvent | CombinedTime) -> None:
        time = self._time
        if time.ended:
            return
        was_idle = time.idle
        self._advance(time.take(channel, event))
        if time.ended:
            for index, operator in self._overriding("end_input"):
                self._emit(operator.end_input(), index)
            self._tell(EndOfInput())
        elif time.idle != was_idle:
            self._tell(ChannelStatus(time.idle))

    def _advance(self, watermark: int | None) -> None:
        if watermark is None:
            return
        for index, operator in self._timed:
            self._emit(operator.advance_watermark(watermark), index)
            if operator.watermark_delay and watermark != MAX_WATERMARK:
                watermark -= operator.watermark_delay
        self._tell(Watermark(watermark))

    def _overriding(self, method: str) -> list[tuple[int, Operator]]:
        """Return the operators, and their places, that have a method of their own."""
        return [
            (index, operator)
            for index, operator in enumerate(self.operators)
            if getattr(type(operator), method) is not getattr(Operator, method)
        ]

    def _emit(self, produced: Iterable[object], index: int) -> None:
        """Pass an operator's results to the outputs."""
        if produced != ():
            self._run(iter(produced), index + 1)

    def _run(self, elements: Iterator[object], start: int, timed: bool = False) -> None:
        for process in self._line(start, timed):
            elements = process(elements)
        self._main.write(elements, self.cursor)
        for side in self._sides.values():
            side.flush()

    def _line(self, start: int, timed: bool = False) -> list[Process]:
        """The functions that elements pass from an operator on; all operators are open.

        Args:
            start: the operator's place.
            timed: whether each element comes in a pair with its timestamp.
        """
        line = self._lines.get((start, timed))
        if line is None:
            operators = self.operators[start:]
            if timed or any(isinstance(each, FusableOperator) for each in operators):
                line = processes(operators, self.cursor if timed else None)
            else:
                line = [each.process for each in operators]
            self._lines[start, timed] = line
        return line

    def _tell(self, event: ChannelEvent) -> None:
        self._main.event(event)
        for side in self._sides.values():
            side.output.event(event)


class NoOutput:
    """Draws the elements of a chain that no edge leaves."""

    def write(self, elements: Iterator[object], cursor: Cursor) -> None:
        """Draw all elements."""
        for _ in elements:
            pass

    def write_bundle(self, bundle: Bundle) -> None:
        """Do nothing: the elements are drawn already."""

    def event(self, event: ChannelEvent) -> None:
        """Do nothing."""


def _parts(bundle: Bundle, slices: Iterator[slice]) -> Iterator[Iterable[object]]:
    values, keys = bundle.values, bundle.keys
    if keys is None:
        for part in slices:
            yield values[part]
    else:
        for part in slices:
            yield zip(keys[part], values[part], strict=True)


def _whole(bundle: Bundle) -> Iterable[object]:
    values, keys = bundle.values, bundle.keys
    return values if keys is None else zip(keys, values, strict=True)


def _with_cursor(
    elements: Iterable[object], timestamps: Iterable[int | None], cursor: Cursor
) -> Iterator[object]:
    """Yield elements, of which a part may be left; set the cursor to each timestamp before."""
    for value, cursor.timestamp in zip(elements, timestamps, strict=False):
        yield value


def in_their_key_groups(
    plan: OperatorPlan, pieces: Iterable[tuple[int, Piece]], key_groups: KeyGroups
) -> Iterator[Piece]:
    """Yield pieces of keyed state; the first key of each is looked at.

    Args:
        plan: the operator that the pieces belong to.
        pieces: with the key group of each.
        key_groups: the key groups of the operator's keys in this job.

    Raises:
        CheckpointError: the keys are in other key groups than before, because their declared type
            is another one.
    """
    for group, piece in pieces:
        for key in _first_key(piece):
            if not is_in(key_groups, key, group):
                raise CheckpointError(misplaced(plan, key))
        yield piece


def misplaced(plan: OperatorPlan, key: object) -> str:
    """Return a sentence about an operator's key that the job would not find."""
    typed = "no key_type" if plan.key_type is None else f"the key_type {plan.key_type}"
    return (
        f"the checkpoint has the key {unwrap_key(key)!r} of {plan.state_id!r} in another key group "
        f"than a job with {typed} would look in: give key_by the key_type with which the state was "
        "written."
    )


def is_in(key_groups: KeyGroups, key: object, group: int) -> bool:
    """True if a key, in the engine's form, belongs to a key group."""
    try:
        return key_groups.of(key) == group
    except (TypeError, ValueError, AttributeError, OverflowError):
        return False  # a key that does not even have the declared type


def _first_key(piece: Piece) -> Iterator[object]:
    if isinstance(piece, KeyGroupState):
        for namespaces in piece.tables.values():
            for entries in namespaces.values():
                for key in entries:
                    yield key
                    return
        if piece.timers:
            yield piece.timers[0][2]
    elif piece.entries:
        yield piece.entries[0][2]


def with_key_groups(stages: Stages, counts: Mapping[str, int]) -> Stages:
    """Return a job's stages, with other numbers of key groups.

    Args:
        stages: all of the job.
        counts: how many key groups operators have in the checkpoint, by the stable name of each.

    Raises:
        CheckpointError: if an operator has more subtasks than it has key groups there.
    """
    exchanges: dict[int, int] = {}
    for stage in stages:
        for vertex in stage.vertices:
            _check(vertex, counts)
            for channel in vertex.inputs:
                head = vertex.chains[channel.chain].operators[0]
                if head.state_id is not None and head.state_id in counts:
                    exchanges[channel.exchange.first_channel] = counts[head.state_id]

    def exchange(plan: ExchangePlan) -> ExchangePlan:
        count = exchanges.get(plan.first_channel, plan.max_parallelism)
        return replace(plan, max_parallelism=count)

    def with_count(plan: OperatorChainPlan) -> OperatorChainPlan:
        return replace(
            plan,
            operators=tuple(
                replace(one, max_parallelism=counts.get(one.state_id or "", one.max_parallelism))
                for one in plan.operators
            ),
            outputs=tuple(
                replace(output, edge=exchange(output.edge))
                if isinstance(output.edge, ExchangePlan)
                else output
                for output in plan.outputs
            ),
        )

    def with_counts(plan: VertexPlan) -> VertexPlan:
        return replace(
            plan,
            chains=tuple(map(with_count, plan.chains)),
            inputs=tuple(
                replace(channel, exchange=exchange(channel.exchange)) for channel in plan.inputs
            ),
        )

    return tuple(
        replace(stage, vertices=tuple(map(with_counts, stage.vertices))) for stage in stages
    )


def _check(vertex: VertexPlan, counts: Mapping[str, int]) -> None:
    for planned in vertex.chains:
        for operator in planned.operators:
            count = counts.get(operator.state_id or "", vertex.parallelism)
            if count < vertex.parallelism:
                raise CheckpointError(
                    f"{operator.name}: the checkpoint has {count} key groups, and a parallelism of "
                    f"{vertex.parallelism} needs as many at least"
                )


_MOST_WATERMARKS = 10_000
_ELEMENTS_EACH = 64
_END_MS = 20
"""How long Flink's tasks take to end, in which a short watermark interval passes."""


class WatermarkOutput:
    """Hands elements on with their timestamps, and watermarks between them.

    A watermark that came due during a slow call is emitted before the results of that call.

    Args:
        assigner: the last operator of the chain.
        output: where the elements go.
        clock: processing time.
    """

    def __init__(self, assigner: AssignTimestamps, output: Output, clock: Clock) -> None:
        self._assigner, self.output, self._clock = assigner, output, clock
        now = clock.now()
        self._timer = WatermarkTimer(assigner.rhythm, now)
        self._last_active, self._idle = now, False
        self.emitted = MIN_TIMESTAMP
        """The last watermark (ms)."""
        self._ended = False
        self._allowed: float = _MOST_WATERMARKS
        self.at_once = assigner.at_once

    def write(self, elements: Iterator[object], cursor: Cursor) -> None:
        """Hand elements on; the assigner at the end of the chain has noted their timestamps."""
        if self.at_once:
            while values := list(islice(elements, self._timer.room(BUNDLE_SIZE))):
                for part in self._parts(values):
                    self._hand_on(part, None)
            return
        while values := list(islice(elements, self._timer.room(BUNDLE_SIZE))):
            self._hand_on(values, self._assigner.take_timestamps())

    def _parts(self, values: list[object]) -> Iterator[list[object]]:
        """Yield elements in parts, and emit a watermark after each part but the last one.

        A part ends where event time has advanced far enough. After many watermarks there is one for
        some elements at most, so that they do not cost more than the elements.
        """
        start, room = 0, 0
        if self._assigner.rhythm.event_time is not None:
            self._allowed = min(_MOST_WATERMARKS, self._allowed + len(values) / _ELEMENTS_EACH)
            room = int(self._allowed)
        for end in self._assigner.advances(values, self.emitted, room):
            self._allowed -= 1
            yield values[start:end]
            self._emit(self._clock.now())
            start = end
        if start < len(values):
            yield values[start:] if start else values

    def assign(self, elements: Iterator[object]) -> None:
        """Do what ``write`` does for elements that the assigner has not seen, a chunk at a time."""
        while values := list(islice(elements, self._timer.room(BUNDLE_SIZE))):
            if not are_flat(values):
                values = [value if is_immutable(value) else copied(value) for value in values]
            self._hand_on(values, self._assigner.timestamps_of(values))

    def write_bundle(self, bundle: Bundle) -> None:
        """Raise: the elements of such a chain come through its assigner."""
        raise AssertionError("a chain with an assigner hands on no whole bundles")

    def event(self, event: ChannelEvent) -> None:
        """Pass on the end and idleness; of the watermarks that come in only the last one."""
        if isinstance(event, Watermark):
            if event.timestamp != MAX_WATERMARK:
                return
            now = self._clock.now()
            if self._timer.due_by_clock(now + _END_MS):
                self._emit(now)
        self._ended = self._ended or isinstance(event, EndOfInput)
        self.output.event(event)

    def tick(self, now: int) -> None:
        """Emit the watermark if the clock (ms) makes one due; tell when elements stay out."""
        if self._ended:
            return
        if self._timer.due_by_clock(now):
            self._emit(now)
        idle_after = self._assigner.idle_after
        if idle_after is not None and not self._idle and now - self._last_active >= idle_after:
            self._emit(now)
            self._idle = True
            self.output.event(ChannelStatus(idle=True))

    def next_processing_time(self) -> int | None:
        """Return when (ms) it may emit something next, unless an element comes before.

        A watermark that elements have made due counts as emitted.
        """
        idle_after = self._assigner.idle_after
        if self._ended or self._idle or idle_after is None:
            return None
        return self._last_active + idle_after

    def save(self) -> tuple[int, bool, bool]:
        """Return how far it is, as plain data."""
        return self.emitted, self._idle, self._ended

    def load(self, saved: tuple[int, bool, bool]) -> None:
        """Take over what ``save`` returned."""
        self.emitted, self._idle, self._ended = saved

    def _hand_on(self, values: list[object], timestamps: list[int | None] | None) -> None:
        now = self._clock.now()
        if self._timer.due_by_clock(now):
            self._emit(now)
        if self._idle:
            self._idle = False
            self.output.event(ChannelStatus(idle=False))
        self._last_active = now
        self.output.write_bundle(Bundle(values, timestamps))
        self._assigner.handed_on()
        self._timer.seen(len(values))
        if self._timer.due_by_count:
            self._emit(now)

    def _emit(self, now: int) -> None:
        self._timer.reset(now)
        watermark = self._assigner.watermark
        if watermark > self.emitted:
            self.emitted = watermark
            self.output.event(Watermark(watermark))
