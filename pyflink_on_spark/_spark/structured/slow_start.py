"""Help for a slow Spark: calls that are made again, and a log of what Spark is busy with."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable
from typing import TypeVar

from pyflink_on_spark._spark.jobs.running_job import LOST_WORKER

_log = logging.getLogger("pyflink_on_spark")
TRIES = 10
_TELL_SECONDS = 60.0
_NOT_WAITED = "Python worker failed to connect back"
_DAEMON_GONE = re.compile(r"Broken pipe\s+at (?:.*\s+at )*?\S*PythonWorkerFactory\.create\(")
R = TypeVar("R")


def once_started(
    call: Callable[[], R],
    job: str,
    check: Callable[[], None] | None = None,
    *,
    repeatable: bool = False,
) -> R:
    """Make a call; make it again if Spark has not started its own Python process.

    Where Python did not start, nothing of the user's or ours has run.

    Args:
        call: runs something in Spark.
        job: the name of the job.
        check: raises if the job is cancelled meanwhile.
        repeatable: whether the call is also made again if its Python process was lost.
    """
    for _ in range(TRIES - 1):
        try:
            return call()
        except Exception as error:
            if check is not None:
                check()
            text = str(error)
            if _NOT_WAITED in text:
                what = "Python did not start within Spark's 10 s"
            elif _DAEMON_GONE.search(text):
                what = "the process that starts Python for Spark has ended"
            elif repeatable and LOST_WORKER.search(text):
                what = "a Python worker process has ended"
            else:
                raise
            _log.warning("%s; %r begins again", what, job)
    return call()


class Waiting:
    """Logs what a query is busy with if a micro-batch takes long.

    Args:
        job: the name of the job.
        now: the time in seconds; any clock that never goes back.
    """

    def __init__(self, job: str, now: Callable[[], float] = time.monotonic) -> None:
        self._job, self._now = job, now
        self._last: int | None = None
        self._since, self._due = now(), _TELL_SECONDS

    def note(self, last: int | None, status: Callable[[], dict[str, object]]) -> None:
        """Note how far the query is.

        Args:
            last: the last micro-batch that has run; None before the first one of a run.
            status: says what Spark does.
        """
        now = self._now()
        waited = now - self._since
        if last != self._last:
            self._last, self._since, self._due = last, now, _TELL_SECONDS
        elif waited >= self._due:
            self._due = 2 * waited
            told = status()
            if last is None or told["isTriggerActive"]:
                text = "%r has ended no micro-batch for %.0f s (the last one: %s); Spark says: %s"
                _log.warning(text, self._job, waited, last, told["message"])
