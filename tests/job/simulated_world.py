"""The disk and the clock of the simulated world, and what happens there at the steps of a job.

Drivers (``simulated_driver``) and their hosts (``simulated_hosts``) live in one process. One that
is killed does nothing more, not even what its ``finally`` blocks say: from then on each of its
accesses to the disk raises. One that hangs may continue later, beside the one that was started in
its place.
"""

from __future__ import annotations

import contextlib
import errno
import io
import random
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._filesystem.local_files import LocalFiles
from pyflink_on_spark._runtime.checkpoints import checkpoint_files
from pyflink_on_spark._runtime.elements.time import watch
from pyflink_on_spark.common import Encoder, Row, Types
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors import Sink
from pyflink_on_spark.datastream.connectors.file_system import (
    BucketAssigner,
    FileSink,
    RollingPolicy,
)
from pyflink_on_spark.datastream.connectors.jdbc import JdbcConnectionOptions
from pyflink_on_spark.extensions import jdbc_exactly_once_sink
from tests.job.simulated_hosts import HostKilled
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import CutSource

if TYPE_CHECKING:
    from tests.job.simulated_driver import Driver
    from tests.job.simulated_hosts import WorldHosts

KEYS = 3
LINE = Types.ROW_NAMED(["line"], [Types.STRING()])
_DISK = ("status", "names", "open", "create", "make_durable", "rename", "remove", "remove_folder")
_CHANGES = ("create", "make_durable", "rename")


class Killed(BaseException):
    """The driver that does this is dead."""


def expected_lines(elements: int) -> list[str]:
    """Return the lines of the job, in order of the numbers."""
    return [f"{n % KEYS},{n},{n // KEYS + 1}" for n in range(elements)]


@dataclass(eq=False)
class Plan:
    """Something that happens at a step.

    Args:
        step: the name of the step; "any" for each one.
        nth: the how-manieth time that the step is done.
        strike: what happens.
        when: whether the step counts, as things are.
    """

    step: str
    nth: int
    strike: Callable[[World], None]
    when: Callable[[World], bool] = lambda world: True
    seen: int = 0

    def is_due(self, step: str, world: World) -> bool:
        """Note a step; return whether it is time."""
        if self.step not in (step, "any") or not self.when(world):
            return False
        self.seen += 1
        return self.seen >= self.nth


@dataclass
class FullDisk:
    """A disk on which nothing can be written for a while.

    Args:
        changes: how many changes fail.
        until: when there is room again, in ms.
        whose: the numbers of the hosts that see it, None for the driver; empty for all processes.
    """

    changes: float = float("inf")
    until: float = float("inf")
    whose: frozenset[int | None] = frozenset()

    def refuses(self, now: int, who: int | None) -> bool:
        """True if a change fails."""
        if now >= self.until or self.changes <= 0 or (self.whose and who not in self.whose):
            return False
        self.changes -= 1
        return True


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
        self.clock = FakeClock(1_000_000)
        self.drivers: list[Driver] = []
        """Those that were started, the youngest last."""
        self.acting: Driver | None = None
        self.hosts: WorldHosts | None = None
        self.host: int | None = None
        """The host that acts for the driver, if it is not the driver itself."""
        self.parallelism = self.machines = 2
        """Of a driver that nothing else is said for: the parallelism, and how many hosts."""
        self.plans: list[Plan] = []
        self.suspendable = False
        """True if hosts may hang in the middle of a call."""
        self.hung: list[WorldHosts] = []
        """Of which hosts hang."""
        self.full: FullDisk | None = None
        self.log: list[str] = []
        self.folder.mkdir(exist_ok=True)
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS t (line TEXT)")

    @contextlib.contextmanager
    def running(self) -> Iterator[World]:
        """Let the disk and the steps of the protocol be this world's."""
        originals = {name: getattr(LocalFiles, name) for name in _DISK}
        used = {**originals, "make_durable": LocalFiles.status}  # nobody cuts the power here
        for name, original in used.items():
            setattr(LocalFiles, name, self._watched(name, original))
        unwatch = watch(self._step)
        few, checkpoint_files._FEW = checkpoint_files._FEW, 0
        try:
            yield self
        finally:
            checkpoint_files._FEW = few
            unwatch()
            for name, original in originals.items():
                setattr(LocalFiles, name, original)

    @contextlib.contextmanager
    def doing(self, hosts: WorldHosts, number: int) -> Iterator[None]:
        """Let a host act."""
        before = self.acting, self.hosts, self.host
        self.acting, self.hosts, self.host = hosts.owner, hosts, number
        try:
            yield
        finally:
            self.acting, self.hosts, self.host = before

    @contextlib.contextmanager
    def driving(self, driver: Driver) -> Iterator[None]:
        """Let a driver act."""
        before = self.acting, self.hosts, self.host
        self.acting, self.hosts, self.host = driver, None, None
        try:
            yield
        finally:
            self.acting, self.hosts, self.host = before

    def newest_checkpoint(self, *, savepoints: bool = True) -> Path | None:
        """Return the newest complete checkpoint, or savepoint that a job was to stop with."""
        found = list(self.folder.glob("checkpoints/*/chk-*/_metadata"))
        if savepoints:
            found += self.folder.glob("stopped/savepoint-*/_metadata")
        newest = max(found, key=lambda path: path.stat().st_mtime_ns, default=None)
        return None if newest is None else newest.parent

    def rolling_policy(self) -> RollingPolicy:
        """Return when the job ends a part file."""
        if self._part_size is None:
            return RollingPolicy.on_checkpoint_rolling_policy()
        return RollingPolicy.default_rolling_policy(self._part_size, 2000, 500)

    def read(self, env: StreamExecutionEnvironment) -> DataStream:
        """Read the numbers from the source of this world."""
        source = CutSource(range(self.elements), (3,))
        return env._from_runtime_source(source, "numbers", None)

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

    def over(self, driver: Driver) -> bool:
        """True once a job with an unbounded source has read everything, so that it is to be
        stopped.
        """
        return False

    def lines(self) -> list[str]:
        """Return the lines committed to files."""
        parts = (self.folder / "output").glob("part-*")
        return [line for part in parts for line in part.read_text().splitlines()]

    @property
    def database(self) -> Path:
        """Where the table is."""
        return self.folder / "rows.db"

    def rows(self) -> list[str]:
        """Return the lines committed to the table."""
        with contextlib.closing(sqlite3.connect(self.database)) as connection:
            return [line for (line,) in connection.execute("SELECT line FROM t")]

    def outputs(self) -> list[list[str]]:
        """Return the lines committed to each output."""
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
        host = "" if self.host is None else f"host {self.host}: "
        self.log.append(f"{number}{host}{what}")

    def plan(
        self,
        step: str,
        nth: int,
        strike: Callable[[World], None],
        when: Callable[[World], bool] = lambda world: True,
    ) -> None:
        """Let something happen at a step; see ``Plan``."""
        self.plans.append(Plan(step, nth, strike, when))

    def _step(self, name: str) -> None:
        self.note(name)
        for plan in list(self.plans):
            if plan in self.plans and plan.is_due(name, self):
                self.plans.remove(plan)
                plan.strike(self)

    def kill(self) -> None:
        """Kill the driver that acts.

        Raises:
            Killed: always.
        """
        assert self.acting is not None
        self.note("the driver is killed")
        self.acting.dead = True
        raise Killed

    def fail(self) -> None:
        """Let what is done now fail.

        Raises:
            OSError: always.
        """
        self.note("an error")
        raise OSError(errno.EIO, "the test wants an error here")

    def _watched(self, name: str, original: Any) -> Any:
        def access(files: Any, *arguments: Any, **named: Any) -> Any:
            self._check_alive()
            if self.full is None or name not in _CHANGES:
                return original(files, *arguments, **named)
            if not self.full.refuses(self.clock.time, self.host):
                return original(files, *arguments, **named)
            self.note(f"the disk is full: {name}")
            if name == "create" and self.chance.random() < 0.5:
                original(files, *arguments, **named).close()
                return _FullFile(arguments[0], "ab")
            raise OSError(errno.ENOSPC, "No space left on device")

        return access

    def _check_alive(self) -> None:
        if self.hosts is not None:
            assert self.host is not None
            if self.hosts.is_dead(self.host):
                raise HostKilled
        elif self.acting is not None and self.acting.dead:
            raise Killed


class _FullFile(io.FileIO):
    """A file that could be created, and that nothing can be written to."""

    def write(self, content: Any) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def _table(database: Path) -> Sink:
    options = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    where = options.with_url(f"jdbc:sqlite:{database}").build()
    return jdbc_exactly_once_sink("INSERT INTO t VALUES (?)", LINE, where)
