"""Assigns event timestamps and makes watermarks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, MIN_TIMESTAMP
from pyflink_on_spark._runtime.cursor import Cursor
from pyflink_on_spark._runtime.operators.context import OperatorContext
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.types.int64 import time_in_ms
from pyflink_on_spark._runtime.user_code.user_function import UserFunction


class AssignTimestamps(Operator):
    """The last operator of its segment: gives elements timestamps, and the segment watermarks.

    A watermark comes after every ``interval`` elements, never by the clock, so that a task that is
    run again makes the same ones.

    Args:
        assigner: the user's TimestampAssigner, or None to keep the timestamps that there are.
        out_of_orderness: by how much (ms) a timestamp may lie behind; None for no watermarks.
        interval: after how many elements a watermark comes; 0 for none before the end. The job
            decides, with ``every``.
        idle_after: after how long without elements (ms) the stream holds others back no more; None
            for never. It is looked at between two epochs of a job that does not end by itself.
    """

    emits_timestamps = True

    at_once = False
    """Whether ``timestamps_of`` is asked about what ``process`` yields, a bundle at a time."""

    def __init__(
        self,
        assigner: UserFunction | None,
        out_of_orderness: int | None,
        interval: int = 0,
        idle_after: int | None = None,
    ) -> None:
        self._assigner = assigner
        self._idle_after = idle_after
        self._idle = False
        self._delay = out_of_orderness
        self._interval = interval if out_of_orderness is not None else 0
        self._seen = 0
        self._largest = MIN_TIMESTAMP
        self._timestamps: list[int | None] = []

    def every(self, elements: int) -> AssignTimestamps:
        """Return the same with another interval, in elements."""
        return AssignTimestamps(self._assigner, self._delay, elements, self._idle_after)

    def open(self, context: OperatorContext) -> None:
        """Load the user's assigner."""
        self._cursor: Cursor = context.cursor
        self._clock = context.clock
        self._last_active = context.clock.now()
        self._extract: Any = (
            self._assigner.load().extract_timestamp if self._assigner is not None else None
        )

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements; the cursor has their timestamps, and ``take_timestamps`` too."""
        cursor, extract, note = self._cursor, self._extract, self._timestamps.append
        largest = self._largest
        try:
            for value in elements:
                timestamp = before = cursor.timestamp
                if extract is not None:
                    timestamp = extract(value, MIN_TIMESTAMP if timestamp is None else timestamp)
                    if type(timestamp) is not int:
                        timestamp = time_in_ms(timestamp)
                    cursor.timestamp = timestamp
                if timestamp is not None and timestamp > largest:
                    largest = self._largest = time_in_ms(timestamp)
                note(timestamp)
                yield value
                cursor.timestamp = before
        finally:
            self._largest = largest

    def timestamps_of(self, values: list[Any]) -> list[int | None] | None:
        """Return the timestamps of elements that had none, as ``process`` would give them."""
        extract = self._extract
        if extract is None:
            return [None] * len(values)
        timestamps: list[int | None] = []
        note = timestamps.append
        for value in values:
            timestamp = extract(value, MIN_TIMESTAMP)
            if type(timestamp) is not int:
                timestamp = time_in_ms(timestamp)
            note(timestamp)
        if values:
            self._largest = max(self._largest, time_in_ms(max(timestamps)))  # type: ignore[type-var]
        return timestamps

    def take_timestamps(self) -> list[int | None]:
        """Return, once, the timestamps of the elements that were yielded."""
        taken = self._timestamps[:]
        self._timestamps.clear()
        return taken

    def wakes(self) -> bool:
        """Note that there are elements; tell whether the stream was idle before."""
        if self._idle_after is None:
            return False
        self._last_active = self._clock.now()
        was_idle, self._idle = self._idle, False
        return was_idle

    def falls_idle(self) -> bool:
        """Tell, once, that there were no elements for too long."""
        if self._idle_after is None or self._idle:
            return False
        self._idle = self._clock.now() - self._last_active >= self._idle_after
        return self._idle

    def until_watermark(self) -> int:
        """Return how many elements may come before the next watermark, at most a bundle."""
        if not self._interval:
            return BUNDLE_SIZE
        return min(BUNDLE_SIZE, self._interval - self._seen)

    def counted(self, elements: int) -> int | None:
        """Count elements; return the watermark (ms) that is due, if one is."""
        self._seen += elements
        if not self._interval or self._seen < self._interval:
            return None
        return self.current_watermark()

    def current_watermark(self) -> int | None:
        """Return the watermark (ms) of the elements so far, if there is one, and count anew."""
        self._seen = 0
        reached = self.event_time
        return reached if self._interval and reached != MIN_TIMESTAMP else None

    @property
    def event_time(self) -> int:
        """The event time (ms) that the elements so far have reached."""
        if self._delay is None or self._largest == MIN_TIMESTAMP:
            return MIN_TIMESTAMP
        return self._largest - self._delay - 1
