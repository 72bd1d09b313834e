"""The progress of a job: the elements that each task has read, its event time, its state."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP


@dataclass(frozen=True)
class StateEntries:
    """The number of entries that a keyed state has in memory.

    Args:
        operator: the name of the operator.
        state: the name of the state.
        entries: how many entries there are.
    """

    operator: str
    state: str
    entries: int


@dataclass(frozen=True)
class TaskProgress:
    """One task, or a subtask of it.

    Args:
        name: the names of its operators.
        subtasks: how many subtasks this is about.
        records: how many elements have come in since the attempt began.
        watermark: its event time in ms; None before the first watermark.
        state_entries: how many entries its keyed state has in memory.
        backlog: how many elements wait at its source; None if the source cannot tell.
        records_per_second: how many came in during the last seconds.
        subtask: which subtask, from 0, if this is about one.
        busy: how long it has worked since the attempt began, in s; of several subtasks the longest
            time. Subtasks of one host share a thread, and work in turns.
        backpressured: how long it could not work, because those downstream had too much to do.
        busy_share: which part of the last seconds it has worked, from 0 to 1.
        backpressured_share: in which part of the last seconds it could not work.
        states: how many entries each keyed state has in memory.
        last_records_at: when elements last came in, in s of the driver's monotonic clock.
    """

    name: str
    subtasks: int
    records: int
    watermark: int | None
    state_entries: int
    backlog: int | None
    records_per_second: float = 0.0
    subtask: int | None = None
    busy: float = 0.0
    backpressured: float = 0.0
    busy_share: float = 0.0
    backpressured_share: float = 0.0
    states: tuple[StateEntries, ...] = ()
    last_records_at: float | None = None


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job.

    Args:
        job_name: the job's name.
        attempt: how often it was restarted.
        checkpoint: the number of the last checkpoint; None before the first.
        tasks: in the order of the flow.
    """

    job_name: str
    attempt: int
    checkpoint: int | None
    tasks: tuple[TaskProgress, ...]


def event_time(watermark: int) -> int | None:
    """Return a watermark for people: None if there was none."""
    return None if watermark == MIN_TIMESTAMP else watermark


def combine(parts: Iterable[TaskProgress]) -> tuple[TaskProgress, ...]:
    """Return one progress for all subtasks of each task."""
    groups: dict[str, list[TaskProgress]] = {}
    for part in parts:
        groups.setdefault(part.name, []).append(part)
    return tuple(_combined(group) for group in groups.values())


def _combined(group: list[TaskProgress]) -> TaskProgress:
    watermarks = [part.watermark for part in group]
    backlogs = [part.backlog for part in group if part.backlog is not None]
    return TaskProgress(
        name=group[0].name,
        subtasks=sum(part.subtasks for part in group),
        records=sum(part.records for part in group),
        watermark=min((w for w in watermarks if w is not None), default=None)
        if None not in watermarks
        else None,
        state_entries=sum(part.state_entries for part in group),
        backlog=sum(backlogs) if backlogs else None,
        records_per_second=sum(part.records_per_second for part in group),
        busy=max(part.busy for part in group),
        backpressured=max(part.backpressured for part in group),
        busy_share=max(part.busy_share for part in group),
        backpressured_share=max(part.backpressured_share for part in group),
        states=_states(group),
    )


def _states(group: list[TaskProgress]) -> tuple[StateEntries, ...]:
    entries: Counter[tuple[str, str]] = Counter()
    for part in group:
        for state in part.states:
            entries[state.operator, state.state] += state.entries
    return tuple(StateEntries(*place, count) for place, count in entries.items())
