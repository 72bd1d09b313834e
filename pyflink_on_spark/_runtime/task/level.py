"""Runs what one worker task has of one level: some subtasks, fed with the rows of an exchange."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark._runtime.immutability import serialize
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.plan import JobSettings, StagePlan, VertexPlan
from pyflink_on_spark._runtime.task.subtask import Driver, Subtask

DRIVER = -1
"""The target of rows that the driver reads at the end: what is to be committed."""

START = -1
"""The channel of rows that only start a subtask."""


class LevelRunner:
    """Runs the subtasks of a level whose rows come in.

    Rows arrive ordered by target: one subtask is through before the next one begins. A row for a
    deeper level or for the driver passes unopened.

    Args:
        level: what the level has.
        number: which level it is; level 0 is started by rows of its own.
        job: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a subtask's target, what sends to the driver.
        attempt: how often the job was restarted.
    """

    def __init__(
        self,
        level: StagePlan,
        number: int,
        job: JobSettings,
        clock: Clock,
        driver: Callable[[int], Driver],
        attempt: int = 0,
    ) -> None:
        self._number, self._job, self._clock = number, job, clock
        self._driver, self._attempt = driver, attempt
        self._regions: dict[int, tuple[VertexPlan, int]] = {
            region.first_target + index: (region, index)
            for region in level.regions
            for index in range(region.parallelism)
        }

    def start_rows(self) -> Iterator[Row]:
        """Return a row for each subtask, which only starts it."""
        return (Row(target, START, 0, b"") for target in sorted(self._regions))

    def run(self, rows: Iterator[Row]) -> Iterator[Row]:
        """Work off rows; yield those that leave."""
        current: int | None = None
        subtask: Subtask | None = None
        try:
            for row in rows:
                if row.target not in self._regions:
                    yield row
                    continue
                if row.target != current:
                    if subtask is not None:
                        yield from self._finish(subtask)
                    current, subtask = row.target, self._begin(row.target)
                    yield from self._read_sources(subtask)
                assert subtask is not None
                if row.channel != START:
                    subtask.receive(row)
                    yield from subtask.take_rows()
            if subtask is not None:
                last, subtask = subtask, None
                yield from self._finish(last)
        except BaseException:
            if subtask is not None:
                subtask.close(failed=True)
            raise

    def _begin(self, target: int) -> Subtask:
        region, index = self._regions[target]
        driver = self._driver(target)
        subtask = Subtask(region, index, self._job, self._clock, driver, self._attempt)
        try:
            subtask.open()
        except BaseException:
            subtask.close(failed=True)
            raise
        return subtask

    def _read_sources(self, subtask: Subtask) -> Iterator[Row]:
        for _ in subtask.run_sources():
            yield from subtask.take_rows()

    def _finish(self, subtask: Subtask) -> Iterator[Row]:
        yield from subtask.take_rows()
        committables: list[Any] = subtask.committables()
        subtask.close()
        if committables:
            yield Row(DRIVER, 0, 0, serialize(committables))
