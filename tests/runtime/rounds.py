"""Runs jobs in this process round by round, cut, interleaved and restarted as a test wants it."""

from __future__ import annotations

import pickle
import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from pyflink_on_spark._job.job import Job, install_engine
from pyflink_on_spark._runtime.bundle import Bundle
from pyflink_on_spark._runtime.checkpoints.task_state import (
    OperatorSubtaskState,
    TaskStateSnapshot,
    split_redistribute,
)
from pyflink_on_spark._runtime.connector import Source
from pyflink_on_spark._runtime.immutability import deserialize
from pyflink_on_spark._runtime.state.disk.settings import DiskSettings
from pyflink_on_spark._runtime.state.settings import StateSettings
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.level import DRIVER
from pyflink_on_spark._runtime.task.plan import VertexPlan
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from tests.runtime.harness import FakeClock

Build = Callable[[DataStream], DataStream]


class CutSource(Source):
    """Elements in bundles of given sizes; the last size holds for all that follows.

    Args:
        elements: what it gives.
        sizes: how many elements at a time.
    """

    parallel = False

    def __init__(self, elements: Iterable[Any], sizes: Iterable[int] = (1_000_000,)) -> None:
        self._elements = list(elements)
        self._sizes = list(sizes)

    def splits(self, parallelism: int) -> list[None]:
        return [None]

    def read(self, split: None, context: Any) -> Iterator[Bundle]:
        at = 0
        for size in chain(self._sizes, iter(lambda: self._sizes[-1], 0)):
            if at >= len(self._elements):
                return
            yield Bundle(self._elements[at : at + size])
            at += size


@dataclass(frozen=True)
class Conditions:
    """What no result may depend on.

    Args:
        sizes: of the source's bundles.
        parallelism: of all that is not fixed by the job.
        restarts: after which rounds the job is saved and goes on elsewhere, with what parallelism.
        seed: of the order in which channels are read; None for first come, first served.
        on_disk: whether keyed state is on disk, but for the last few entries.
    """

    sizes: tuple[int, ...] = (1_000_000,)
    parallelism: int = 1
    restarts: Mapping[int, int] = field(default_factory=dict)
    seed: int | None = None
    on_disk: bool = False


def job_of(
    build: Build,
    source: Source,
    parallelism: int = 1,
    max_parallelism: int | None = None,
    configuration: Mapping[str, str] | None = None,
) -> Job:
    """Return the job that collects what ``build`` makes of a source's stream."""
    recorder = _Recorder()
    install_engine(recorder)
    try:
        settings = Configuration()
        for key, value in (configuration or {}).items():
            settings.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(parallelism)
        if max_parallelism is not None:
            env.set_max_parallelism(max_parallelism)
        stream = build(env._from_runtime_source(source, "events", None))
        stream.execute_and_collect().close()
    finally:
        install_engine(None)
    assert recorder.job is not None
    return recorder.job


def results(
    build: Build,
    elements: Iterable[Any],
    conditions: Conditions | None = None,
    *,
    max_parallelism: int | None = None,
    watermark_every: int = 10_000,
) -> list[Any]:
    """Return what a job collects from some elements."""
    conditions = conditions or Conditions()
    elements = list(elements)
    settings = {"pyflink-on-spark.watermark-interval-elements": str(watermark_every)}

    def job(parallelism: int) -> Job:
        source = CutSource(elements, conditions.sizes)
        made = job_of(build, source, parallelism, max_parallelism, settings)
        return _on_disk(made) if conditions.on_disk else made

    running = RunningJob(job(conditions.parallelism), seed=conditions.seed)
    rounds = 0
    while running.round():
        rounds += 1
        if rounds in conditions.restarts:
            saved = running.save(rounds)
            again = job(conditions.restarts[rounds])
            running = RunningJob(again, saved, running.collected, seed=conditions.seed)
    running.close()
    return running.collected


def _on_disk(job: Job) -> Job:
    state = StateSettings(DiskSettings(memory=0))
    return replace(job, settings=replace(job.settings, state=state))


class RunningJob:
    """A job all of whose subtasks are there at once.

    Args:
        job: the job.
        saved: the state of all subtasks that it goes on from, as ``save`` returns it.
        collected: what was collected before.
        clock: processing time.
        seed: of the order in which channels are read.
    """

    def __init__(
        self,
        job: Job,
        saved: bytes | None = None,
        collected: list[Any] | None = None,
        clock: FakeClock | None = None,
        seed: int | None = None,
    ) -> None:
        self.collected: list[Any] = collected if collected is not None else []
        self.clock = clock or FakeClock()
        self._random = None if seed is None else random.Random(seed)
        regions = [region for level in job.levels for region in level.regions]
        states = None if saved is None else _shares(pickle.loads(saved), regions)
        self.subtasks: dict[int, Subtask] = {}
        for region in regions:
            for index in range(region.parallelism):
                target = region.first_target + index
                self.subtasks[target] = Subtask(
                    region, index, job.settings, self.clock, self._driver,
                    attempt=0 if saved is None else 1,
                    restored=None if states is None else states[target],
                )  # fmt: skip
        for target in reversed(self.subtasks):
            self.subtasks[target].open()

    def round(self) -> bool:
        """Read a bundle from each source and work it off; tell whether there is more."""
        for subtask in self.subtasks.values():
            subtask.poll_sources()
            self._work_off(subtask.take_rows())
        return any(subtask.reading for subtask in self.subtasks.values())

    def save(self, checkpoint_id: int) -> bytes:
        """Work off all that is under way, and return the state of all subtasks. Ends the job."""
        for subtask in self.subtasks.values():
            subtask.end_epoch()
            self._work_off(subtask.take_rows())
        saved = pickle.dumps([s.snapshot(checkpoint_id) for s in self.subtasks.values()])
        self.close()
        return saved

    def close(self) -> None:
        """Close all subtasks."""
        for subtask in self.subtasks.values():
            subtask.close()

    def _work_off(self, rows: list[Row]) -> None:
        waiting: dict[tuple[int, int], deque[Row]] = {}
        while True:
            for row in rows:
                assert row.target != DRIVER
                waiting.setdefault((row.target, row.channel), deque()).append(row)
            if not waiting:
                return
            pick = next(iter(waiting)) if self._random is None else self._picked(waiting)
            row = waiting[pick].popleft()
            if not waiting[pick]:
                del waiting[pick]
            subtask = self.subtasks[row.target]
            subtask.receive(row)
            rows = subtask.take_rows()

    def _picked(self, waiting: dict[tuple[int, int], deque[Row]]) -> tuple[int, int]:
        assert self._random is not None
        return self._random.choice(list(waiting))

    def _driver(self, channel: str) -> Callable[[list[Any]], None]:
        assert channel == "collect"
        return lambda things: self.collected.extend(map(deserialize, things))


def _shares(
    states: list[TaskStateSnapshot], regions: list[VertexPlan]
) -> dict[int, TaskStateSnapshot]:
    """Deal out a checkpoint, as an engine does it."""
    parts: dict[str, list[OperatorSubtaskState]] = {}
    sources: dict[str, list[Any]] = {}
    for state in states:
        for name, data in state.operators.items():
            parts.setdefault(name, []).append(data)
        for name, positions in state.sources.items():
            sources.setdefault(name, []).extend(positions)
    shares = {}
    for region in regions:
        names = [
            operator.state_id
            for segment in region.segments
            for operator in segment.operators
            if operator.state_id is not None
        ]
        dealt = {name: split_redistribute(parts[name], region.parallelism) for name in names}
        for index in range(region.parallelism):
            operators = {name: dealt[name][index] for name in names}
            shares[region.first_target + index] = TaskStateSnapshot(
                states[0].checkpoint_id, operators, sources
            )
    return shares


class _Recorder:
    """An engine that keeps the job, and runs nothing."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.job_id = ""

    def submit(self, job: Job) -> _Recorder:
        self.job = job
        return self

    def collected(self) -> Iterator[Any]:
        yield from ()

    def result(self) -> None:
        return None


def by_key(found: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return elements by their first field, in the order in which they came."""
    groups: dict[Any, list[Any]] = {}
    for element in found:
        groups.setdefault(element[0], []).append(element)
    return groups
