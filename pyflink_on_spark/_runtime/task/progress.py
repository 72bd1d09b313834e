"""How far a job is: what each task has read, its event time, its state."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP


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
    """

    name: str
    subtasks: int
    records: int
    watermark: int | None
    state_entries: int
    backlog: int | None
    records_per_second: float = 0.0
    subtask: int | None = None


@dataclass(frozen=True)
class JobProgress:
    """How far a job is.

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
    )
