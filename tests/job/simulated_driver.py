"""Drivers of the simulated world, from their start to their end."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.checkpoints.ownership import JobTakenOverError, Program
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import AttemptControl, SavepointRequest
from pyflink_on_spark._runtime.state.disk import StateSettings
from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment
from pyflink_on_spark.datastream.state import ValueStateDescriptor
from tests.job.simulated_hosts import WorldHosts
from tests.job.simulated_world import KEYS, Killed, World
from tests.runtime.many_hosts import HostGone
from tests.runtime.rounds import recording

_MOST_TURNS = 5_000
_WAKES = 0.1


class Count(MapFunction):
    """Emits the key, the number, and how many numbers the key has had."""

    def open(self, runtime_context):
        self.count = runtime_context.get_state(ValueStateDescriptor("count", Types.LONG()))

    def map(self, value):
        count = (self.count.value() or 0) + 1
        self.count.update(count)
        return f"{value % KEYS},{value},{count}"


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
        parallelism: int | None = None,
        hosts: int | None = None,
    ) -> None:
        self.world, self.number, self.dead = world, number, False
        self._program = Program(f"driver {len(world.drivers)}", world.clock.now())
        self.state = "starts"
        """The state: starts, runs, is done, is fenced, or has failed."""
        self.requests: list[SavepointRequest] = []
        self.hosts: WorldHosts | None = None
        """Those of its attempt, if there is one."""
        self.count = hosts or world.machines
        """How many hosts the next attempt has."""
        self._restore, self._parallelism = restore, parallelism or world.parallelism
        self._attempt = 0
        world.drivers.append(self)

    @property
    def is_last(self) -> bool:
        """True for a dead driver without a successor: there is nothing left to do."""
        nothing_left = self.world.newest_checkpoint() in (None, self._restore)
        over = self.state != "starts" and self.coordinator.over
        return self.dead and over and nothing_left

    @property
    def ended(self) -> bool:
        return self.dead or self.state in ("is done", "is fenced")

    def act(self) -> None:
        """Do one thing; nothing once it has ended."""
        if self.ended:
            return
        with self.world.driving(self), contextlib.suppress(Killed):
            try:
                self._act()
            except JobTakenOverError:
                self.world.note("is fenced")
                self._end_attempt()
                self.state = "is fenced"
                with contextlib.suppress(OSError):
                    self.coordinator.job_failed()
            except (HostGone, OSError, CheckpointError, RuntimeError) as error:
                self.world.note(f"the attempt fails: {error!r}")
                self._fail()

    def cancel(self) -> None:
        """End as a job that is cancelled; nothing once it has ended."""
        if self.ended:
            return
        with self.world.driving(self), contextlib.suppress(Killed):
            hosts, self.hosts = self.hosts, None
            if hosts is not None:
                hosts.close_failed()
            with contextlib.suppress(OSError):
                self.coordinator.job_cancelled()
            self.state = "is done"

    def stop(self, drain: bool = False) -> None:
        """Ask for a savepoint to stop with."""
        where = (self.world.folder / "stopped").as_uri()
        self.requests.append(SavepointRequest(where, stop=True, drain=drain))

    def save(self) -> None:
        """Ask for a savepoint."""
        self.requests.append(SavepointRequest((self.world.folder / "savepoints").as_uri()))

    def lose_host(self) -> None:
        """Lose a host while the next checkpoint is taken."""
        if self.hosts is not None:
            self.hosts.lost = True

    def _act(self) -> None:
        if self.state == "starts":
            self._job = self._translated()
            self.coordinator = CheckpointCoordinator.of(self._job, self.world.clock, self._program)
            self.coordinator.restore_given()
            self.state = "runs"
        elif self.hosts is None:
            self._begin()
        else:
            self._work(self.hosts)

    def _begin(self) -> None:
        self.coordinator.attempt_begins()
        self.hosts = WorldHosts(
            self,
            self._job,
            self.count,
            self.world.clock,
            lambda _: lambda channel: lambda things: None,
            self.world.chance.randrange(10**6),
            self._attempt,
            self.coordinator.restore,
        )
        self._control = AttemptControl(self.coordinator, self.hosts, self.requests)
        self._attempt += 1

    def _work(self, hosts: WorldHosts) -> None:
        self._control.run_pending(hosts.ended, hosts.paused)
        if self._control.ended:
            hosts.close()
            with contextlib.suppress(OSError):
                self.coordinator.job_finished()
            self.state = "is done"
            self.world.note("is done")
        else:
            for _ in range(self.world.chance.randrange(1, 12)):
                hosts.turn()

    def _fail(self) -> None:
        """End an attempt; the job starts again if it may."""
        self._end_attempt()
        if self.state == "starts":
            self.dead = True  # the program has not started, and its user tries again
        elif self.coordinator.over:
            self.world.note("fails for good")
            self.coordinator.job_failed()
            self.state, self.dead = "has failed", True

    def _end_attempt(self) -> None:
        if self.hosts is not None:
            hosts, self.hosts = self.hosts, None
            self.coordinator.abort(hosts.close_failed())

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
            numbers = self.world.read(env).uid("numbers")
            counted = numbers.key_by(lambda n: n % KEYS).map(Count(), Types.STRING()).uid("count")
            self.world.write(counted)
            env.execute("world")
        job = recorder.job
        assert job is not None
        incremental = CheckpointSettings.of(job.settings.configuration).incremental
        state = StateSettings(track_changes=incremental)
        return replace(job, settings=replace(job.settings, state=state))


def after_a_checkpoint(world: World) -> Driver:
    """Let the first driver live until there is a checkpoint; return the driver."""
    driver = Driver(world, 0)
    while not driver.ended and (driver.state == "starts" or not driver.coordinator.resumable):
        world.clock.time += 20
        driver.act()
    return driver


def run_to_the_end(world: World, driver: Driver) -> Driver:
    """Let a driver live, those that follow it and those beside it; return the last one."""
    mine = world.drivers.index(driver)
    for _ in range(_MOST_TURNS):
        living = [each for each in world.drivers if not each.ended]
        if not living:
            done = any(each.state == "is done" for each in world.drivers[mine:])
            if done or not driver.dead or driver.is_last:
                break
            living = [Driver(world, driver.number + 1, world.newest_checkpoint())]
        world.clock.time += 20
        for each in reversed(living):
            each.act()
        if world.hung and world.chance.random() < _WAKES:
            world.hung[0].wake()
        driver = world.drivers[-1]
        if world.over(driver) and not driver.ended and not driver.requests:
            driver.stop()
    else:
        raise AssertionError(f"the job is stuck:\n{world}")
    while world.hung:
        world.hung[0].wake()
    return world.drivers[-1]
