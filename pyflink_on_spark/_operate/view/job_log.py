"""The messages of a job in the driver's log: its start, its checkpoints, a heartbeat, its end."""

from __future__ import annotations

import datetime
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Callable

from pyflink_on_spark._job.display import line_of
from pyflink_on_spark._job.job import (
    COMPLETED,
    CheckpointRecord,
    JobHistory,
    JobListener,
)
from pyflink_on_spark._operate.view.jobs import OperatedJob
from pyflink_on_spark._options.own import HEARTBEAT
from pyflink_on_spark._options.secrets import masked_text
from pyflink_on_spark._runtime.diagnosis import gist_of
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark.common import JobStatus

_log = logging.getLogger("pyflink_on_spark.job")
_WORTH_TELLING = 5.0
_package_log = logging.getLogger("pyflink_on_spark")


def _wanted(record: logging.LogRecord | None = None) -> bool:
    """True for a record to log: a root logger at INFO is meant for the script's own records."""
    own = (_log, _package_log)
    warns = record is not None and record.levelno >= logging.WARNING
    return warns or any(logger.level for logger in own)


_log.addFilter(_wanted)


class JobLog(JobListener):
    """Logs what happens to a job.

    Args:
        operated: the job.
        now: the time, in s since the epoch.
    """

    def __init__(self, operated: OperatedJob, now: Callable[[], float] = time.time) -> None:
        self._operated, self._now = operated, now
        self._ended = threading.Event()
        self._begun = False

    def job_begins(self) -> None:
        """Log the beginning, and beat from now on."""
        self._begun = True
        self._begin()

    def status_changed(self, status: JobStatus, error: BaseException | None) -> None:
        """Log the states of the job, and the end with its cause."""
        if status is JobStatus.RUNNING:
            if not self._begun:
                self.job_begins()
            restarts = self._operated.history.attempt
            again = f" again, after restart {restarts}" if restarts else ""
            seconds = self._operated.duration / 1000
            _log.info("%s is RUNNING%s, %.1f s after it began", self._name, again, seconds)
        elif status.is_globally_terminal_state():
            self._ended.set()
            seconds = self._operated.duration / 1000
            why = (
                f": {masked_text(gist_of(str(error)) or repr(error))}"
                if status is JobStatus.FAILED
                else ""
            )
            _log.info("%s is %s after %.1f s%s", self._name, status.name, seconds, why)

    def checkpoint_ended(self, checkpoint: CheckpointRecord) -> None:
        """Log a checkpoint that is complete or aborted."""
        kind = "savepoint" if checkpoint.savepoint else "checkpoint"
        took = (checkpoint.ended or checkpoint.triggered) - checkpoint.triggered
        if checkpoint.status == COMPLETED:
            place = f": {checkpoint.path}" if checkpoint.path else ""
            size = f"{checkpoint.size:,} bytes in {took} ms"
            _log.info("%s: %s %d has %s%s", self._name, kind, checkpoint.number, size, place)
        else:
            text = "%s: %s %d was aborted after %d ms: %s"
            _log.info(text, self._name, kind, checkpoint.number, took, checkpoint.error)

    def heartbeat(self) -> str:
        """The progress of the job in a line; of a job that does not run, the cause."""
        operated, history = self._operated, self._operated.history
        progress = operated.progress
        if operated.state != JobStatus.RUNNING.name:
            seconds = self._now() - operated.since / 1000
            restarts = f" | {told}" if (told := restarts_of(history)) else ""
            return f"{self._name} is {operated.state} for {seconds:,.0f} s{restarts}"
        if told := wait_of(history, self._now()):
            return f"{self._name} is RUNNING; {told}"
        if progress is None or progress.attempt != history.attempt:
            return f"{self._name} is RUNNING, and its tasks have not reported yet"
        lags = [
            self._now() - task.watermark / 1000
            for task in progress.tasks
            if task.watermark is not None and task.watermark < MAX_WATERMARK
        ]
        lag = f" | watermark lag {max(lags):,.1f} s" if lags else ""
        return f"{line_of(progress)}{lag}"

    @property
    def _name(self) -> str:
        return repr(self._operated.job.name)

    def _begin(self) -> None:
        operated = self._operated
        tasks = (
            f"{for_people(vertex.name)} x{vertex.parallelism}"
            for stage in operated.job.stages
            for vertex in stage.vertices
        )
        _log.info("%s (%s) begins: %s", self._name, operated.id, "; ".join(tasks))
        restored = operated.history.restored
        if restored is not None:
            _log.info(
                "%s begins with checkpoint %d: %s", self._name, restored.number, restored.path
            )
        seconds = HEARTBEAT.read(operated.job.settings.configuration) / 1000
        if seconds and _wanted() and _log.isEnabledFor(logging.INFO):
            name = f"heartbeat of {operated.id}"
            threading.Thread(target=self._beat, args=(seconds,), name=name, daemon=True).start()

    def _beat(self, seconds: float) -> None:
        while not self._ended.wait(seconds):
            _log.info("%s", self.heartbeat())


_KEY_BY = re.compile(r"(?<!\w)_stream_key_by_\w+_operator\b")
_UNWRITTEN = re.compile(
    r"(?<!\w)_(keyed_stream_values|keyed_stream_pairs|partition_custom_map)_operator\b"
)


def for_people(name: str) -> str:
    """The name of a task without the names of PyFlink's that no program has written."""
    name = _KEY_BY.sub("Key By", name)
    return _UNWRITTEN.sub(lambda found: found[1].replace("_", " "), name)


def wait_of(history: JobHistory, now: float) -> str:
    """The call to another system that the driver waits for; empty for a wait of a few seconds.

    Args:
        history: of the job.
        now: the time, in s since the epoch.
    """
    waiting = history.waiting
    seconds = 0.0 if waiting is None else now - waiting[1] / 1000
    if waiting is None or seconds < _WORTH_TELLING:
        return ""
    return f"the driver waits for {waiting[0]}, since {seconds:.0f} s"


def trouble_of(operated: OperatedJob, now: float) -> str | None:
    """The last restart of a job that runs, and what its driver waits for; None for neither.

    Args:
        operated: the job.
        now: the time, in s since the epoch.
    """
    history, restart = operated.history, ""
    failures = history.failures
    if history.attempt and failures and operated.state == JobStatus.RESTARTING.name:
        restart = f"restart {history.attempt}, because of {failures[-1].gist}"
    elif history.attempt and failures:
        moment = datetime.datetime.fromtimestamp(failures[-1].time / 1000, datetime.UTC)
        when = f"{moment:%Y-%m-%d %H:%M:%S} UTC"
        restart = f"restart {history.attempt} at {when} was because of {failures[-1].gist}"
    return "; ".join(each for each in (restart, wait_of(history, now)) if each) or None


def restarts_of(history: JobHistory) -> str:
    """The number of restarts of a job and the last cause; empty for none."""
    if not history.attempt:
        return ""
    cause = history.failures[-1].gist
    return f"restarts: {history.attempt}, the last one because of {cause}"


_LINES = 500
_FORMAT = "%(asctime)s %(levelname)-7s %(name)s - %(message)s"


class LogTail(logging.Handler):
    """Keeps the last lines that are logged."""

    def __init__(self) -> None:
        super().__init__()
        self.setFormatter(logging.Formatter(_FORMAT))
        self._lines: deque[str] = deque(maxlen=_LINES)

    def attach(self) -> None:
        """Keep what this package logs from now on."""
        _package_log.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record; where nobody else takes it, Python's last resort does as without this."""
        self._lines.append(self.format(record))
        last = logging.lastResort
        alone = _package_log.handlers == [self] and not logging.getLogger().handlers
        if alone and last is not None and record.levelno >= last.level:
            last.handle(record)

    def text(self) -> str:
        """Return the lines."""
        return "".join(f"{line}\n" for line in list(self._lines))
