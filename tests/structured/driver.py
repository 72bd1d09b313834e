"""The driver's side of queries without Spark: its own code, over the slots of `in_process`.

`Here` is the job of a classic Spark, `Remote` that of Spark Connect, whose server is this process.
"""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import folder, state_file
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._spark.jobs.worker_environment import WorkerEnvironment
from pyflink_on_spark._spark.session.dependencies import ShippedDependencies
from pyflink_on_spark._spark.structured.batches import CONTROL, QUERY
from pyflink_on_spark._spark.structured.connect_job import ConnectJob
from pyflink_on_spark._spark.structured.query_job import QueryJob
from pyflink_on_spark._spark.structured.savepoints import StoredState
from pyflink_on_spark._spark.structured.server_batches import ASKED
from pyflink_on_spark._spark.structured.slot import DRAINS, ENDS, Limits, level_plans
from tests.structured.in_process import FakeQuery, Trouble

PATIENCE = 20


class _Slots(FakeQuery):
    def __init__(self, job: Any, plans: list[Any]) -> None:
        super().__init__(plans, job._levels, Trouble(), SystemClock())
        self._control = job._home.inside(CONTROL)

    @property
    def wishes(self) -> list[str]:
        return list(self._control.names())

    @wishes.setter
    def wishes(self, _: list[str]) -> None:
        pass


class _Frame:
    sparkSession = None  # noqa: N815

    def __init__(self, slots: _Slots, batch: int) -> None:
        self._slots, self._batch = slots, batch

    def collect(self) -> list[Any]:
        return self._slots.run(self._batch)


class _Query:
    """Spark's query: micro-batches in a thread, each committed some time after it has run."""

    lastProgress = None  # noqa: N815

    def __init__(self, job: Any, run: Callable[[Any, int], None]) -> None:
        self._job, self._run = job, run
        self._over = threading.Event()
        self._error: BaseException | None = None
        self.status = {"isTriggerActive": True, "message": ""}
        self._thread = threading.Thread(target=self._live, daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802
        return self._thread.is_alive()

    def exception(self) -> BaseException | None:
        return self._error

    def stop(self) -> None:
        self._over.set()
        self._job.killed.set()
        self._thread.join(PATIENCE)

    def _live(self) -> None:
        job = self._job
        commits = job._home.inside(QUERY).inside("commits")
        try:
            while not self._over.is_set():
                job.wait_for_request(self._over)
                with job.slots.committed_at_the_end():
                    self._run(_Frame(job.slots, job.batch), job.batch)
                    time.sleep(job.commit_seconds)
                    job.before_commit()
                commits.write(str(job.batch), b"")
                self.lastProgress = {"batchId": job.batch, "timestamp": str(time.monotonic())}
                job.batch += 1
        except BaseException as error:  # noqa: BLE001 - Spark keeps it
            if not self._over.is_set():
                self._error = job.as_spark_tells(error)


class _Stored(StoredState):
    def __init__(self, job: Any) -> None:
        self._job = job

    def snapshot(self, _: int, where: str, *__: Any, **___: Any) -> dict[int, HostSnapshot]:
        self._job.before_savepoint()
        files = []
        for target, (_head, chunks) in self._job.slots._store.items():
            with state_file(folder(where), f"slot-{target}") as writer:
                for number in sorted(chunks.entries):
                    writer.write_bytes(chunks.entries[number][0])
            files.append(writer.result())
        return {number: HostSnapshot(file, []) for number, file in enumerate(files)}


class _WithoutSpark:
    """Settings of tests: the time that Spark takes to commit, and failures there."""

    commit_seconds = 0.02

    def before_commit(self) -> None:
        """Called before Spark commits a micro-batch."""

    def before_savepoint(self) -> None:
        """Called before the state of a savepoint is written."""

    def as_spark_tells(self, error: BaseException) -> BaseException:
        return error

    slots: Any = None
    batch = 0
    holds_at: int | None = None
    """The micro-batch that does not begin in the first attempt before a savepoint is asked for."""

    def wait_for_request(self: Any, over: threading.Event) -> None:
        """Wait, at one micro-batch, until the driver or the client wants a savepoint."""
        while self.batch == self.holds_at and not over.is_set():
            names = self._home.inside(CONTROL).names()
            wished = any(name.startswith((f"{ENDS}-", f"{DRAINS}-")) for name in names)
            if wished or self._home.inside(ASKED).names():
                self.holds_at = None
            time.sleep(0.01)

    def _why_gone(self, _: BaseException) -> str | None:
        return None

    def _stored(self, _: int) -> StoredState:
        return _Stored(self)

    def _start(self: Any, run: Callable[[Any, int], None], number: int) -> _Query:
        limits = replace(Limits.of(self._job.bounded, self._settings.interval), idle=0.02)
        restore = self._commits.restore
        plans = level_plans(self._levels, self._job.settings, number, restore, limits)
        if self.slots is None:
            self.slots = _Slots(self, plans)
        self.slots._plans = plans
        if number > 0:
            self.holds_at = None
        return _Query(self, run)

    def ended(self: Any) -> bool:
        """Wait until the job has ended, for some time; return whether it has."""
        return bool(self._ended.wait(PATIENCE))


def _session() -> Any:
    context = SimpleNamespace(
        master="local[4]", defaultParallelism=4, setJobDescription=lambda _: None
    )
    made = SimpleNamespace(sparkContext=context)
    made.newSession = lambda: made
    return made


class Here(_WithoutSpark, QueryJob):
    """A job as the driver of a classic Spark runs it."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.killed = threading.Event()

    def start(self) -> None:
        self._take_restored()
        self._session = _session()
        self._begin()


class Remote(_WithoutSpark, ConnectJob):
    """A job as a client of Spark Connect runs it, with calls of the server as plain calls."""

    call_seconds = 0.0

    def __init__(self, job: Job) -> None:
        super().__init__(job, _session(), _session(), lambda _: None)
        self.killed = threading.Event()

    def start(self) -> None:
        self._take_restored()
        self._dependencies = ShippedDependencies()
        self._environment = WorkerEnvironment.of_driver(self._dependencies)
        self._begin()

    def as_spark_tells(self, error: BaseException) -> BaseException:
        return RuntimeError(f"PythonException: {''.join(traceback.format_exception(error))}")

    def _call(self, function: Any) -> object:
        return function()

    def _ask_planner(self, function: Any) -> Any:
        time.sleep(self.call_seconds)
        return function()
