"""An engine that runs jobs in this process.

Everything that would cross a process on Spark goes through pickle here, too.
"""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from pyflink_on_spark._job.submission.job import Job, install_engine, installed_engine
from pyflink_on_spark._runtime.elements.bundle import tune_garbage_collection
from pyflink_on_spark._runtime.elements.clock import Clock, SystemClock
from pyflink_on_spark.testing.local_job import CheckpointRule, LocalJob


class LocalEngine:
    """Runs jobs in this process.

    ``execute`` runs a job in the calling thread, so that breakpoints in user functions work;
    ``execute_async`` in a thread of its own; ``execute_and_collect`` in the thread that asks for
    elements, as far as it asks.

    Args:
        clock: processing time; the machine's if not given.
        checkpoint_each_turn: whether jobs with checkpoints take one whenever their sources have
            handed over something, instead of by the clock.
        restart_each_checkpoint: whether such jobs restore each checkpoint in new instances of all
            functions.

    Example:
        >>> with local_engine():
        ...     env = StreamExecutionEnvironment.get_execution_environment()
        ...     list(env.from_collection([1, 2]).map(lambda value: value + 1).execute_and_collect())
        [2, 3]
    """

    def __init__(
        self,
        clock: Clock | None = None,
        *,
        checkpoint_each_turn: bool = False,
        restart_each_checkpoint: bool = False,
    ) -> None:
        self.clock: Clock = clock or SystemClock()
        self._rule = CheckpointRule(checkpoint_each_turn, restart_each_checkpoint)
        self._jobs: weakref.WeakSet[LocalJob] = weakref.WeakSet()

    def submit(self, job: Job) -> LocalJob:
        """Begin a job; a failure shows when its result is asked for."""
        handle = LocalJob(job, self.clock, self._rule)
        self._jobs.add(handle)
        if job.attached:
            handle.run()
        elif job.collected is None:
            handle.start()
        return handle

    def wait_until_idle(self, seconds: float = 10.0) -> None:
        """Wait until all jobs of ``execute_async`` have processed all input so far.

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


def install_local_engine(
    clock: Clock | None = None,
    *,
    checkpoint_each_turn: bool = False,
    restart_each_checkpoint: bool = False,
) -> LocalEngine:
    """Make ``execute`` run jobs in this process from now on.

    Python searches this process for cycles of objects less often, as it does on Spark. For the
    arguments see LocalEngine.
    """
    tune_garbage_collection()
    engine = LocalEngine(
        clock,
        checkpoint_each_turn=checkpoint_each_turn,
        restart_each_checkpoint=restart_each_checkpoint,
    )
    install_engine(engine)
    return engine


@contextmanager
def local_engine(
    clock: Clock | None = None,
    *,
    checkpoint_each_turn: bool = False,
    restart_each_checkpoint: bool = False,
) -> Iterator[LocalEngine]:
    """Run jobs in this process inside a ``with`` statement, and as before after it.

    Jobs that still run at its end are cancelled. For the arguments see LocalEngine.
    """
    before, thresholds = installed_engine(), gc.get_threshold()
    engine = install_local_engine(
        clock,
        checkpoint_each_turn=checkpoint_each_turn,
        restart_each_checkpoint=restart_each_checkpoint,
    )
    try:
        yield engine
    finally:
        install_engine(before)
        engine.cancel_jobs()
        gc.set_threshold(*thresholds)
