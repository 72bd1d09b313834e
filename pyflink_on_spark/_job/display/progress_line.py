"""Combines what subtasks report into the progress of a job, for listeners and a line."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace

from pyflink_on_spark._job.display.progress_display import ProgressDisplay
from pyflink_on_spark._runtime.task.progress import JobProgress, TaskProgress, combine

_SECONDS = 5.0
_LEAST_SECONDS = 0.1
"""Reports of two hosts that come at once say nothing about rates."""
_QUICK_SECONDS = 2.0
"""A job that takes no longer than this shows no line."""
_Figures = tuple[float, int, float, float]
"""When (s), and then: records, seconds busy, seconds backpressured."""
_log = logging.getLogger("pyflink_on_spark")


class Progress:
    """Combines the reports of subtasks into the progress of the job.

    Args:
        job_name: the job's name.
        listeners: what is called with each new report.
        line: shows the job's progress in a line, if the job takes a while; None for none.
        now: the time in seconds; any clock that never goes back.
    """

    def __init__(
        self,
        job_name: str,
        listeners: Sequence[Callable[[JobProgress], None]],
        line: ProgressDisplay | None,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._name, self._listeners, self._line, self._now = job_name, listeners, line, now
        self._begun = now() if line is not None else 0.0
        self._history: dict[tuple[str, int | None], deque[_Figures]] = {}
        self._last_records_at: dict[tuple[str, int | None], float] = {}
        self._reported: Sequence[TaskProgress] = ()
        self.parts: Sequence[TaskProgress] = ()
        self.latest: JobProgress | None = None

    def attempt_begins(self) -> None:
        """Reset the counts; a new attempt begins."""
        self._history.clear()
        self._last_records_at.clear()

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
        if self._line is not None and self._now() - self._begun >= _QUICK_SECONDS:
            self._line.show(self.latest)

    def ended(self) -> None:
        """End the line."""
        if self._line is not None:
            self._line.end()

    def _with_rates(self, task: TaskProgress) -> TaskProgress:
        now = self._now()
        place = (task.name, task.subtask)
        history = self._history.setdefault(place, deque([(now, 0, 0.0, 0.0)]))
        if place not in self._last_records_at or task.records != history[-1][1]:
            self._last_records_at[place] = now
        history.append((now, task.records, task.busy, task.backpressured))
        while len(history) > 2 and now - history[1][0] > _SECONDS:
            history.popleft()
        then = history[0]
        seconds = now - then[0]
        if seconds < _LEAST_SECONDS:
            return replace(task, last_records_at=now)
        return replace(
            task,
            last_records_at=self._last_records_at[place],
            records_per_second=(task.records - then[1]) / seconds,
            busy_share=min(1.0, (task.busy - then[2]) / seconds),
            backpressured_share=min(1.0, (task.backpressured - then[3]) / seconds),
        )
