"""A straight line of operators inside a subtask."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator
from itertools import islice
from typing import Any, Protocol

from pyflink_on_spark._runtime.bundle import (
    BUNDLE_SIZE,
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.cursor import Cursor, noting, timed
from pyflink_on_spark._runtime.immutability import (
    ImmutabilityGuard,
    Isolation,
    are_flat,
    deserialize,
    deserialize_all,
    serialize,
)
from pyflink_on_spark._runtime.operators.boundary import ConvertOperator
from pyflink_on_spark._runtime.operators.function_loop import processes
from pyflink_on_spark._runtime.operators.operator import Operator, Process
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.task.watermark_valve import WatermarkValve


class Output(Protocol):
    """Where a segment's elements go."""

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
        """Take over all elements of a lazy iterator."""
        ...

    def write_bundle(self, bundle: Bundle) -> None:
        """Take over elements that nobody else can change any more."""
        ...

    def event(self, event: Watermark | ChannelStatus | EndOfInput) -> None:
        """Take something that is no element."""
        ...


class LocalOutput:
    """An edge to another segment of the same subtask."""

    def __init__(
        self, target: OperatorChain, port: int, channel: int, timestamped: bool, isolate: bool
    ) -> None:
        self._target, self._port, self._channel = target, port, channel
        self._timestamped = timestamped
        self._freezer = ImmutabilityGuard() if isolate else None

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
        """Collect the elements, then hand them over."""
        while True:
            timestamps: list[int | None] | None = [] if self._timestamped else None
            chunk = islice(elements, BUNDLE_SIZE)
            if timestamps is not None:
                chunk = noting(chunk, cursor, timestamps)  # type: ignore[assignment]
            if self._freezer is None:
                values = list(chunk)
            else:
                values = self._freezer.collect(chunk)
                if self._freezer.sealed:
                    values = deserialize_all(values)
            if not values:
                return
            self._target.receive(self._port, Bundle(values, timestamps))

    def write_bundle(self, bundle: Bundle) -> None:
        """Hand the elements over."""
        self._target.receive(self._port, bundle)

    def event(self, event: Watermark | ChannelStatus | EndOfInput) -> None:
        """Pass on."""
        self._target.event(self._channel, event)


class ForkOutput:
    """Several edges: each gets every element, as it was when it was emitted."""

    def __init__(self, outputs: list[Output], timestamped: bool) -> None:
        self._outputs = outputs
        self._timestamped = timestamped
        self._freezer = ImmutabilityGuard()

    def write(self, elements: Iterator[Any], cursor: Cursor) -> None:
        """Collect the elements, then hand them to one edge after the other."""
        while True:
            timestamps: list[int | None] = []
            chunk = islice(elements, BUNDLE_SIZE)
            if self._timestamped:
                chunk = noting(chunk, cursor, timestamps)  # type: ignore[assignment]
            values = self._freezer.collect(chunk)
            if not values:
                return
            for output in self._outputs:
                copies = (deserialize(v) for v in values) if self._freezer.sealed else iter(values)
                own = Cursor()
                output.write(timed(copies, timestamps, own) if timestamps else copies, own)

    def write_bundle(self, bundle: Bundle) -> None:
        """Hand the elements to one edge after the other."""
        cursor = Cursor()
        elements = iter(bundle.values)
        if bundle.timestamps is not None:
            elements = timed(elements, bundle.timestamps, cursor)
        self.write(elements, cursor)

    def event(self, event: Watermark | ChannelStatus | EndOfInput) -> None:
        """Pass on to every edge."""
        for output in self._outputs:
            output.event(event)


class SideOutput:
    """Collects what operators emit to one tag, until the segment has worked off its input."""

    def __init__(self, outputs: list[Output]) -> None:
        self.output: Output = outputs[0] if len(outputs) == 1 else ForkOutput(outputs, True)
        self._values: list[Any] = []
        self._timestamps: list[int | None] = []

    def add(self, value: Any, timestamp: int | None) -> None:
        """Take an element as it is now."""
        self._values.append(serialize(value))
        self._timestamps.append(timestamp)

    def flush(self) -> None:
        """Hand over what was collected."""
        if self._values:
            values, timestamps = self._values, self._timestamps
            self._values, self._timestamps = [], []
            cursor = Cursor()
            self.output.write(timed(deserialize_all(values), timestamps, cursor), cursor)


class OperatorChain:
    """Runs the operators of a segment over what comes in.

    Args:
        operators: opened by the subtask.
        cursor: shared with the operators.
        main: where the last operator's elements go; None if nowhere.
        sides: the side outputs by tag.
        channels: the names of all channels that end here.
    """

    def __init__(
        self,
        operators: list[Operator],
        cursor: Cursor,
        main: Output | None,
        sides: dict[str, SideOutput],
        channels: Iterable[Hashable],
    ) -> None:
        self.operators = operators
        self.cursor = cursor
        self._main = main
        self._sides = sides
        self._valve = WatermarkValve(channels)
        self.records = 0
        """How many elements have come in."""
        self._heads = operators[0].inputs() if operators else ()
        self._lines: dict[int, list[Process]] = {}
        last = operators[-1] if operators else None
        self._freezer = ImmutabilityGuard()
        self._assigner = last if isinstance(last, AssignTimestamps) else None
        self._converts_only = (
            self._assigner is not None
            and not self._assigner.at_once
            and all(isinstance(op, ConvertOperator) for op in operators[:-1])
        )

    @property
    def watermark(self) -> int:
        """The event time (ms) that has been reached."""
        own = self._assigner.event_time if self._assigner is not None else MIN_TIMESTAMP
        return max(self._valve.current, own)

    def side_output(self, tag: str, value: Any) -> None:
        """Emit to a side output; without a consumer nothing happens."""
        side = self._sides.get(tag)
        if side is not None:
            side.add(value, self.cursor.timestamp)

    def receive(self, port: int, bundle: Bundle) -> None:
        """Work off a bundle."""
        self.records += len(bundle.values)
        elements: Iterator[Any] = iter(bundle.values)
        if bundle.keys is not None:
            elements = zip(bundle.keys, bundle.values, strict=True)
        if bundle.timestamps is None:
            self.cursor.timestamp = None
            if self._assigner is not None and self._converts_only and bundle.keys is None:
                self._assign_at_once(elements, self._assigner)
                return
        else:
            elements = timed(elements, bundle.timestamps, self.cursor)
        self.feed(port, elements)

    def feed(self, port: int, elements: Iterator[Any]) -> None:
        """Work off elements; the cursor gets their timestamps as they are drawn."""
        if len(self._heads) > 1:
            self._run(self._heads[port](elements), 1)
        else:
            self._run(elements, 0)

    def event(self, channel: Hashable, event: Watermark | ChannelStatus | EndOfInput) -> None:
        """Take a watermark, a status or the end of a channel."""
        if isinstance(event, Watermark):
            self._advance(self._valve.watermark(channel, event.timestamp))
        elif isinstance(event, ChannelStatus):
            was_idle = self._valve.idle
            self._advance(self._valve.status(channel, event.idle))
            if self._valve.idle != was_idle:
                self._tell(ChannelStatus(self._valve.idle))
        elif not self._valve.ended:
            self._advance(self._valve.end(channel))
            if self._valve.ended:
                self._each(lambda operator: operator.end_input())
                self._tell(EndOfInput())

    def emit_watermark(self) -> None:
        """Emit the watermark of the elements so far, if the segment makes watermarks itself.

        Where nothing has come for too long, say that the segment is idle.
        """
        if self._assigner is not None and not self._valve.ended:
            watermark = self._assigner.current_watermark()
            if watermark is not None:
                self._tell(Watermark(watermark))
            if self._assigner.falls_idle():
                self._tell(ChannelStatus(idle=True))

    def advance_processing_time(self, now: int) -> None:
        """Let operators fire what is due by processing time (ms)."""
        self._each(lambda operator: operator.advance_processing_time(now))

    def _advance(self, watermark: int | None) -> None:
        if watermark is None:
            return
        self._each(lambda operator: operator.advance_watermark(watermark))
        if self._assigner is None or watermark == MAX_WATERMARK:
            self._tell(Watermark(watermark))

    def _each(self, call: Callable[[Operator], Iterable[Any]]) -> None:
        for index, operator in enumerate(self.operators):
            produced = call(operator)
            if produced != ():
                self._run(iter(produced), index + 1)

    def _run(self, elements: Iterator[Any], start: int) -> None:
        for process in self._line(start):
            elements = process(elements)
        if self._assigner is not None:
            self._write_with_watermarks(elements, self._assigner)
        elif self._main is None:
            deque(elements, maxlen=0)
        else:
            self._main.write(elements, self.cursor)
        for side in self._sides.values():
            side.flush()

    def _line(self, start: int) -> list[Process]:
        """Return what elements go through from an operator on; all operators are open."""
        if start not in self._lines:
            self._lines[start] = processes(self.operators[start:])
        return self._lines[start]

    def _write_with_watermarks(self, elements: Iterator[Any], assigner: AssignTimestamps) -> None:
        if assigner.at_once:
            while values := list(islice(elements, assigner.until_watermark())):
                self._hand_on(values, assigner.timestamps_of(values), assigner)
            return
        while True:
            values = self._freezer.collect(islice(elements, assigner.until_watermark()))
            if not values:
                return
            if self._freezer.sealed:
                values = deserialize_all(values)
            self._hand_on(values, assigner.take_timestamps(), assigner)

    def _assign_at_once(self, elements: Iterator[Any], assigner: AssignTimestamps) -> None:
        """Do what ``feed`` does, where no function runs between two calls of the assigner."""
        for operator in self.operators[:-1]:
            elements = operator.process(elements)
        while values := list(islice(elements, assigner.until_watermark())):
            if not are_flat(values):
                values = list(Isolation().elements(values))
            self._hand_on(values, assigner.timestamps_of(values), assigner)

    def _hand_on(
        self, values: list[Any], timestamps: list[int | None] | None, assigner: AssignTimestamps
    ) -> None:
        if assigner.wakes():
            self._tell(ChannelStatus(idle=False))
        if self._main is not None:
            self._main.write_bundle(Bundle(values, timestamps))
        watermark = assigner.counted(len(values))
        if watermark is not None:
            self._tell(Watermark(watermark))

    def _tell(self, event: Watermark | ChannelStatus | EndOfInput) -> None:
        if self._main is not None:
            self._main.event(event)
        for side in self._sides.values():
            side.output.event(event)
