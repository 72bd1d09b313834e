"""Tells how far a job is: to listeners, and in a line of the terminal."""

from __future__ import annotations

import datetime
import logging
import sys
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TextIO

from pyflink_on_spark._runtime.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.progress import JobProgress, TaskProgress, combine

_SECONDS = 5.0
_Figures = tuple[float, int, float, float]
"""When (s), and then: records, seconds busy, seconds backpressured."""
_log = logging.getLogger("pyflink_on_spark")


class Progress:
    """Combines the reports of subtasks into the progress of the job.

    Args:
        job_name: the job's name.
        listeners: what is called with each new report.
        line: where the progress line goes; None for none.
        now: the time in seconds; any clock that never goes back.
    """

    def __init__(
        self,
        job_name: str,
        listeners: Sequence[Callable[[JobProgress], None]],
        line: TextIO | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._listeners, self._line, self._now = job_name, listeners, line, now
        self._history: dict[tuple[str, int | None], deque[_Figures]] = {}
        self._reported: Sequence[TaskProgress] = ()
        self.parts: Sequence[TaskProgress] = ()
        self.latest: JobProgress | None = None

    def attempt_begins(self) -> None:
        """Reset the counts; a new attempt begins."""
        self._history.clear()

    def update(self, attempt: int, checkpoint: int | None, parts: Sequence[TaskProgress]) -> None:
        """Take what the subtasks report, if it is something new."""
        if not parts or parts == self._reported:
            return
        self._reported = parts
        self.parts = [self._with_rates(part) for part in parts]
        self.latest = JobProgress(self._name, attempt, checkpoint, combine(self.parts))
        for listener in self._listeners:
            try:
                listener(self.latest)
            except Exception:  # noqa: BLE001 - a listener must not end the job
                _log.exception("a progress listener of %r failed", self._name)
        if self._line is not None:
            self._line.write(f"\r\033[K{line_of(self.latest)}")
            self._line.flush()

    def ended(self) -> None:
        """End the line."""
        if self._line is not None and self.latest is not None:
            self._line.write("\n")
            self._line.flush()

    def _with_rates(self, task: TaskProgress) -> TaskProgress:
        now = self._now()
        history = self._history.setdefault((task.name, task.subtask), deque([(now, 0, 0.0, 0.0)]))
        history.append((now, task.records, task.busy, task.backpressured))
        while len(history) > 2 and now - history[1][0] > _SECONDS:
            history.popleft()
        then = history[0]
        seconds = now - then[0]
        if seconds <= 0:
            return task
        return replace(
            task,
            records_per_second=(task.records - then[1]) / seconds,
            busy_share=min(1.0, (task.busy - then[2]) / seconds),
            backpressured_share=min(1.0, (task.backpressured - then[3]) / seconds),
        )


def line_of(progress: JobProgress) -> str:
    """Return a job's progress in a line."""
    sources = [task for task in progress.tasks if task.backlog is not None] or progress.tasks[:1]
    parts = [
        progress.job_name,
        f"{sum(task.records for task in sources):,} records",
        f"{sum(task.records_per_second for task in sources):,.0f}/s",
    ]
    backlogs = [task.backlog for task in sources if task.backlog is not None]
    if backlogs:
        parts.append(f"backlog {sum(backlogs):,}")
    watermarks = [task.watermark for task in progress.tasks if task.watermark is not None]
    if watermarks and min(watermarks) < MAX_WATERMARK:
        parts.append(f"watermark {_time(min(watermarks))}")
    parts.append(f"state {sum(task.state_entries for task in progress.tasks):,}")
    if progress.checkpoint is not None:
        parts.append(f"checkpoint {progress.checkpoint}")
    if progress.attempt:
        parts.append(f"restarted {progress.attempt}x")
    return " | ".join(parts)


def line_for(setting: str) -> TextIO | None:
    """Return where the progress line goes; None for nowhere.

    Args:
        setting: ``ON``, ``OFF``, or ``AUTO``: only in a terminal.
    """
    if setting == "OFF" or (setting == "AUTO" and not sys.stderr.isatty()):
        return None
    return sys.stderr


def _time(watermark: int) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(watermark / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return f"{watermark} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%S")
