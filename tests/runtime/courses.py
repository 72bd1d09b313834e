"""Runs jobs on several hosts in this process: checkpoints, savepoints, failures, crashes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.contract.operator import DriverChannels
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.metrics import METRICS
from pyflink_on_spark._runtime.state.disk import StateSettings
from tests.runtime.harness import FakeClock
from tests.runtime.many_hosts import HostGone, ManyHosts
from tests.runtime.rounds import Build, CutSource, job_of

MAX_PARALLELISM = 5


@dataclass(frozen=True)
class Course:
    """The events during a job; no result may depend on them.

    Each event happens at a moment of some number, counted over all attempts. There is one whenever
    the sources have read as much as they may before a checkpoint, while rows are still under way,
    and others in between.

    Args:
        sizes: how many elements come before a checkpoint, for one attempt after the other.
        turns: how many turns of hosts there are between two moments.
        parallelism: for one attempt after the other; the last one holds for all that follow.
        hosts: how many hosts there are, likewise.
        checkpoints: when there is one.
        savepoints: when there is one, which its user takes away at once.
        refused: when a host cannot write its state.
        late: when a checkpoint is aborted while it is under way.
        crashes: when all is lost but the last checkpoint.
        lost: when a host is lost in the middle of a checkpoint.
        seed: of the order in which hosts work and rows arrive.
        settings: of checkpoints and state.
        threads: whether functions are seen to wait now and then, and get threads.
    """

    sizes: tuple[int, ...] = (1_000_000,)
    turns: int = 1_000_000
    parallelism: tuple[int, ...] = (1,)
    hosts: tuple[int, ...] = (1,)
    checkpoints: frozenset[int] = frozenset()
    savepoints: frozenset[int] = frozenset()
    refused: frozenset[int] = frozenset()
    late: frozenset[int] = frozenset()
    crashes: frozenset[int] = frozenset()
    lost: frozenset[int] = frozenset()
    seed: int = 0
    settings: Mapping[str, str] = field(default_factory=dict)
    threads: bool = False


def run(build: Build, elements: list[Any], course: Course, path: Path | None = None) -> list[Any]:
    """Return the elements that a job collects, each once.

    Args:
        build: makes the stream that is collected.
        elements: the job's input.
        course: what it goes through.
        path: where checkpoints are written; None for the driver's memory.
    """
    return _Run(build, elements, course, path).result()


class _Run:
    def __init__(
        self, build: Build, elements: list[Any], course: Course, path: Path | None
    ) -> None:
        self._build, self._elements, self._course = build, elements, course
        self._settings = {
            "execution.checkpointing.interval": "1 s",
            "execution.checkpointing.tolerable-failed-checkpoints": "1000",
            **course.settings,
        }
        if path is not None:
            self._settings["execution.checkpointing.dir"] = path.as_uri()
        self._clock, self._moments = FakeClock(), 0
        self._collected: dict[int, list[Any]] = {}
        self._saved: dict[int, int] = {}
        self._safe: dict[int, int] = {}
        first = self._job(0)
        checkpoints = CheckpointSettings.of(first.settings.configuration)
        self._changes = checkpoints.incremental
        self._coordinator = CheckpointCoordinator(
            checkpoints, "j", "job", list(first.operators()), first.sinks, self._clock
        )

    def result(self) -> list[Any]:
        attempt = 0
        while not self._attempt(attempt):
            attempt += 1
        self._coordinator.job_finished()
        return [element for found in self._collected.values() for element in found]

    def _attempt(self, number: int) -> bool:
        """Run the job from its last checkpoint; tell whether it came to its end."""
        coordinator, course = self._coordinator, self._course
        coordinator.attempt_begins()
        self._saved = dict(self._safe)
        for slot, found in self._collected.items():
            del found[self._safe.get(slot, 0) :]
        hosts = ManyHosts(
            self._job(number),
            _nth(course.hosts, number),
            self._clock,
            self._driver,
            course.seed + number,
            number,
            coordinator.restore,
            self._note_saved,
            course.threads,
        )
        try:
            turns = 0
            while not hosts.ended:
                hosts.turn()
                turns += 1
                if hosts.paused or turns % course.turns == 0:
                    self._moment(hosts)
            while not coordinator.finish(hosts):
                pass
        except HostGone:
            hosts.close(failed=True)
            return False
        hosts.close()
        return True

    def _note_saved(self, slot: int) -> None:
        """Note what is there when a subtask writes its state; the last one of a slot collects."""
        self._saved[slot] = len(self._collected.setdefault(slot, []))

    def _moment(self, hosts: ManyHosts) -> None:
        """Let happen what the course wants: sources that wait need a checkpoint, if only a try."""
        course, coordinator = self._course, self._coordinator
        self._moments += 1
        now = self._moments
        if now in course.savepoints:
            _save_and_take_away(coordinator, hosts)
        hosts.refuses = 0 if now in course.refused or now not in course.checkpoints else None
        hosts.late, hosts.lost = now in course.late, now in course.lost
        if coordinator.checkpoint(hosts):
            self._safe = dict(self._saved)
        hosts.refuses, hosts.late = None, False
        if now in course.crashes:
            raise HostGone

    def _job(self, attempt: int) -> Job:
        course = self._course
        size = {"pyflink-on-spark.checkpoint-elements": str(_nth(course.sizes, attempt))}
        made = job_of(
            self._build,
            CutSource(self._elements),
            _nth(course.parallelism, attempt),
            MAX_PARALLELISM,
            {**self._settings, **size},
        )
        state = StateSettings(track_changes=getattr(self, "_changes", False))
        return replace(made, settings=replace(made.settings, state=state))

    def _driver(self, slot: int) -> DriverChannels:
        found = self._collected.setdefault(slot, [])

        def of_channel(channel: str) -> Callable[[list[Any]], None]:
            if channel == METRICS:
                return lambda things: None
            return lambda things: found.extend(map(deserialize, things))

        return of_channel


def _nth(values: tuple[int, ...], attempt: int) -> int:
    return values[min(attempt, len(values) - 1)]


def _save_and_take_away(coordinator: CheckpointCoordinator, hosts: ManyHosts) -> None:
    with TemporaryDirectory() as place, suppress(CheckpointError):
        coordinator.savepoint(hosts, coordinator.savepoint_folder(place))
