"""The subtasks of one stage of a BATCH job, in a task of Spark."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.contract.plan import JobSettings, StagePlan, VertexPlan
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, FanOut
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.task.subtask_builder import (
    SubtaskContext,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import DriverChannels


DRIVER = -1
"""The receiver of rows that the driver reads at the end: what is to be committed."""
START = -1
"""The channel of rows that only start a subtask."""


class StageRunner:
    """Runs the subtasks of a stage whose rows come in.

    Rows arrive ordered by receiver: one subtask is through before the next one begins. A row for a
    later stage or for the driver passes unopened.

    Args:
        stage: what the stage has.
        number: which stage it is; stage 0 is started by rows of its own.
        job: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a subtask's number, what sends to the driver.
        attempt: how often the job was restarted.
    """

    def __init__(
        self,
        stage: StagePlan,
        number: int,
        job: JobSettings,
        clock: Clock,
        driver: Callable[[int], DriverChannels],
        attempt: int = 0,
    ) -> None:
        self._number, self._job, self._clock = number, job, clock
        self._driver, self._attempt = driver, attempt
        self._rows: deque[ChannelRow | FanOut] = deque()
        self._vertices: dict[int, tuple[VertexPlan, int]] = {
            number: (vertex, index) for number, vertex, index in stage.subtasks()
        }

    def start_rows(self) -> Iterator[ChannelRow]:
        """Return a row for each subtask, which only starts it."""
        return (ChannelRow(number, START, 0, b"") for number in sorted(self._vertices))

    def run(self, rows: Iterator[ChannelRow]) -> Iterator[ChannelRow]:
        """Process rows; yield those that leave the stage."""
        current: int | None = None
        subtask: Subtask | None = None
        try:
            for row in rows:
                if row.subtask_id not in self._vertices:
                    yield row
                    continue
                if row.subtask_id != current:
                    if subtask is not None:
                        yield from self._finish(subtask)
                    current, subtask = row.subtask_id, self._begin(row.subtask_id)
                    yield from self._read_sources(subtask)
                assert subtask is not None
                if row.channel != START:
                    subtask.receive(row)
                    subtask.work()
                    yield from self._take_rows()
            if subtask is not None:
                last, subtask = subtask, None
                yield from self._finish(last)
        except BaseException:
            if subtask is not None:
                subtask.close(failed=True)
            raise

    def _begin(self, number: int) -> Subtask:
        vertex, index = self._vertices[number]
        identity = SubtaskContext(
            vertex, index, self._job, self._clock, self._driver(number), self._attempt
        )
        subtask = Subtask(identity, self._rows.append)
        try:
            subtask.open()
        except BaseException:
            subtask.close(failed=True)
            raise
        return subtask

    def _read_sources(self, subtask: Subtask) -> Iterator[ChannelRow]:
        while subtask.reading:
            for chain, source in subtask.sources.items():
                if source.reading:
                    subtask.poll(chain)
                    subtask.work()
                    subtask.tick()
                    yield from self._take_rows()

    def _finish(self, subtask: Subtask) -> Iterator[ChannelRow]:
        subtask.work()
        subtask.flush()
        yield from self._take_rows()
        committables: list[object] = subtask.committables()
        subtask.close()
        if committables:
            yield ChannelRow(DRIVER, 0, 0, serialize(committables))

    def _take_rows(self) -> Iterator[ChannelRow]:
        while self._rows:
            row = self._rows.popleft()
            if isinstance(row, ChannelRow):
                yield row
            else:
                yield from row.for_each()
