"""Shows the progress of a job in a line: of a terminal, or of a notebook."""

from __future__ import annotations

import datetime
import html
import sys
from typing import Any, Protocol, TextIO

from pyflink_on_spark._job.display.console import console
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.progress import JobProgress


class ProgressDisplay(Protocol):
    """Shows the progress of a job."""

    def show(self, progress: JobProgress) -> None:
        """Show the progress in place of what was shown before."""
        ...

    def end(self) -> None:
        """Leave what was shown last."""
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
    """Return what shows the progress of a job; None for nothing.

    Args:
        setting: ``ON``, ``OFF``, or ``AUTO``: only in a terminal or a notebook.
    """
    if setting == "OFF":
        return None
    if in_notebook():
        return NotebookLine()
    return TerminalLine(sys.stderr) if setting == "ON" or sys.stderr.isatty() else None


def in_notebook() -> bool:
    """Tell whether the program runs in a notebook's kernel."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    return getattr(shell, "kernel", None) is not None


def _time(watermark: int) -> str:
    try:
        moment = datetime.datetime.fromtimestamp(watermark / 1000, datetime.UTC)
    except (OverflowError, ValueError, OSError):
        return f"{watermark} ms"
    return moment.strftime("%Y-%m-%d %H:%M:%S")
