"""Runs jobs in this process round by round, cut, interleaved and restarted as a test wants it."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

from pyflink_on_spark._job.job import Job, install_engine
from pyflink_on_spark._runtime.checkpoints.checkpoint import Restore
from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.elements.bundle import Bundle, CombinedTime
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.metrics import METRICS
from pyflink_on_spark._runtime.state.disk import DiskSettings, StateSettings
from pyflink_on_spark._runtime.task.exchange_writer import AlignedBarriers, ChannelRow, EventBatch
from pyflink_on_spark._runtime.task.schedule import RunQueueEntry, Schedule
from pyflink_on_spark._runtime.task.subtask import NEVER, Subtask
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.job_execution_result import JobOutcome
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from pyflink_on_spark.testing.local_engine import LocalHosts
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
    """The conditions of a run; no result may depend on them.

    Args:
        sizes: of the source's bundles.
        parallelism: of all that is not fixed by the job.
        restarts: after how many elements the job is saved and continues elsewhere, with what
            parallelism.
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
    with recording() as recorder:
        settings = Configuration()
        for key, value in (configuration or {}).items():
            settings.set_string(key, value)
        env = StreamExecutionEnvironment.get_execution_environment(settings)
        env.set_parallelism(parallelism)
        if max_parallelism is not None:
            env.set_max_parallelism(max_parallelism)
        stream = build(env._from_runtime_source(source, "events", None))
        stream.execute_and_collect().close()
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
    """Return the elements that a job collects."""
    conditions = conditions or Conditions()
    elements = list(elements)
    settings = {"pyflink-on-spark.watermark-interval-elements": str(watermark_every)}

    def job(parallelism: int) -> Job:
        source = CutSource(elements, conditions.sizes)
        made = job_of(build, source, parallelism, max_parallelism, settings)
        return _on_disk(made) if conditions.on_disk else made

    running, read = RunningJob(job(conditions.parallelism), seed=conditions.seed), 0
    restarts = sorted(conditions.restarts.items(), reverse=True)
    while running.round():
        if restarts and read + running.read >= restarts[-1][0]:
            read += running.read
            after, parallelism = restarts.pop()
            saved = running.save(after)
            running = RunningJob(job(parallelism), saved, running.collected, seed=conditions.seed)
    running.close()
    return running.collected


def _on_disk(job: Job) -> Job:
    state = StateSettings(DiskSettings(memory=0))
    return replace(job, settings=replace(job.settings, state=state))


class AnyOrder(Schedule):
    """Picks any unit that has something to do.

    Args:
        seed: of the choice.
    """

    def __init__(self, seed: int) -> None:
        super().__init__()
        self._random = random.Random(seed)
        self._units: list[RunQueueEntry] = []

    def __bool__(self) -> bool:
        return bool(self._units)

    def add(self, unit: RunQueueEntry) -> None:
        if not unit.scheduled:
            unit.scheduled = True
            self._units.append(unit)

    def put_back(self, unit: RunQueueEntry) -> None:
        self.add(unit)

    def pick(self) -> RunQueueEntry:
        unit = self._units.pop(self._random.randrange(len(self._units)))
        unit.scheduled = False
        self._mix(unit)
        return unit

    def _mix(self, unit: RunQueueEntry) -> None:
        """Let channels overtake each other, but not an event that is of several of them."""
        channels: dict[int, deque[ChannelRow]] = {}
        for row in list(unit.rows.take(NEVER)):
            if isinstance(row.payload, AlignedBarriers | CombinedTime):
                self._put_mixed(unit, channels)
                unit.rows.separate(row, unit.time)
                continue
            for each in _one_by_one(row):
                channels.setdefault(each.channel, deque()).append(each)
        self._put_mixed(unit, channels)
        unit.time = NEVER  # all of it has arrived

    def _put_mixed(self, unit: RunQueueEntry, channels: dict[int, deque[ChannelRow]]) -> None:
        while channels:
            channel = self._random.choice(list(channels))
            unit.rows.add(channels[channel].popleft(), unit.time)
            if not channels[channel]:
                del channels[channel]


def _one_by_one(row: ChannelRow) -> list[ChannelRow]:
    if not isinstance(row.payload, EventBatch):
        return [row]
    return [row._replace(channel=name, payload=event) for name, event in row.payload.events]


class RunningJob:
    """A job all of whose subtasks are there at once.

    Args:
        job: the job.
        saved: the state of all subtasks that it resumes from, as ``save`` returns it.
        collected: what was collected before.
        clock: processing time.
        seed: of the order in which subtasks work and channels are read; None for the usual one.
    """

    def __init__(
        self,
        job: Job,
        saved: tuple[int, bytes] | None = None,
        collected: list[Any] | None = None,
        clock: FakeClock | None = None,
        seed: int | None = None,
    ) -> None:
        self.collected: list[Any] = collected if collected is not None else []
        self.clock = clock or FakeClock()
        self.hosts = LocalHosts(
            job.stages,
            job.settings,
            self.clock,
            self._driver,
            attempt=0 if saved is None else 1,
            restore=None if saved is None else Restore(*saved),
            schedule=None if seed is None else AnyOrder(seed),
        )
        self.hosts.group.open()

    def round(self) -> bool:
        """Let one subtask do what it can do at once; tell whether there is more."""
        self.hosts.hand_out_splits()
        self.hosts.group.turn(0.0)
        return not self.hosts.group.ended

    @property
    def subtask(self) -> Subtask:
        """The only subtask."""
        (only,) = self.hosts.group
        return only

    @property
    def read(self) -> int:
        """How many elements the sources have read."""
        return sum(
            part.records
            for subtask in self.hosts.group
            for index, part in enumerate(subtask.progress())
            if index in subtask.sources
        )

    def save(self, checkpoint_id: int) -> tuple[int, bytes]:
        """Take a checkpoint, and end the job with it."""
        content = self.hosts.snapshot(checkpoint_id, None, halt=True)[0].state
        assert isinstance(content, bytes)
        self.close()
        return checkpoint_id, content

    def close(self) -> None:
        """Close all subtasks."""
        self.hosts.group.close()

    def _driver(self, channel: str) -> Callable[[list[Any]], None]:
        if channel == METRICS:
            return lambda things: None
        assert channel == "collect"
        return lambda things: self.collected.extend(map(deserialize, things))


@contextmanager
def recording() -> Iterator[Recorder]:
    """Make jobs be kept instead of run."""
    recorder = Recorder()
    install_engine(recorder)
    try:
        yield recorder
    finally:
        install_engine(None)


class Recorder:
    """An engine that keeps the job, and runs nothing."""

    def __init__(self) -> None:
        self.job: Job | None = None
        self.job_id = ""

    def submit(self, job: Job) -> Recorder:
        self.job = job
        return self

    def collected(self) -> Iterator[Any]:
        yield from ()

    def result(self) -> JobOutcome:
        return JobOutcome(self.job_id, 0)


def by_key(found: Iterable[Any]) -> dict[Any, list[Any]]:
    """Return elements by their first field, in the order in which they came."""
    groups: dict[Any, list[Any]] = {}
    for element in found:
        groups.setdefault(element[0], []).append(element)
    return groups
