"""Checkpoints of a job in this process: for functions and sinks that take part in them."""

from __future__ import annotations

from pyflink_on_spark._graph.checkpoint_interval import checkpoint_interval
from pyflink_on_spark._graph.job import Job, commit
from pyflink_on_spark._runtime.context import Clock
from pyflink_on_spark.testing.task_group import TaskGroup


class Checkpointing:
    """Takes a checkpoint whenever the interval that the job asks for has passed on the clock.

    Sinks commit with it and functions are told; what is written is not kept.

    Args:
        job: the job.
        tasks: its subtasks.
        clock: processing time.
    """

    def __init__(self, job: Job, tasks: TaskGroup, clock: Clock) -> None:
        self._job, self._tasks, self._clock = job, tasks, clock
        interval = checkpoint_interval(job.settings.configuration)
        self._interval = interval if interval and job.settings.checkpointed else 0
        self._next_id = 1
        self._due = clock.now() + self._interval

    def turn(self) -> None:
        """Take a checkpoint if it is time; nothing may be in the middle of a bundle."""
        now = self._clock.now()
        if not self._interval or now < self._due:
            return
        self._due = now + self._interval
        checkpoint_id, self._next_id = self._next_id, self._next_id + 1
        self._tasks.settle()
        self._tasks.snapshot(checkpoint_id)
        commit(self._job.sinks, self._tasks.committables())
        self._tasks.notify_checkpoint_complete(checkpoint_id)
