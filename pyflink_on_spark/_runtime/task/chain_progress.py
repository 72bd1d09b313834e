"""The progress of one chain of a subtask, which hosts report."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain
from pyflink_on_spark._runtime.task.progress import StateEntries, TaskProgress, event_time
from pyflink_on_spark._runtime.task.source_input import SourceInput

_SHARE = 0.01
T = TypeVar("T")


class ThrottledGauge(Generic[T]):
    """Computes a figure again when that takes less than a hundredth of the time since the last one.

    Args:
        find: finds the figure.
        clock: seconds.
    """

    __slots__ = ("_clock", "_due", "_figure", "_find")

    def __init__(
        self, find: Callable[[], T], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._find, self._clock = find, clock
        self._figure: T | None = None
        self._due = float("-inf")

    def __call__(self) -> T:
        """Return the figure, as it was when it was last found."""
        begun, figure = self._clock(), self._figure
        if figure is None or begun >= self._due:
            figure = self._figure = self._find()
            ended = self._clock()
            self._due = ended + (ended - begun) / _SHARE
        return figure


class ChainProgress:
    """Reports the progress of a chain.

    Args:
        name: the names of its operators.
        subtask: which subtask, from 0.
        chain: the chain.
        states: the keyed state of its operators, with the name of each. To count it is to visit
            each namespace, and there may be a million of them: it is done seldom.
    """

    __slots__ = ("_chain", "_entries", "_name", "_subtask")

    def __init__(
        self,
        name: str,
        subtask: int,
        chain: OperatorChain,
        states: Sequence[tuple[str, KeyedStateBackend]],
    ) -> None:
        self._name, self._subtask, self._chain = name, subtask, chain
        self._entries = ThrottledGauge(
            lambda: tuple(
                StateEntries(operator, name, entries)
                for operator, state in states
                for name, entries in state.sizes().items()
            )
        )

    def now(self, source: SourceInput | None, busy: float, backpressured: float) -> TaskProgress:
        """Return the progress.

        Args:
            source: what feeds the chain, if a source does.
            busy: how long the subtask has worked, in s.
            backpressured: how long backpressure has held the subtask up, in s.
        """
        states = self._entries()
        return TaskProgress(
            name=self._name,
            subtasks=1,
            records=self._chain.records,
            watermark=event_time(self._chain.watermark),
            state_entries=sum(state.entries for state in states),
            backlog=None if source is None else source.backlog,
            subtask=self._subtask,
            busy=busy,
            backpressured=backpressured,
            states=states,
        )
