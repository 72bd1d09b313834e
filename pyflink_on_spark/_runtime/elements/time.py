"""Time: clocks, the rhythm of watermarks, the event time of channels; steps, which tests watch."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from heapq import heapreplace
from typing import Any, Protocol

from pyflink_on_spark._runtime.elements.bundle import (
    MAX_WATERMARK,
    MIN_TIMESTAMP,
    ChannelStatus,
    CombinedTime,
    EndOfInput,
    Watermark,
)

TimeEvent = Watermark | ChannelStatus | EndOfInput | CombinedTime
_AFTER_MULTIPLE = 4
"""Watermarks come this part of the interval after its multiples."""


class Clock(Protocol):
    """Processing time."""

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        ...


class SystemClock:
    """The machine's clock."""

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        return time.time_ns() // 1_000_000


class SteadyClock:
    """The machine's clock as it was at first, and the time since then: nobody can set it back."""

    def __init__(self) -> None:
        self._offset = time.time_ns() - time.monotonic_ns()

    def now(self) -> int:
        """Return the time in ms since the epoch."""
        return (time.monotonic_ns() + self._offset) // 1_000_000


@dataclass(frozen=True)
class WatermarkRhythm:
    """The rhythm of watermarks; without both limits only the end of input emits one.

    Args:
        elements: the number of elements after which a watermark is due; None for no such limit.
        milliseconds: the processing time after which a watermark is due; None for no such limit.
        event_time: by how much (ms) a row may take the watermark of a table further until one is
            due; None for no such limit.
    """

    elements: int | None = 10_000
    milliseconds: int | None = None
    event_time: int | None = None

    @property
    def never(self) -> bool:
        """True if no watermark is emitted before the end of input."""
        return self.elements is None and self.milliseconds is None


class WatermarkTimer:
    """The time at which the next watermark is due.

    By the clock, one is due a quarter of the interval after each multiple of it. So all subtasks
    emit theirs at the same time, and no receiver waits for the subtask that began last. Windows
    mostly end at a multiple, and the quarter is time for the elements of their end to arrive. The
    first one is due once a whole interval has passed: a small input is over before, whenever it
    began.

    Args:
        rhythm: how often.
        now: the processing time in ms.
    """

    __slots__ = ("_begin", "_due", "_rhythm", "_seen")

    def __init__(self, rhythm: WatermarkRhythm, now: int) -> None:
        self._rhythm = rhythm
        self._begin, self._seen = now, 0
        self._due = self._first_from(now + (rhythm.milliseconds or 0))

    def seen(self, elements: int) -> None:
        """Count elements."""
        self._seen += elements

    def room(self, most: int) -> int:
        """Return how many elements may come before a watermark is due by their number."""
        elements = self._rhythm.elements
        return most if elements is None else max(1, min(most, elements - self._seen))

    def due(self, now: int) -> bool:
        """True if a watermark is due; the caller emits one and calls ``reset``."""
        return self.due_by_count or self.due_by_clock(now)

    @property
    def due_by_count(self) -> bool:
        """True once enough elements were seen since the last watermark."""
        elements = self._rhythm.elements
        return elements is not None and self._seen >= elements

    def due_by_clock(self, now: int) -> bool:
        """True once the time has come, or the clock was set back."""
        return self._rhythm.milliseconds is not None and not self._begin <= now < self._due

    def reset(self, now: int) -> None:
        """Begin the next interval."""
        self._begin, self._due, self._seen = now, self._first_from(now + 1), 0

    def _first_from(self, earliest: int) -> int:
        """Return the first time (ms) that is due for all subtasks, not before ``earliest``."""
        interval = self._rhythm.milliseconds
        if not interval:
            return earliest
        return earliest + (interval // _AFTER_MULTIPLE - earliest) % interval


class WatermarkValve:
    """The event time of an input: the smallest watermark of its channels; it never goes back.

    Idle channels do not count. A channel that is active again, with an older watermark than was
    emitted, counts from when it has caught up. Once all channels are idle, the largest watermark is
    emitted. A channel that has ended is active, and has the largest possible watermark.

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
        self._older: set[Hashable] = set()
        self._open = set(self._watermarks)
        self.current = MIN_TIMESTAMP
        self.idle = False
        """True if every channel is idle."""
        self.ended = not self._open
        """True once every channel has ended."""

    @property
    def time(self) -> CombinedTime:
        """All that matters of the channels to a receiver."""
        return CombinedTime(self.current, self.idle, self.ended)

    @property
    def idle_channels(self) -> frozenset[Hashable]:
        """The channels that are idle."""
        return frozenset(self._idle)

    def take(self, channel: Hashable, event: TimeEvent) -> int | None:
        """Take a channel's event; return the combined watermark if it has advanced."""
        if isinstance(event, Watermark):
            return self.watermark(channel, event.timestamp)
        if isinstance(event, ChannelStatus):
            return self.status(channel, event.idle)
        if isinstance(event, CombinedTime):
            return self._several(channel, event)
        return self.end(channel)

    def _several(self, channel: Hashable, time: CombinedTime) -> int | None:
        """Take the time of all channels of the input, for which one stands."""
        if time.ended:
            return self.end(channel)
        advanced = None
        if time.watermark > self.current:
            self.status(channel, idle=False)
            advanced = self.watermark(channel, time.watermark)
        self.status(channel, time.idle)
        return advanced

    def watermark(self, channel: Hashable, timestamp: int) -> int | None:
        """Take a channel's watermark (ms); return the combined one if it has advanced."""
        before = self._watermarks[channel]
        if timestamp <= before or channel in self._idle:
            return None
        self._watermarks[channel] = timestamp
        if before == MIN_TIMESTAMP:
            self._without -= 1
        if self._older and timestamp >= self.current:
            self._older.discard(channel)
        return self._advance(self._smallest())

    def status(self, channel: Hashable, idle: bool) -> int | None:
        """Take a channel's status; return the combined watermark if it has advanced."""
        mark = self._watermarks[channel]
        if not idle:
            if channel in self._idle:
                self._idle.remove(channel)
                if mark < self.current:
                    self._older.add(channel)
            self.idle = False
            return None
        self._idle.add(channel)
        self.idle = len(self._idle) == len(self._watermarks)
        if mark != self.current:
            return None
        return self._advance(max(self._watermarks.values()) if self.idle else self._smallest())

    def end(self, channel: Hashable) -> int | None:
        """Take the end of a channel: it holds nothing back any more."""
        self._open.discard(channel)
        self.ended = not self._open
        self.status(channel, idle=False)
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
        active = self._watermarks.keys() - self._idle
        self._older = {name for name in active if watermarks[name] < self.current}
        self.idle, self.ended = bool(watermarks) and not active, not self._open

    def _advance(self, watermark: int) -> int | None:
        if watermark <= self.current:
            return None
        self.current = watermark
        return watermark

    def _smallest(self) -> int:
        """Return the smallest watermark of the channels that count."""
        idle, older = self._idle, self._older
        if not idle and not older:
            return self._smallest_of_all()
        counting = (
            mark
            for channel, mark in self._watermarks.items()
            if channel not in idle and channel not in older
        )
        return min(counting, default=MIN_TIMESTAMP)

    def _smallest_of_all(self) -> int:
        if self._without:
            return MIN_TIMESTAMP
        marks, heap = self._watermarks, self._heap
        if not heap:
            heap = self._heap = sorted(zip(marks.values(), range(len(marks)), marks))
        while True:
            noted, index, channel = heap[0]
            mark = marks[channel]
            if mark == noted:
                return mark
            heapreplace(heap, (mark, index, channel))


class EventTime:
    """The event time of a chain: the smallest of its inputs that are not idle.

    Unlike a channel, an input that is active again holds the others back at once; and where all
    inputs are idle, the time stays.

    Args:
        channels: the number of the input that each channel leads to.
    """

    def __init__(self, channels: Mapping[object, int]) -> None:
        inputs: dict[int, list[Hashable]] = {}
        for channel, number in channels.items():
            inputs.setdefault(number, []).append(channel)
        self._valves = [WatermarkValve(names) for names in inputs.values()]
        self._valve_of = {
            channel: valve
            for valve, names in zip(self._valves, inputs.values(), strict=True)
            for channel in names
        }
        self.current = MIN_TIMESTAMP
        self.idle = False
        """True if every input is idle."""
        self.ended = not self._valves
        """True once every input has ended."""

    def take(self, channel: Hashable, event: TimeEvent) -> int | None:
        """Take a channel's event; return the combined watermark if it has advanced."""
        valve, valves, before = self._valve_of[channel], self._valves, self.current
        if valve.take(channel, event) is not None:  # before its input is idle, if it is idle now
            self._reach(each.current for each in valves if each is valve or not each.idle)
        self._reach(each.current for each in valves if not each.idle)
        self._note_status()
        return self.current if self.current > before else None

    @property
    def idle_channels(self) -> frozenset[Hashable]:
        """The channels that are idle."""
        return frozenset().union(*(valve.idle_channels for valve in self._valves))

    def save(self) -> tuple[object, ...]:
        """Return all of it as plain data."""
        return self.current, [valve.save() for valve in self._valves]

    def load(self, saved: tuple[Any, ...]) -> None:
        """Take over what ``save`` returned, of a chain with the same channels."""
        self.current, valves = saved
        for valve, state in zip(self._valves, valves, strict=True):
            valve.load(state)
        self._note_status()

    def _reach(self, times: Iterable[int]) -> None:
        self.current = max(self.current, min(times, default=MIN_TIMESTAMP))

    def _note_status(self) -> None:
        self.idle = all(valve.idle for valve in self._valves)
        self.ended = all(valve.ended for valve in self._valves)


_watchers: list[Callable[[str], None]] = []


def step(name: str) -> None:
    """Note that a step of the protocol is done; nothing happens unless somebody watches.

    Args:
        name: a literal, and another one for each place in the code.
    """
    for watcher in _watchers:
        watcher(name)


def watch(watcher: Callable[[str], None]) -> Callable[[], None]:
    """Call a function at each step of this process; return what ends that.

    Args:
        watcher: gets the name of the step; what it raises comes out of the step.
    """
    _watchers.append(watcher)
    return lambda: _watchers.remove(watcher)
