"""The engine `structured` without Spark: workers, a state store and micro-batches in this process.

Micro-batches fail and are run again, and slots move to other workers, as a random number says.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import random
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder
from pyflink_on_spark._runtime.elements.immutability import deserialize_all
from pyflink_on_spark._runtime.elements.time import Clock, SystemClock
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow
from pyflink_on_spark._spark.structured.batches import QUERY, Batches, QueryCommits
from pyflink_on_spark._spark.structured.levels import TICK, Levels
from pyflink_on_spark._spark.structured.slot import Limits, level_plans
from pyflink_on_spark._spark.structured.state_log import StateLog
from pyflink_on_spark._spark.structured.worker import Worker
from pyflink_on_spark.testing.local_engine import LocalJob


class Head:
    """Spark's ValueState."""

    def __init__(self) -> None:
        self.value: Any = None

    def get(self) -> Any:
        return self.value

    def update(self, newValue: Any) -> None:  # noqa: N803
        self.value = newValue


class Chunks:
    """Spark's MapState."""

    def __init__(self) -> None:
        self.entries: dict[Any, Any] = {}

    def getValue(self, key: Any) -> Any:  # noqa: N802
        return self.entries[key]

    def updateValue(self, key: Any, value: Any) -> None:  # noqa: N802
        self.entries[key] = value

    def removeKey(self, key: Any) -> None:  # noqa: N802
        del self.entries[key]


@dataclass
class Trouble:
    """How often something goes wrong, from 0 to 1.

    Args:
        seed: of the random numbers.
        moves: how often a slot is run by another worker than last time.
        losses: how often a worker is lost before a micro-batch.
        failures: how often a micro-batch fails, after some of its slots, and is run again.
        partitions: at most.
        stored: gets the bytes in the logs of all slots after each micro-batch.
    """

    seed: int = 0
    moves: float = 0.0
    losses: float = 0.0
    failures: float = 0.0
    partitions: int = 4
    batches: int = field(default=0, init=False)
    stored: list[int] = field(default_factory=list, init=False)


class _Failed(Exception):
    """A micro-batch is run again."""


class FakeQuery:
    """A query: the state of all slots, and the workers that run them."""

    def __init__(self, plans: list[Any], levels: Levels, trouble: Trouble, clock: Clock) -> None:
        self._plans, self._levels, self._trouble = plans, levels, trouble
        self._random = random.Random(trouble.seed)
        self._clock = clock
        self._workers = [Worker(clock) for _ in range(3)]
        self._store: dict[int, tuple[Head, Chunks]] = {}
        self.wishes: list[str] = []

    def run(self, batch: int) -> list[dict[str, Any]]:
        while True:
            self._trouble.batches += 1
            committed = copy.deepcopy(self._store)
            try:
                leaving = self._run(batch)
            except _Failed:
                self._store = committed
            else:
                self._trouble.stored.append(self._stored_bytes())
                return leaving

    def _stored_bytes(self) -> int:
        logs = [chunks.entries.values() for _, chunks in self._store.values()]
        return sum(len(chunk) for log in logs for (chunk,) in log)

    @contextlib.contextmanager
    def committed_at_the_end(self) -> Iterator[None]:
        """Forget what a micro-batch has changed if the driver fails before its end."""
        committed = copy.deepcopy(self._store)
        try:
            yield
        except BaseException:
            self._store = committed
            raise

    def close(self) -> None:
        for worker in self._workers:
            worker.leave_all()

    def _run(self, batch: int) -> list[dict[str, Any]]:
        trouble = self._trouble
        if self._random.random() < trouble.losses:
            self._workers[self._random.randrange(3)] = Worker(self._clock)
        first = self._levels.levels[0]
        rows: list[Any] = [(target, -1, TICK, batch, b"") for target in first.targets]
        for plan in self._plans:
            rows = self._level(plan, rows, batch)
        if self._random.random() < trouble.failures / 2:
            raise _Failed
        names = ("target", "subtask", "channel", "seq", "payload")
        assert all(row[0] in self._levels.driver for row in rows)
        found = [dict(zip(names, row, strict=True)) for row in rows]
        return [row for row in found if row["subtask"] >= 0]

    def _level(self, plan: Any, rows: list[Any], batch: int) -> list[Any]:
        leaving = [row for row in rows if row[0] not in plan.level.targets]
        for slot, target in enumerate(plan.level.targets):
            mine = [row for row in rows if row[0] == target]
            self._random.shuffle(mine)
            assert sum(row[2] == TICK for row in mine) == 1
            given = [ChannelRow(*row[1:]) for row in mine if row[2] != TICK]
            worker = self._workers[slot % 3]
            if self._random.random() < self._trouble.moves:
                worker = self._random.choice(self._workers)
            log = StateLog(*self._store.setdefault(target, (Head(), Chunks())))
            plan = pickle.loads(pickle.dumps(plan))
            leaving += worker.run(plan, slot, batch, given, log, self.wishes)
            if self._random.random() < self._trouble.failures / len(plan.level.targets):
                raise _Failed
        return leaving


class _Frame:
    def __init__(self, query: FakeQuery, batch: int) -> None:
        self._query, self._batch = query, batch

    def collect(self) -> list[Any]:
        return self._query.run(self._batch)


class QueryInProcess(LocalJob):
    """A job as a query."""

    def __init__(self, job: Job, clock: Clock, trouble: Trouble) -> None:
        super().__init__(job, clock)
        self._trouble = trouble
        self._coordinator: Any = QueryCommits.of(job, clock)
        self._home = tempfile.TemporaryDirectory()
        self._query: FakeQuery | None = None
        self._batch = 0

    def _attempt(self, number: int) -> Iterator[None]:
        commits, job = self._coordinator, self._job
        levels = Levels.of(job.stages, self._trouble.partitions)
        limits = Limits.of(job.bounded, CheckpointSettings.of(job.settings.configuration).interval)
        limits = replace(limits, idle=0.02)
        plans = level_plans(levels, job.settings, number, commits.restore, limits)
        if self._query is None:
            commits.open(folder(self._home.name), len(levels.levels))
            self._query = FakeQuery(plans, levels, self._trouble, self._clock)
        self._query._plans = plans
        slots = sum(len(level.targets) for level in levels.levels)
        committed = folder(self._home.name).inside(QUERY).inside("commits")
        batches = Batches(commits, slots, self._deliver, lambda *_: None)
        try:
            while not batches.ended.is_set():
                self._cancellation.check()
                with self._query.committed_at_the_end():
                    batches(_Frame(self._query, self._batch), self._batch)
                committed.write(str(batches.last), b"")
                self._batch += 1
                yield
            with batches.between(self._cancellation.check):
                pass
        finally:
            self._query.close()

    def _deliver(self, channel: str, things: list[Any]) -> None:
        self._driver(channel)(things)

    def _driver(self, channel: str) -> Callable[[list[Any]], None]:
        if channel == self._job.collected:
            return lambda things: self._collected.extend(deserialize_all(things))
        return self._job.printers[channel]


class QueryEngine:
    """Runs jobs as queries in this process."""

    def __init__(self, trouble: Trouble | None = None, clock: Clock | None = None) -> None:
        self._trouble, self._clock = trouble or Trouble(), clock or SystemClock()

    def submit(self, job: Job) -> LocalJob:
        if job.settings.batch:
            handle = LocalJob(job, self._clock)
        else:
            handle = QueryInProcess(job, self._clock, self._trouble)
        if job.attached:
            handle.run()
        elif job.collected is None:
            handle.start()
        return handle
