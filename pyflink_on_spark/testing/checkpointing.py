"""Checkpoints of a job in this process: for functions and sinks that take part in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._job.commits import Commits
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark.common._options.checkpointing import INTERVAL
from pyflink_on_spark.testing.task_group import TaskGroup


@dataclass(frozen=True)
class CheckpointRule:
    """When jobs take checkpoints, and what becomes of them.

    Args:
        each_turn: whether they do after each turn of their sources, and not by the clock.
        restart: whether all that is not in the checkpoint is thrown away after it.
    """

    each_turn: bool = False
    restart: bool = False


class Checkpointing:
    """Takes checkpoints of a job that asks for them, by the clock if there is no other rule.

    Sinks commit with it and functions are told; what is written is not kept.

    Args:
        job: the job.
        clock: processing time.
        rule: when, and what then.
    """

    def __init__(self, job: Job, clock: Clock, rule: CheckpointRule) -> None:
        self._clock, self._rule = clock, rule
        interval = INTERVAL.read(job.settings.configuration)
        self._interval = interval if interval and job.settings.checkpointed else 0
        self._number = 0
        self._due = clock.now() + self._interval
        self._commits = Commits(job.sinks)
        self.latest: bytes | None = None
        """What subtasks continue from after a failure."""
        self.finished = False
        """Whether everything that the job will ever commit is committed."""

    def turn(self, tasks: TaskGroup) -> bytes | None:
        """Take a checkpoint if it is time; nothing may be in the middle of a bundle.

        Returns:
            What new subtasks have to go on from, if the rule asks for new ones.
        """
        if not self._interval or not self._is_time():
            return None
        tasks.settle()
        snapshot = self._take(tasks)
        return snapshot if self._rule.restart else None

    def finish(self, tasks: TaskGroup) -> None:
        """Take the last checkpoint, once all input has ended."""
        if self._interval:
            self._take(tasks, final=True)
            self.finished = True

    def attempt_begins(self) -> None:
        """Commit what the latest checkpoint has, which the failed attempt may not have done."""
        self._commits.commit(again=True)

    def with_held(self, prepared: list[tuple[int, Any]]) -> list[tuple[int, Any]]:
        """Return what sinks have held back so far, and what was prepared since."""
        return self._commits.with_held(prepared)

    def _take(self, tasks: TaskGroup, final: bool = False) -> bytes:
        self._number += 1
        snapshot = tasks.snapshot(self._number)
        self._commits.safe(self._commits.with_held(tasks.committables()), self._number)
        self.latest = snapshot
        self._commits.commit(final=final)
        tasks.notify_checkpoint_complete(self._number)
        return snapshot

    def _is_time(self) -> bool:
        now = self._clock.now()
        if not self._rule.each_turn and now < self._due:
            return False
        self._due = now + self._interval
        return True
