"""Watermarks of a chain: combined from all channels, or generated, and emitted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from heapq import heapreplace
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import (
    BUNDLE_SIZE,
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    Bundle,
    ChannelStatus,
    Cursor,
    EndOfInput,
    Watermark,
)
from pyflink_on_spark._runtime.elements.clock import Clock, WatermarkTimer
from pyflink_on_spark._runtime.elements.immutability import (
    are_flat,
    copied,
    is_immutable,
)
from pyflink_on_spark._runtime.operators.timestamps import AssignTimestamps
from pyflink_on_spark._runtime.task.exchange_writer import ChannelEvent, Output

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


class WatermarkValve:
    """The smallest watermark over all channels that are not idle; it never goes back.

    A heap has an entry for each channel, with a watermark that the channel has or had. So an event
    of one of many channels costs little. There is no heap before each channel has a watermark.

    Args:
        channels: the names of all channels; any hashable values.
    """

    def __init__(self, channels: Iterable[Hashable]) -> None:
        self._watermarks = dict.fromkeys(channels, MIN_TIMESTAMP)
        self._without = len(self._watermarks)
        self._heap: list[tuple[int, int, Hashable]] = []
        self._idle: set[Hashable] = set()
        self._open = set(self._watermarks)
        self.current = MIN_TIMESTAMP
        self.idle = False
        """True if every channel that has not ended is idle."""
        self.ended = not self._open
        """True once every channel has ended."""

    def watermark(self, channel: Hashable, timestamp: int) -> int | None:
        """Take a channel's watermark (ms); return the combined one if it has advanced."""
        before = self._watermarks[channel]
        if timestamp > before:
            self._watermarks[channel] = timestamp
            if before == MIN_TIMESTAMP:
                self._without -= 1
        return self._combined()

    def status(self, channel: Hashable, idle: bool) -> int | None:
        """Take a channel's status; return the combined watermark if it has advanced."""
        (self._idle.add if idle else self._idle.discard)(channel)
        self.idle = self._all_idle()
        return self._combined()

    def end(self, channel: Hashable) -> int | None:
        """Take the end of a channel: it holds nothing back any more."""
        self._open.discard(channel)
        self._idle.discard(channel)
        self.idle, self.ended = self._all_idle(), not self._open
        return self.watermark(channel, MAX_WATERMARK)

    def save(self) -> tuple[object, ...]:
        """Return all of it as plain data."""
        return dict(self._watermarks), set(self._idle), set(self._open), self.current

    def load(self, saved: tuple[Any, ...]) -> None:
        """Take over what ``save`` returned, of a valve with the same channels."""
        watermarks, idle, open_channels, self.current = saved
        self._watermarks = dict(watermarks)
        self._without = list(watermarks.values()).count(MIN_TIMESTAMP)
        self._heap = []
        self._idle, self._open = set(idle), set(open_channels)
        self.idle, self.ended = self._all_idle(), not self._open

    def _new_heap(self) -> list[tuple[int, int, Hashable]]:
        marks = self._watermarks
        return sorted(zip(marks.values(), range(len(marks)), marks))

    def _smallest(self) -> int:
        """Return the smallest watermark over all channels."""
        if self._without:
            return MIN_TIMESTAMP
        heap, marks = self._heap or self._new_heap(), self._watermarks
        self._heap = heap
        while heap:
            noted, index, channel = heap[0]
            mark = marks[channel]
            if mark == noted:
                return mark
            heapreplace(heap, (mark, index, channel))
        return MIN_TIMESTAMP

    def _all_idle(self) -> bool:
        return bool(self._open) and self._open <= self._idle

    def _combined(self) -> int | None:
        marks = self._watermarks
        if not self._idle:
            smallest = self._smallest()
        elif self.idle:
            smallest = max(marks[channel] for channel in self._open)
        else:
            smallest = min(mark for name, mark in marks.items() if name not in self._idle)
        if smallest <= self.current:
            return None
        self.current = smallest
        return smallest
