"""The progress of a job on a terminal."""

from __future__ import annotations

import datetime
import html
import logging
import shutil
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Protocol, TextIO

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress, combine

_ERASE = "\r\033[K"


class Console:
    """Writes whole lines, and a line of progress that stays below them.

    Several threads may write at the same time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shown_on: TextIO | None = None

    def write(self, text: str, stream: TextIO | None = None) -> None:
        """Write lines, and the end of the last one, in place of a progress that is shown.

        Args:
            text: the lines.
            stream: standard output if None.
        """
        with self._lock:  # print() writes a text and its end apart
            self._erase()
            stream = stream or sys.stdout
            stream.write(text + "\n")
            stream.flush()

    def show(self, line: str, terminal: TextIO) -> None:
        """Show a line of progress in place of the last one, cut to the width of the terminal."""
        with self._lock:
            width = shutil.get_terminal_size().columns
            terminal.write(f"{_ERASE}{line[: width - 1]}")
            terminal.flush()
            self._shown_on = terminal

    def keep(self) -> None:
        """Leave the progress that is shown, and end its line."""
        with self._lock:
            terminal, self._shown_on = self._shown_on, None
            if terminal is not None:
                terminal.write("\n")
                terminal.flush()

    def _erase(self) -> None:
        terminal, self._shown_on = self._shown_on, None
        if terminal is not None:
            terminal.write(_ERASE)
            terminal.flush()


console = Console()
"""The process's own."""


class ProgressDisplay(Protocol):
    """Shows the progress of a job."""

    def show(self, progress: JobProgress) -> None:
        """Show the progress in place of the previous line."""
        ...

    def end(self) -> None:
        """Leave the last line on the screen."""
        ...


class TerminalLine:
    """The last line of a terminal, below what jobs print.

    Args:
        stream: the terminal.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def show(self, progress: JobProgress) -> None:
        """Write the line again."""
        console.show(line_of(progress), self._stream)

    def end(self) -> None:
        """End the line."""
        console.keep()


class NotebookLine:
    """A line of HTML below a notebook's cell, which needs no widget."""

    def __init__(self) -> None:
        self._handle: Any = None

    def show(self, progress: JobProgress) -> None:
        """Show the line, or replace it."""
        from IPython.display import HTML, display  # type: ignore[import-not-found]

        line = HTML(f"<code>{html.escape(line_of(progress))}</code>")
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)

    def end(self) -> None:
        """Leave the line as it is."""


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


def display_for(setting: str) -> ProgressDisplay | None:
    """Return the display of a job's progress; None for no display.

    Args:
        setting: ``ON``, ``OFF``, or ``AUTO``: only in a terminal or a notebook.
    """
    if setting == "OFF":
        return None
    if in_notebook():
        return NotebookLine()
    return TerminalLine(sys.stderr) if setting == "ON" or sys.stderr.isatty() else None


def in_notebook() -> bool:
    """True if the program runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _time(watermark: int) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(watermark / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return f"{watermark} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%S")


_SECONDS = 5.0
_LEAST_SECONDS = 0.1
"""Reports of two hosts that come at once say nothing about rates."""
_FADING_SECONDS = 1.0
"""How often rates are computed again while no new report comes, as from a function that waits."""
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
        self._attempt = 0
        self._shown_at = 0.0
        self._lock = threading.Lock()
        self.parts: Sequence[TaskProgress] = ()
        self.latest: JobProgress | None = None

    def attempt_begins(self) -> None:
        """Reset the counts; a new attempt begins."""
        with self._lock:
            self._history.clear()
            self._last_records_at.clear()
            self._reported = ()

    def update(self, attempt: int, checkpoint: int | None, parts: Sequence[TaskProgress]) -> None:
        """Take the reports of the subtasks, if they are new and not of an earlier attempt."""
        with self._lock:
            if not parts or attempt < self._attempt:
                return
            now, self._attempt = self._now(), attempt
            if parts != self._reported:
                self._reported = parts
                self.parts = [self._with_rates(part, now) for part in parts]
                self._tell(now, checkpoint)
            else:
                self._fade(now, checkpoint)

    def fade(self) -> None:
        """Let the rates fall while nobody can report."""
        with self._lock:
            if self._reported and self.latest is not None:
                self._fade(self._now(), self.latest.checkpoint)

    def stands(self) -> None:
        """Let all rates be 0: no attempt runs."""
        with self._lock:
            self.parts = [
                replace(part, records_per_second=0.0, busy_share=0.0, backpressured_share=0.0)
                for part in self.parts
            ]
            if self.latest is not None:
                self.latest = replace(self.latest, tasks=combine(self.parts))

    def ended(self) -> None:
        """End the line."""
        self.stands()
        if self._line is not None:
            self._line.end()

    def _fade(self, now: float, checkpoint: int | None) -> None:
        if now - self._shown_at >= _FADING_SECONDS and self._has_rates():
            self.parts = [self._faded(part, now) for part in self.parts]
            self._tell(now, checkpoint)

    def _tell(self, now: float, checkpoint: int | None) -> None:
        self._shown_at = now
        self.latest = JobProgress(self._name, self._attempt, checkpoint, combine(self.parts))
        for listener in self._listeners:
            try:
                listener(self.latest)
            except Exception:  # noqa: BLE001 - a listener must not end the job
                _log.exception("a progress listener of %r failed", self._name)
        if self._line is not None and now - self._begun >= _QUICK_SECONDS:
            self._line.show(self.latest)

    def _with_rates(self, task: TaskProgress, now: float) -> TaskProgress:
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
            busy_share=max(0.0, min(1.0, (task.busy - then[2]) / seconds)),
            backpressured_share=min(1.0, (task.backpressured - then[3]) / seconds),
        )

    def _has_rates(self) -> bool:
        return any(part.records_per_second for part in self.parts)

    def _faded(self, task: TaskProgress, now: float) -> TaskProgress:
        """Return a task with the rate that it has since its last report."""
        history = self._history[task.name, task.subtask]
        then, last = history[0], history[-1]
        quiet = now - last[0] > _SECONDS
        rate = 0.0 if quiet else (last[1] - then[1]) / (now - then[0])
        return replace(task, records_per_second=rate)
