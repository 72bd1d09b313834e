"""What the runtime gives to an operator when it opens it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.state.operator_state import OperatorState

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.runtime_context import RuntimeContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


class Cursor:
    """The element that is in flight in a segment: its event timestamp in ms, or None."""

    __slots__ = ("timestamp",)

    def __init__(self) -> None:
        self.timestamp: int | None = None


def noting(elements: Iterable[Any], cursor: Cursor, timestamps: list[int | None]) -> Iterator[Any]:
    """Yield elements, and note the timestamp of each."""
    note = timestamps.append
    for value in elements:
        note(cursor.timestamp)
        yield value


def timed(
    elements: Iterable[Any], timestamps: Iterable[int | None], cursor: Cursor
) -> Iterator[Any]:
    """Yield elements; set the cursor to the timestamp of each before."""
    for value, cursor.timestamp in zip(elements, timestamps, strict=True):
        yield value


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


@dataclass(frozen=True)
class TaskInfo:
    """Who a subtask is.

    Args:
        task_name: the names of the chained operators, joined by `` -> ``.
        subtask_index: from 0.
        parallelism: how many subtasks the vertex has.
        max_parallelism: how many key groups it has.
        attempt: how often the job was restarted, from 0.
        job_id: 32 hexadecimal digits.
        job_parameters: the user's global job parameters.
        batch: whether the job runs with BATCH semantics.
    """

    task_name: str
    subtask_index: int
    parallelism: int
    max_parallelism: int = 128
    attempt: int = 0
    job_id: str = ""
    job_parameters: Mapping[str, str] = field(default_factory=dict)
    batch: bool = False

    @property
    def task_name_with_subtasks(self) -> str:
        """The name with the subtask from 1, the parallelism and the attempt."""
        return f"{self.task_name} ({self.subtask_index + 1}/{self.parallelism})#{self.attempt}"


@dataclass
class OperatorContext:
    """What an operator may use between its ``open`` and its ``close``.

    Args:
        task: who the subtask is.
        cursor: the element in flight; shared by the operators of a segment.
        clock: processing time.
        side_output: ``side_output(tag_id, value)`` emits with the cursor's timestamp.
        driver: ``driver(channel)`` gives a function that sends a list of things to the driver.
        keyed_state: the state of the keys of this subtask; None for an operator that is not keyed.
        operator_state: the operator's state that belongs to no key.
        restored: the number of the checkpoint that the state comes from; None at a fresh start.
        runtime_context: what the user's functions get in ``open``.
        checkpointed: whether the job makes checkpoints.
        head_state: the keyed state of the operator that heads the chain of Python operators that
            this one is in, and whose event time it sees.
    """

    task: TaskInfo
    cursor: Cursor
    clock: Clock
    side_output: Callable[[str, Any], None]
    driver: Callable[[str], Callable[[list[Any]], None]]
    keyed_state: KeyedStateBackend | None
    runtime_context: RuntimeContext
    operator_state: OperatorState = field(default_factory=OperatorState)
    restored: int | None = None
    checkpointed: bool = False
    head_state: KeyedStateBackend | None = None
