"""An engine that runs jobs in this process.

Everything that would cross a process on Spark goes through pickle here, too.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from pyflink_on_spark._graph.job import Job, install_engine, installed_engine
from pyflink_on_spark._runtime.context import Clock, SystemClock
from pyflink_on_spark.testing.local_job import LocalJob


class LocalEngine:
    """Runs jobs in this process.

    ``execute`` runs a job in the calling thread, so that breakpoints in user functions work;
    ``execute_async`` in a thread of its own; ``execute_and_collect`` in the thread that asks for
    elements, as far as it asks.

    Args:
        clock: processing time; the machine's if not given.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self.clock: Clock = clock or SystemClock()
        self._jobs: weakref.WeakSet[LocalJob] = weakref.WeakSet()

    def submit(self, job: Job) -> LocalJob:
        """Begin a job; a failure shows when its result is asked for."""
        handle = LocalJob(job, self.clock)
        self._jobs.add(handle)
        if job.attached:
            handle.run()
        elif job.collected is None:
            handle.start()
        return handle

    def wait_until_idle(self, seconds: float = 10.0) -> None:
        """Wait until all jobs of ``execute_async`` have worked off everything there is.

        Args:
            seconds: how long at most.

        Raises:
            TimeoutError: if one of them is still busy then.
        """
        for job in list(self._jobs):
            if job.in_background:
                job.wait_until_idle(seconds)

    def cancel_jobs(self) -> None:
        """End all jobs of ``execute_async`` that still run."""
        for job in list(self._jobs):
            job.cancel()


def install_local_engine(clock: Clock | None = None) -> LocalEngine:
    """Make ``execute`` run jobs in this process from now on.

    Args:
        clock: processing time; the machine's if not given.
    """
    engine = LocalEngine(clock)
    install_engine(engine)
    return engine


@contextmanager
def local_engine(clock: Clock | None = None) -> Iterator[LocalEngine]:
    """Run jobs in this process inside a ``with`` statement, and as before after it.

    Jobs that still run at its end are cancelled.

    Args:
        clock: processing time; the machine's if not given.
    """
    before = installed_engine()
    engine = install_local_engine(clock)
    try:
        yield engine
    finally:
        install_engine(before)
        engine.cancel_jobs()
