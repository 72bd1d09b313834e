"""Combines the watermarks of several channels into one."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP


class WatermarkValve:
    """The smallest watermark over all channels that are not idle; it never goes back.

    Args:
        channels: the names of all channels; any hashable values.
    """

    def __init__(self, channels: Iterable[Hashable]) -> None:
        self._watermarks = dict.fromkeys(channels, MIN_TIMESTAMP)
        self._idle: set[Hashable] = set()
        self._open = set(self._watermarks)
        self.current = MIN_TIMESTAMP
        self.idle = False
        """Whether every channel that has not ended is idle."""
        self.ended = not self._open
        """Whether every channel has ended."""

    def watermark(self, channel: Hashable, timestamp: int) -> int | None:
        """Take a channel's watermark (ms); return the combined one if it has advanced."""
        self._watermarks[channel] = max(self._watermarks[channel], timestamp)
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

    def save(self) -> tuple[Any, ...]:
        """Return all of it as plain data."""
        return dict(self._watermarks), set(self._idle), set(self._open), self.current

    def load(self, saved: tuple[Any, ...]) -> None:
        """Take over what ``save`` returned, of a valve with the same channels."""
        watermarks, idle, open_channels, self.current = saved
        self._watermarks = dict(watermarks)
        self._idle, self._open = set(idle), set(open_channels)
        self.idle, self.ended = self._all_idle(), not self._open

    def _all_idle(self) -> bool:
        return bool(self._open) and self._open <= self._idle

    def _combined(self) -> int | None:
        marks = self._watermarks
        if not self._idle:
            smallest = min(marks.values(), default=MIN_TIMESTAMP)
        elif self.idle:
            smallest = max(marks[channel] for channel in self._open)
        else:
            smallest = min(mark for name, mark in marks.items() if name not in self._idle)
        if smallest <= self.current:
            return None
        self.current = smallest
        return smallest
