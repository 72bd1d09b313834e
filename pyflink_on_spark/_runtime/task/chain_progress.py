"""The progress of one chain of a subtask, which hosts report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain
from pyflink_on_spark._runtime.task.progress import TaskProgress, event_time
from pyflink_on_spark._runtime.task.source_input import SourceInput

_SHARE = 0.01


class ThrottledGauge:
    """Computes a figure again when that takes less than a hundredth of the time since the last one.

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
    """Reports the progress of a chain.

    Args:
        name: the names of its operators.
        subtask: which subtask, from 0.
        chain: the chain.
        states: the keyed state of its operators. To count it is to visit each namespace, and there
            may be a million of them: it is done seldom.
    """

    __slots__ = ("_chain", "_entries", "_name", "_subtask")

    def __init__(
        self,
        name: str,
        subtask: int,
        chain: OperatorChain,
        states: Sequence[KeyedStateBackend],
    ) -> None:
        self._name, self._subtask, self._chain = name, subtask, chain
        self._entries = ThrottledGauge(lambda: sum(state.size() for state in states))

    def now(self, source: SourceInput | None) -> TaskProgress:
        """Return the progress; ``source`` is what feeds the chain, if a source does."""
        return TaskProgress(
            name=self._name,
            subtasks=1,
            records=self._chain.records,
            watermark=event_time(self._chain.watermark),
            state_entries=self._entries(),
            backlog=None if source is None else source.backlog,
            subtask=self._subtask,
        )
