"""Drivers, hosts and disk of a job in one process; processes die, the disk fails, clocks jump.

A driver that is killed does nothing more, not even what its ``finally`` blocks say: from then on
each of its accesses to the disk raises ``Killed``. One that is only suspended may continue later,
beside the one that was started in its place.
"""

from __future__ import annotations

import contextlib
import errno
import random
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._filesystem.local_files import LocalFiles
from pyflink_on_spark._job.attempt_control import AttemptControl, SavepointRequest
from pyflink_on_spark._job.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.ownership import JobTakenOverError
from pyflink_on_spark._runtime.checkpoints import stored_frames
from pyflink_on_spark._runtime.state.settings import StateSettings
from pyflink_on_spark._runtime.steps import watch
from pyflink_on_spark._runtime.user_code.failure import SubtaskFailure
from pyflink_on_spark.common import Configuration, Encoder, Row, Types
from pyflink_on_spark.datastream import DataStream, MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import Sink
from pyflink_on_spark.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    RollingPolicy,
)
from pyflink_on_spark.datastream.connectors.jdbc import JdbcConnectionOptions
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from pyflink_on_spark.extensions import jdbc_exactly_once_sink
from tests.runtime.harness import FakeClock
from tests.runtime.many_hosts import HostGone, ManyHosts
from tests.runtime.rounds import CutSource, recording

KEYS = 3
LINE = Types.ROW_NAMED(["line"], [Types.STRING()])
_DISK = ("status", "names", "open", "create", "make_durable", "rename", "remove", "remove_folder")


class Killed(BaseException):
    """The process that does this is dead."""


class Count(MapFunction):
    """Emits the key, the number, and how many numbers the key has had."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value % KEYS},{value},{count}"


def expected_lines(elements: int) -> list[str]:
    """Return what the job writes, in order of the numbers."""
    return [f"{n % KEYS},{n},{n // KEYS + 1}" for n in range(elements)]


class World:
    """The disk, and the processes that use it.

    Args:
        folder: for everything.
        seed: of all that chance decides.
        elements: how many numbers the job reads.
        settings: of the job.
        part_size: of the part files that checkpoints resume, in bytes; None: each checkpoint ends
            the part files.
    """

    def __init__(
        self,
        folder: Path,
        seed: int = 0,
        elements: int = 24,
        settings: dict[str, str] | None = None,
        part_size: int | None = None,
    ) -> None:
        self.folder, self.elements, self.chance = folder, elements, random.Random(seed)
        self.settings, self._part_size = dict(settings or {}), part_size
        self._seen: Counter[tuple[str, int]] = Counter()
        self.clock = FakeClock(1_000_000)
        self.acting: Driver | None = None
        self.kill_at: tuple[str, int] | None = None
        """The step, and the how-manieth time that it is done, at which the driver is killed."""
        self.fail_at: tuple[str, int] | None = None
        """Likewise, for an OSError."""
        self.folder.mkdir(exist_ok=True)
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS t (line TEXT)")
        self.full = 0
        """How many of the next changes of the disk fail."""
        self.log: list[str] = []

    @contextlib.contextmanager
    def running(self) -> Iterator[World]:
        """Let the disk and the steps of the protocol be this world's."""
        originals = {name: getattr(LocalFiles, name) for name in _DISK}
        for name, original in originals.items():
            setattr(LocalFiles, name, self._watched(name, original))
        unwatch = watch(self._step)
        few, stored_frames._FEW = stored_frames._FEW, 0
        try:
            yield self
        finally:
            stored_frames._FEW = few
            unwatch()
            for name, original in originals.items():
                setattr(LocalFiles, name, original)

    def newest_checkpoint(self) -> Path | None:
        """Return the newest complete checkpoint, or savepoint that a job was to stop with."""
        found = [
            *self.folder.glob("checkpoints/*/chk-*/_metadata"),
            *self.folder.glob("stopped/savepoint-*/_metadata"),
        ]
        newest = max(found, key=lambda path: path.stat().st_mtime_ns, default=None)
        return None if newest is None else newest.parent

    def rolling_policy(self) -> RollingPolicy:
        """Return when the job ends a part file."""
        if self._part_size is None:
            return RollingPolicy.on_checkpoint_rolling_policy()
        return RollingPolicy.default_rolling_policy(self._part_size, 2000, 500)

    def write(self, counted: DataStream) -> None:
        """Write the lines to the outputs of this world."""
        output = str(self.folder / "output")
        counted.sink_to(
            FileSink.for_row_format(output, Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .with_rolling_policy(self.rolling_policy())
            .build()
        ).uid("files")
        counted.map(Row, LINE).uid("rows").sink_to(_table(self.database)).uid("table")

    def lines(self) -> list[str]:
        """Return what is committed to files."""
        parts = (self.folder / "output").glob("part-*")
        return [line for part in parts for line in part.read_text().splitlines()]

    @property
    def database(self) -> Path:
        """Where the table is."""
        return self.folder / "rows.db"

    def rows(self) -> list[str]:
        """Return what is committed to the table."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return [line for (line,) in connection.execute("SELECT line FROM t")]

    def outputs(self) -> list[list[str]]:
        """Return what is committed to each output."""
        return [self.lines(), self.rows()]

    def check(self, complete: bool = False) -> None:
        """Check that nothing is there twice, and nothing is lost in the end."""
        for lines in self.outputs():
            self._check(lines, complete)

    def _check(self, lines: list[str], complete: bool) -> None:
        expected, found = expected_lines(self.elements), Counter(lines)
        twice = [line for line, count in found.items() if count > 1]
        assert not twice, f"there twice: {twice[:3]}\n{self}"
        other = [line for line in found if line not in expected]
        assert not other, f"not expected: {other[:3]}\n{self}"
        lost = [line for line in expected if complete and line not in found]
        assert not lost, f"lost: {lost[:3]}\n{self}"

    def __str__(self) -> str:
        return "\n".join(self.log)

    def note(self, what: str) -> None:
        """Note what happens, for those who have to understand a failure."""
        number = "" if self.acting is None else f"driver {self.acting.number}: "
        self.log.append(f"{number}{what}")

    def _step(self, name: str) -> None:
        self.note(name)
        if self._is_time(self.kill_at, name):
            self.kill_at = None
            self.kill()
        if self._is_time(self.fail_at, name):
            self.fail_at = None
            self.note("an error")
            raise OSError(errno.EIO, "the test wants an error here")

    def _is_time(self, when: tuple[str, int] | None, name: str) -> bool:
        return when is not None and when[0] in (name, "any") and self._counted(when)

    def _counted(self, when: tuple[str, int]) -> bool:
        self._seen[when] += 1
        return self._seen[when] >= when[1]

    def kill(self) -> None:
        """Kill the driver that acts.

        Raises:
            Killed: always.
        """
        assert self.acting is not None
        self.note("killed")
        self.acting.dead = True
        raise Killed

    def _watched(self, name: str, original: Any) -> Any:
        def access(files: Any, *arguments: Any) -> Any:
            if self.acting is not None and self.acting.dead:
                raise Killed
            if self.full and name in ("create", "make_durable", "rename"):
                self.full -= 1
                self.note(f"the disk is full: {name}")
                raise OSError(errno.ENOSPC, "No space left on device")
            return original(files, *arguments)

        return access


class Driver:
    """One life of the program: from its start to its end, or until it is killed.

    Args:
        world: where it lives.
        number: which one it is.
        restore: the checkpoint that it starts from.
        parallelism: of the job.
        hosts: how many there are.
    """

    def __init__(
        self,
        world: World,
        number: int,
        restore: Path | None = None,
        parallelism: int = 2,
        hosts: int = 2,
    ) -> None:
        self.world, self.number, self.dead = world, number, False
        self.state = "starts"
        """What it does: starts, runs, is done, or is fenced."""
        self.requests: list[SavepointRequest] = []
        self._restore, self._parallelism, self._count = restore, parallelism, hosts
        self._attempt = 0
        self._hosts: ManyHosts | None = None

    @property
    def is_last(self) -> bool:
        """Whether no other one follows, although this one is dead: there is nothing left to do."""
        nothing_left = self.world.newest_checkpoint() in (None, self._restore)
        return self.dead and self.state == "runs" and self.coordinator.over and nothing_left

    @property
    def ended(self) -> bool:
        return self.dead or self.state in ("is done", "is fenced")

    def act(self) -> None:
        """Do one thing; nothing once it has ended."""
        if self.ended:
            return
        before, self.world.acting = self.world.acting, self
        try:
            self._act()
        except Killed:
            assert self.dead
        except JobTakenOverError:
            self.world.note("is fenced")
            self.state = "is fenced"
            with contextlib.suppress(OSError):
                self.coordinator.job_failed()
        except (HostGone, OSError, CheckpointError, SubtaskFailure) as error:
            self.world.note(f"the attempt fails: {error!r}")
            self._fail()
        finally:
            self.world.acting = before

    def cancel(self) -> None:
        """End as a job that is cancelled."""
        before, self.world.acting = self.world.acting, self
        with contextlib.suppress(Killed):
            hosts, self._hosts = self._hosts, None
            assert hosts is not None
            hosts.close(failed=True)
            self.coordinator.job_cancelled()
            self.state = "is done"
        self.world.acting = before

    def stop(self, drain: bool = False) -> None:
        """Ask for a savepoint to stop with."""
        where = (self.world.folder / "stopped").as_uri()
        self.requests.append(SavepointRequest(where, stop=True, drain=drain))

    def save(self) -> None:
        """Ask for a savepoint."""
        self.requests.append(SavepointRequest((self.world.folder / "savepoints").as_uri()))

    def lose_host(self) -> None:
        """Lose a host while the next checkpoint is taken."""
        if self._hosts is not None:
            self._hosts.lost = True

    def _act(self) -> None:
        if self.state == "starts":
            self._job = self._translated()
            self.coordinator = CheckpointCoordinator.of(self._job, self.world.clock)
            self.coordinator.restore_given()
            self.state = "runs"
        elif self._hosts is None:
            self._begin()
        else:
            self._work(self._hosts)

    def _begin(self) -> None:
        self.coordinator.attempt_begins()
        self._hosts = ManyHosts(
            self._job,
            self._count,
            self.world.clock,
            lambda _: lambda channel: lambda things: None,
            self.world.chance.randrange(10**6),
            self._attempt,
            self.coordinator.restore,
        )
        self._control = AttemptControl(self.coordinator, self._hosts, self.requests)
        self._attempt += 1

    def _work(self, hosts: ManyHosts) -> None:
        self._control.run_pending(hosts.ended, hosts.paused)
        if self._control.ended:
            hosts.close()
            self.coordinator.job_finished()
            self.state = "is done"
            self.world.note("is done")
        else:
            for _ in range(self.world.chance.randrange(1, 12)):
                hosts.turn()

    def _fail(self) -> None:
        """End an attempt; the job starts again if it may."""
        try:
            if self._hosts is not None:
                hosts, self._hosts = self._hosts, None
                prepared = [thing for group in hosts.groups for thing in group.committables()]
                hosts.close(failed=True)
                self.coordinator.abort(prepared)
            if self.state == "runs" and self.coordinator.over:
                self.world.note("fails for good")
                self.coordinator.job_failed()
                self.dead = True
        except Killed:
            assert self.dead

    def _translated(self) -> Job:
        settings: dict[str, str] = {
            "execution.checkpointing.interval": "200 ms",
            "execution.checkpointing.dir": (self.world.folder / "checkpoints").as_uri(),
            "execution.checkpointing.externalized-checkpoint-retention": "RETAIN_ON_CANCELLATION",
            "pyflink-on-spark.checkpoint-elements": "5",
            **self.world.settings,
        }
        settings = {key: value for key, value in settings.items() if value != "unset"}
        if self._restore is not None:
            settings["execution.state-recovery.path"] = str(self._restore)
        with recording() as recorder:
            env = StreamExecutionEnvironment.get_execution_environment(
                Configuration.from_dict(settings)
            )
            env.set_parallelism(self._parallelism).set_max_parallelism(5)
            source = CutSource(range(self.world.elements), (3,))
            numbers = env._from_runtime_source(source, "numbers", None).uid("numbers")
            counted = numbers.key_by(lambda n: n % KEYS).map(Count(), Types.STRING()).uid("count")
            self.world.write(counted)
            env.execute("world")
        job = recorder.job
        assert job is not None
        incremental = CheckpointSettings.of(job.settings.configuration).incremental
        state = StateSettings(track_changes=incremental)
        return replace(job, settings=replace(job.settings, state=state))


def _table(database: Path) -> Sink:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    where = options.with_url(f"jdbc:sqlite:{database}").build()
    return jdbc_exactly_once_sink("INSERT INTO t VALUES (?)", LINE, where)


def after_a_checkpoint(world: World) -> Driver:
    """Let the first driver live until there is a checkpoint; return the driver."""
    driver = Driver(world, 0)
    while not driver.ended and (driver.state == "starts" or not driver.coordinator.resumable):
        world.clock.time += 20
        driver.act()
    return driver


def run_to_the_end(world: World, driver: Driver) -> Driver:
    """Let a driver live, and those that follow when one is killed; return the last one."""
    turns = 0
    while not driver.ended or driver.dead:
        turns += 1
        assert turns < 5_000, f"the job is stuck:\n{world}"
        if driver.is_last:
            break
        if driver.dead:
            driver = Driver(world, driver.number + 1, world.newest_checkpoint())
        world.clock.time += 20
        driver.act()
    return driver
