"""Figures of the last minutes of each job, for the charts of the page."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from pyflink_on_spark._operate.view.jobs import OperatedJob, OperatedJobs
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK

MINUTES = 15
_SECONDS = 5.0
_KEPT = round(60 * MINUTES / _SECONDS)


@dataclass(frozen=True)
class Figures:
    """Figures of a job at a moment; those that are not known are None.

    Args:
        time: in ms since the epoch.
        records_per_second: of all sources.
        backlog: of all sources.
        lag: of the lowest watermark after the clock, in s.
        busy: the share of its time in which the busiest task works, in percent.
        state: entries of keyed state.
        checkpoint: the duration of the last checkpoint, in ms.
    """

    time: int
    records_per_second: float
    backlog: int | None
    lag: float | None
    busy: float
    state: int
    checkpoint: int | None


def figures_of(job: OperatedJob, now: float) -> Figures | None:
    """The figures of a job; None before its first report.

    Args:
        job: the job.
        now: in s since the epoch.
    """
    progress = job.progress
    if progress is None:
        return None
    sources = {task.name for task in job.tasks if task.has_source}
    reading = [part for part in progress.tasks if part.name in sources]
    backlogs = [part.backlog for part in reading if part.backlog is not None]
    marks = [part.watermark for part in progress.tasks if part.watermark is not None]
    behind = [now - mark / 1000 for mark in marks if mark < MAX_WATERMARK]
    last = job.history.last_completed(savepoint=False)
    return Figures(
        round(now * 1000),
        sum(part.records_per_second for part in reading),
        sum(backlogs) if backlogs else None,
        max(behind, default=None),
        100 * max((part.busy_share for part in progress.tasks), default=0.0),
        sum(part.state_entries for part in progress.tasks),
        None if last is None or last.ended is None else last.ended - last.triggered,
    )


class RecentFigures:
    """Keeps the figures of running jobs.

    Args:
        jobs: the jobs.
        now: the time, in s since the epoch.
    """

    def __init__(self, jobs: OperatedJobs, now: Callable[[], float] = time.time) -> None:
        self._jobs, self._now = jobs, now
        self._kept: dict[str, deque[Figures]] = {}
        self._started = False

    def start(self) -> None:
        """Look at the jobs from now on, in a thread."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._watch, name="figures", daemon=True).start()

    def of(self, job_id: str) -> list[Figures]:
        """The figures of a job, the oldest first."""
        return list(self._kept.get(job_id, ()))

    def look(self) -> None:
        """Take the figures of all jobs that run."""
        known = {job.id for job in self._jobs.all()}
        for gone in self._kept.keys() - known:
            del self._kept[gone]
        for job in self._jobs.running():
            figures = figures_of(job, self._now())
            if figures is not None:
                self._kept.setdefault(job.id, deque(maxlen=_KEPT)).append(figures)

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(_SECONDS):
            self.look()
