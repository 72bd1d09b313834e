"""How far one segment of a subtask is, told at the end of each epoch."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from pyflink_on_spark._runtime.connector import SourceReader
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain
from pyflink_on_spark._runtime.task.progress import TaskProgress, event_time

_SHARE = 0.01


class ThrottledGauge:
    """Finds a figure anew once that costs less than a hundredth of the time since it last did.

    Args:
        find: finds the figure.
        clock: seconds.
    """

    __slots__ = ("_clock", "_due", "_figure", "_find")

    def __init__(
        self, find: Callable[[], int], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._find, self._clock = find, clock
        self._figure, self._due = 0, float("-inf")

    def __call__(self) -> int:
        """Return the figure, as it was when it was last found."""
        begun = self._clock()
        if begun >= self._due:
            self._figure = self._find()
            ended = self._clock()
            self._due = ended + (ended - begun) / _SHARE
        return self._figure


class ChainProgress:
    """Tells how far a segment is.

    Args:
        name: the names of its operators.
        segment: the segment.
        states: the keyed state of its operators. To count it is to visit each namespace, and there
            may be a million of them: it is done seldom.
    """

    __slots__ = ("_entries", "_name", "_segment")

    def __init__(
        self, name: str, segment: OperatorChain, states: Sequence[KeyedStateBackend]
    ) -> None:
        self._name, self._segment = name, segment
        self._entries = ThrottledGauge(lambda: sum(state.size() for state in states))

    def now(self, reader: SourceReader | None) -> TaskProgress:
        """Return the progress; ``reader`` is that of the segment's source while it is read."""
        return TaskProgress(
            name=self._name,
            subtasks=1,
            records=self._segment.records,
            watermark=event_time(self._segment.watermark),
            state_entries=self._entries(),
            backlog=None if reader is None else reader.backlog(),
        )
