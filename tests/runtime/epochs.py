"""Runs jobs in this process as the continuous mode does: epochs, checkpoints, crashes."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._runtime.checkpoints.changelog import BASE, DELTA, WHOLE, file_name
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
    write_state,
)
from pyflink_on_spark._runtime.checkpoints.folder import folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, records_of, shares
from pyflink_on_spark._runtime.immutability import deserialize
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.settings import StateSettings
from pyflink_on_spark._runtime.task.exchange import Row
from pyflink_on_spark._runtime.task.hosted_subtasks import HostedSubtasks
from pyflink_on_spark._runtime.task.level import DRIVER
from pyflink_on_spark._runtime.task.plan import OperatorPlan, StagePlan
from tests.runtime.harness import FakeClock
from tests.runtime.rounds import Build, CutSource, job_of

MAX_PARALLELISM = 5
_TAKEN = {
    WHOLE: KeyedStateBackend.pieces,
    BASE: KeyedStateBackend.base_pieces,
    DELTA: KeyedStateBackend.change_pieces,
}


@dataclass(frozen=True)
class Course:
    """What a job goes through; no result may depend on it.

    Args:
        sizes: how many elements the epochs of an attempt have, for one attempt after the other.
        parallelism: for one attempt after the other; the last one holds for all that follow.
        checkpoints: after which epochs there is one, counted over all attempts.
        savepoints: after which epochs there is one, which its user takes away at once.
        failures: which of these are given up, when all slots have written their state.
        crashes: after which epochs all is lost but the last checkpoint.
        settings: of checkpoints and state.
    """

    sizes: tuple[int, ...] = (1_000_000,)
    parallelism: tuple[int, ...] = (1,)
    checkpoints: frozenset[int] = frozenset()
    savepoints: frozenset[int] = frozenset()
    failures: frozenset[int] = frozenset()
    crashes: frozenset[int] = frozenset()
    settings: Mapping[str, str] = field(default_factory=dict)


class Slots:
    """The slots of one attempt; does what a fleet of hosts does."""

    def __init__(
        self,
        job: Job,
        clock: FakeClock,
        driver: Callable[[str], Callable[[list[Any]], None]],
        attempt: int,
        restore: tuple[int, str | bytes] | None,
        changes: bool,
    ) -> None:
        self._levels: tuple[StagePlan, ...] = pickle.loads(pickle.dumps(job.levels))
        regions = [region for level in self._levels for region in level.regions]
        self._slots = []
        for slot in range(max(region.parallelism for region in regions)):
            restored = None
            if restore is not None:
                restored = shares(self._levels, slot, _load(restore[1]), restore[0])
            settings = pickle.loads(pickle.dumps(job.settings))
            object.__setattr__(settings, "state", StateSettings(track_changes=changes))
            self._slots.append(
                HostedSubtasks(
                    self._levels, slot, settings, clock, lambda _: driver, attempt, restored
                )
            )
        self._prepared: list[list[Any]] = [[] for _ in self._slots]
        self.fails = False
        for slot in self._slots:
            slot.open()

    def epoch(self, number: int) -> bool:
        """Work off all levels; tell whether a source may still bring something."""
        rows: list[Row] = []
        reading = False
        for depth, level in enumerate(self._levels):
            for region in level.regions:
                for index in range(region.parallelism):
                    target, slot = region.first_target + index, self._slots[index]
                    slot.begin(target, number)
                    mine = [row for row in rows if row.target == target]
                    rows = [row for row in rows if row.target != target]
                    if depth == 0:
                        for found in slot.poll([target], 60.0):
                            rows += found
                    mine.sort(key=lambda row: (row.seq, row.channel))
                    rows += slot.receive(target, mine)
                    left, report = slot.finish(target)
                    rows += left
                    reading |= report.reading
        assert not rows or {row.target for row in rows} == {DRIVER}
        return reading

    def tell(self, command: str, *arguments: Any, timeout: float | None = None) -> dict[int, Any]:
        if command == "complete":
            for slot in self._slots:
                slot.notify_checkpoint_complete(*arguments)
            self._prepared = [[] for _ in self._slots]
            return {}
        assert command == "snapshot"
        found = {index: self._snapshot(index, *arguments) for index in range(len(self._slots))}
        if self.fails:
            raise CheckpointError("a slot cannot write")
        return found

    def notify(self, command: str, checkpoint_id: int) -> None:
        assert command == "aborted"
        for slot in self._slots:
            slot.notify_checkpoint_aborted(checkpoint_id)

    def close(self, failed: bool) -> None:
        for slot in self._slots:
            slot.close(failed)

    def _snapshot(
        self, index: int, number: int, where: str | None, contents: str = WHOLE
    ) -> tuple[Any, list[Any]]:
        states, committables = self._slots[index].snapshot(number, _TAKEN[contents])
        self._prepared[index] += committables
        records = [record for state in states.values() for record in records_of(index, state)]
        if where is not None:
            name = file_name(contents, number, index)
            file = write_state(folder(where), name, iter(records), shared=contents != WHOLE)
            return file, self._prepared[index]
        whole = SlotState()
        for record in records:
            whole.take(*record)
        return whole.to_bytes(), self._prepared[index]


def _load(where: str | bytes) -> SlotState:
    if isinstance(where, bytes):
        return SlotState.from_bytes(where)
    place = find_checkpoint(where)
    return read_states(place, read_metadata(place))


def run(build: Build, elements: list[Any], course: Course, path: Path | None = None) -> list[Any]:
    """Return what a job collects, each element once.

    Args:
        build: makes the stream that is collected.
        elements: the job's input.
        course: what it goes through.
        path: where checkpoints are written; None for the driver's memory.
    """
    settings = {
        "execution.checkpointing.interval": "1 s",
        "execution.checkpointing.tolerable-failed-checkpoints": "1000",
        **course.settings,
    }
    if path is not None:
        settings["execution.checkpointing.dir"] = path.as_uri()
    collected: list[Any] = []

    def driver(channel: str) -> Callable[[list[Any]], None]:
        assert channel == "collect"
        return lambda things: collected.extend(map(deserialize, things))

    def job(attempt: int) -> Job:
        size = course.sizes[min(attempt, len(course.sizes) - 1)]
        configuration = {**settings, "pyflink-on-spark.epoch-elements": str(size)}
        parallelism = course.parallelism[min(attempt, len(course.parallelism) - 1)]
        source = CutSource(elements)
        return job_of(build, source, parallelism, MAX_PARALLELISM, configuration)

    clock, first = FakeClock(), job(0)
    checkpoints = CheckpointSettings.of(first.settings.configuration)
    coordinator = CheckpointCoordinator(
        checkpoints, "j", "job", list(_operators(first)), first.sinks, clock
    )
    epoch, attempt, safe = 0, 0, 0
    while True:
        coordinator.attempt_begins()
        del collected[safe:]
        slots = Slots(
            job(attempt), clock, driver, attempt, coordinator.restore, checkpoints.incremental
        )
        crashed = False
        while not crashed and slots.epoch(epoch):
            epoch += 1
            slots.fails = epoch in course.failures
            if epoch in course.savepoints:
                _save_and_take_away(coordinator, slots)
            if epoch in course.checkpoints and coordinator.checkpoint(slots):
                safe = len(collected)
            slots.fails = False
            crashed = epoch in course.crashes
        if not crashed:
            assert coordinator.finish(slots)
            slots.close(failed=False)
            coordinator.job_finished()
            return collected
        slots.close(failed=True)
        attempt += 1


def _save_and_take_away(coordinator: CheckpointCoordinator, slots: Slots) -> None:
    with TemporaryDirectory() as place, suppress(CheckpointError):
        coordinator.savepoint(slots, coordinator.savepoint_folder(place))


def _operators(job: Job) -> list[OperatorPlan]:
    return [
        plan
        for level in job.levels
        for region in level.regions
        for segment in region.segments
        for plan in segment.operators
    ]
