"""Timers in the order of their times."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Hashable, Iterator, Sequence
from heapq import heappop, heappush
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP

_SORTED_FROM = 16
"""If more than one in so many timers is due, all of those are sorted."""
_INTERVAL_BITS = 17
"""Timers that are not due soon wait in intervals of 2**17 ms."""
Owner = tuple[Any, Hashable]
"""A key and a namespace."""
_Owners = dict[int, "Owner | dict[Owner, None]"]
"""Who has a timer at a time. Mostly a single owner has, who goes without a dict of its own."""


class TimerQueue:
    """Timers by time (ms), unique by time, key and namespace.

    Those of one time are in the order in which they were registered.

    Timers that are due soon are in a heap. Later ones wait in intervals of two minutes, where a
    timer costs the same however many there are. When the heap is empty, the next interval takes its
    place.

    Args:
        track_changes: whether to note which timers come and go.
    """

    __slots__ = ("_horizon", "_intervals", "_later", "_soon", "_times", "changed")

    def __init__(self, track_changes: bool = False) -> None:
        self._soon: _Owners = {}
        self._times: list[int] = []
        self._horizon = MIN_TIMESTAMP
        """All timers before it are in the heap."""
        self._later: dict[int, _Owners] = {}
        self._intervals: list[int] = []
        self.changed: dict[tuple[int, Any, Hashable], None] | None = {} if track_changes else None

    @property
    def times(self) -> Sequence[int]:
        """The times of the timers that are due soon, the earliest first; always the same list.

        A deleted timer may still be in it. It is empty only if there are no timers at all.
        """
        return self._times

    def register(self, time: int, key: Any, namespace: Hashable) -> None:
        """Add a timer; nothing happens if it is there already."""
        owner = key, namespace
        if time < self._horizon:
            timers = self._soon
        else:
            timers = self._later.get(time >> _INTERVAL_BITS) or self._begin_interval(time)
        owners = timers.get(time)
        if owners is None:
            timers[time] = owner
            if timers is self._soon:
                heappush(self._times, time)
        elif type(owners) is dict:
            owners[owner] = None
        elif owners != owner:
            timers[time] = {owners: None, owner: None}  # type: ignore[dict-item]
        if self.changed is not None:
            self.changed[time, key, namespace] = None

    def delete(self, time: int, key: Any, namespace: Hashable) -> None:
        """Remove a timer; nothing happens if it is not there."""
        owner = key, namespace
        timers = self._timers_around(time)
        owners = timers.get(time)
        if owners is None:
            return
        if type(owners) is dict:
            owners.pop(owner, None)
        elif owners == owner:
            owners = timers[time] = {}
        if not owners and timers is not self._soon:
            del timers[time]
        if self.changed is not None:
            self.changed.pop((time, key, namespace), None)
            self.changed[time, key, namespace] = None

    def earliest(self) -> int | None:
        """Return the time of the earliest timer, or None."""
        times = self._times
        while times and not self._soon[times[0]]:
            del self._soon[heappop(times)]
            if not times:
                self._refill()
        return times[0] if times else None

    def pop_due(self, limit: int) -> list[tuple[int, Any, Hashable]]:
        """Take out all timers up to a time: time, key and namespace, the earliest first."""
        due: list[tuple[int, Any, Hashable]] = []
        times = self._times
        while times and times[0] <= limit:
            take = self._soon.pop
            for time in self._take_times(limit):
                owners = take(time)
                if type(owners) is dict:
                    due += [(time, *owner) for owner in owners]
                else:
                    key, namespace = owners
                    due.append((time, key, namespace))
            if not times:
                self._refill()
        if self.changed is not None:
            self.changed.update(dict.fromkeys(due))
        return due

    def _take_times(self, limit: int) -> list[int]:
        """Take out of the heap all times up to one, in order.

        When a large part of the heap is due, sorting costs less than taking them out singly.
        """
        times = self._times
        taken: list[int] = []
        few = len(times) // _SORTED_FROM
        while times and times[0] <= limit:
            if len(taken) > few:
                times.sort()  # which leaves a heap
                due = bisect_right(times, limit)
                taken += times[:due]
                del times[:due]
                break
            taken.append(heappop(times))
        return taken

    def _begin_interval(self, time: int) -> _Owners:
        """Return where the timers of a time's interval go, which has none."""
        interval = time >> _INTERVAL_BITS
        timers = self._later.get(interval)
        if timers is not None:
            return timers
        if not self._times:
            self._horizon = (interval + 1) << _INTERVAL_BITS
            return self._soon
        heappush(self._intervals, interval)
        timers = self._later[interval] = {}
        return timers

    def _refill(self) -> None:
        """Fill the empty heap with the first interval that has timers."""
        while self._intervals and not self._times:
            interval = heappop(self._intervals)
            self._horizon = (interval + 1) << _INTERVAL_BITS
            self._soon = self._later.pop(interval)
            self._times += sorted(self._soon)

    def __contains__(self, timer: tuple[int, Any, Hashable]) -> bool:
        return timer[1:] in _each(self._timers_around(timer[0]).get(timer[0], {}))

    def __iter__(self) -> Iterator[tuple[int, Any, Hashable]]:
        """Yield time, key and namespace of each timer, the earliest first."""
        for timers in (self._soon, *(self._later[each] for each in sorted(self._later))):
            for time in sorted(timers):
                for owner in _each(timers[time]):
                    yield time, *owner

    def _timers_around(self, time: int) -> _Owners:
        if time < self._horizon:
            return self._soon
        return self._later.get(time >> _INTERVAL_BITS, {})


def _each(owners: Owner | dict[Owner, None]) -> Collection[Owner]:
    return owners if type(owners) is dict else (owners,)  # type: ignore[return-value]
