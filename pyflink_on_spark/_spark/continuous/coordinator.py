"""Makes checkpoints and savepoints, commits what sinks have prepared, and finds the way back."""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._graph.commits import Commits
from pyflink_on_spark._runtime.checkpoints.changelog import WHOLE, Changelog, remove_unneeded
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Metadata,
    complete,
    find_checkpoint,
    read_committables,
    read_metadata,
    read_states,
    verify,
)
from pyflink_on_spark._runtime.checkpoints.fit import Owners, check_fit
from pyflink_on_spark._runtime.checkpoints.folder import Folder, folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState
from pyflink_on_spark._runtime.connector import Sink
from pyflink_on_spark._runtime.context import Clock
from pyflink_on_spark._runtime.failure import SubtaskFailure
from pyflink_on_spark._runtime.operators.sink import SinkOperator
from pyflink_on_spark._runtime.plan import OperatorPlan
from pyflink_on_spark._spark.continuous.fleet import Fleet
from pyflink_on_spark._spark.continuous.settings import CheckpointSettings

_log = logging.getLogger("pyflink_on_spark")


class CheckpointCoordinator:
    """The checkpoints of one job, over all its attempts.

    Args:
        settings: what the configuration says.
        job_id: the job's.
        job_name: the job's.
        operators: all of the job.
        sinks: by number.
        clock: says when a checkpoint is due.
        sources: the stable names of the job's.
    """

    def __init__(
        self,
        settings: CheckpointSettings,
        job_id: str,
        job_name: str,
        operators: list[OperatorPlan],
        sinks: Mapping[int, Sink],
        clock: Clock,
        sources: Collection[str] = (),
    ) -> None:
        self._settings, self._job_id, self._job_name = settings, job_id, job_name
        self._clock = clock
        self._sink_names = {
            plan.operator.sink_id: plan.state_id or ""
            for plan in operators
            if isinstance(plan.operator, SinkOperator)
        }
        self._owners = Owners(
            {plan.state_id: plan.max_parallelism for plan in operators if plan.state_id},
            sources,
            set(self._sink_names.values()),
        )
        if settings.directory is not None:
            self._folder(settings.directory)  # there has to be such a file system
        self._commits = Commits({self._sink_names[number]: sinks[number] for number in sinks})
        self._last_begin = self._last_end = clock.now()
        self._number = 0
        self._failures = 0
        self._leftovers: list[Folder] = []
        self._kept: list[tuple[Folder, Metadata]] = []
        self._changelog = (
            Changelog(settings.materialize_interval, clock) if settings.incremental else None
        )
        self.restore: tuple[int, str | bytes] | None = None
        """What the next attempt begins with: a checkpoint's number, and its folder or content."""

    def restore_given(self) -> None:
        """Begin with the checkpoint that the user names, if there is one.

        Raises:
            CheckpointError: if it is not there, damaged, or does not fit the job.
        """
        if self._settings.restore is None:
            return
        place = find_checkpoint(self._settings.restore, self._settings.configuration)
        metadata = read_metadata(place)
        verify(place, metadata)
        committables = read_committables(place, metadata)
        check_fit(
            place.shown,
            read_states(place, metadata),
            committables,
            self._owners,
            ignore_unclaimed=self._settings.ignore_unclaimed,
        )
        self._number = metadata.checkpoint_id
        self.restore = metadata.checkpoint_id, place.uri
        self._commits.safe(committables, self._number)

    def attempt_begins(self) -> None:
        """Commit again what is safe; what was only prepared is made anew."""
        self._last_begin = self._last_end = self._clock.now()
        if self._changelog is not None:
            self._changelog.broken()
        self._commits.commit(again=True)

    @property
    def last_checkpoint(self) -> int | None:
        """The number of the last checkpoint, if there is one."""
        return None if self.restore is None else self.restore[0]

    @property
    def due(self) -> bool:
        """Whether it is time for a checkpoint."""
        if self._settings.interval is None:
            return False
        now = self._clock.now()
        return (
            now - self._last_begin >= self._settings.interval
            and now - self._last_end >= self._settings.minimum_pause
        )

    def checkpoint(self, fleet: Fleet, *, final: bool = False) -> bool:
        """Make a checkpoint; one that cannot be written counts against those that are tolerable.

        Args:
            fleet: the hosts.
            final: whether nothing follows it.

        Returns:
            Whether it was made.

        Raises:
            CheckpointError: if too many have failed, or have taken too long.
            SubtaskFailure: if a user's function fails in it.
        """
        self._last_begin = self._clock.now()
        try:
            self._make(fleet, final)
        except CheckpointError as error:
            self._failures += 1
            if self._failures > self._settings.tolerable_failures:
                raise
            _log.warning("a checkpoint failed, which is tolerated: %s", error)
            return False
        finally:
            self._last_end = self._clock.now()
        self._failures = 0
        return True

    def savepoint(self, fleet: Fleet, directory: str | None) -> str:
        """Write a savepoint and return its path.

        Raises:
            CheckpointError: if there is no directory, or it cannot be written.
        """
        parent = directory or self._settings.savepoint_directory
        if parent is None:
            raise CheckpointError(
                "a savepoint needs a directory: give one, or set execution.checkpointing."
                "savepoint-dir"
            )
        place = self._folder(
            f"{parent.rstrip('/')}/savepoint-{self._job_id[:6]}-{uuid.uuid4().hex[:12]}"
        )
        self._number += 1
        with self._written(fleet, place):
            self._write(fleet, place, savepoint=True)
        self._commits.commit()
        fleet.tell("complete", self._number)
        return place.uri

    def finish(self, fleet: Fleet) -> bool:
        """Commit what is prepared at the end of all input; tell whether that could be done.

        Raises:
            CheckpointError: as in ``checkpoint``.
            SubtaskFailure: as in ``checkpoint``.
        """
        if self._settings.interval is not None:
            return self.checkpoint(fleet, final=True)
        self._number += 1
        answers = fleet.tell("snapshot", self._number, None)
        self._becomes_safe(answers)
        self._commits.commit(final=True)
        return True

    def job_finished(self) -> None:
        """Remove the checkpoints of a job that needs them no more."""
        self._drop_all()

    def job_cancelled(self) -> None:
        """Remove the checkpoints, unless they are to stay."""
        if not self._settings.kept_when_cancelled:
            self._drop_all()

    def job_failed(self) -> None:
        """Remove the checkpoints, unless they are to stay."""
        if not self._settings.kept_when_failed:
            self._drop_all()

    def _make(self, fleet: Fleet, final: bool) -> None:
        self._number += 1
        number = self._number
        if self._settings.directory is None:
            with self._written(fleet, None):
                self._keep_in_memory(fleet)
        else:
            place = self._folder(f"{self._settings.directory}/{self._job_id}/chk-{number}")
            with self._written(fleet, place):
                metadata = self._write(fleet, place, savepoint=False)
            self._keep(place, metadata)
        self._commits.commit(final=final)
        fleet.tell("complete", number)

    @contextlib.contextmanager
    def _written(self, fleet: Fleet, place: Folder | None) -> Iterator[None]:
        """If a checkpoint is not written, leave nothing of it, and let functions know."""
        try:
            yield
        except TimeoutError as error:
            self._give_up(place, late=True)
            fleet.notify("aborted", self._number)
            raise CheckpointError(
                f"checkpoint {self._number} was given up after {self._settings.timeout} ms, "
                "which is its timeout (execution.checkpointing.timeout)"
            ) from error
        except (CheckpointError, SubtaskFailure):
            self._give_up(place)
            fleet.notify("aborted", self._number)
            raise
        except BaseException:
            self._give_up(place)
            raise

    def _give_up(self, place: Folder | None, late: bool = False) -> None:
        """Remove what there is of a checkpoint; again later, if hosts may still write there."""
        if self._changelog is not None:
            self._changelog.broken()
        if place is not None:
            with _told(place.shown):
                place.remove()
            if late:
                self._leftovers.append(place)

    def _keep(self, place: Folder, metadata: Metadata) -> None:
        """Keep a checkpoint, and remove those that are too many by now."""
        self._kept.append((place, metadata))
        while len(self._kept) > self._settings.retained:
            self._leftovers.append(self._kept.pop(0)[0])
        self._remove_leftovers()
        with _told("the changes that no checkpoint needs any more"):
            self._remove_unneeded()

    def _remove_leftovers(self) -> None:
        leftovers, self._leftovers = self._leftovers, []
        for place in leftovers:
            with _told(place.shown):
                place.remove()

    def _write(self, fleet: Fleet, place: Folder, savepoint: bool) -> Metadata:
        timeout = self._settings.timeout / 1000
        changelog = None if savepoint else self._changelog
        contents = WHOLE if changelog is None else changelog.next()
        answers = fleet.tell("snapshot", self._number, place.uri, contents, timeout=timeout)
        files = {slot: file for slot, (file, _) in sorted(answers.items())}
        metadata = complete(
            place,
            checkpoint_id=self._number,
            job_id=self._job_id,
            job_name=self._job_name,
            time=self._clock.now(),
            savepoint=savepoint,
            files=list(files.values()) if changelog is None else changelog.written(contents, files),
            committables=self._commits.with_held(self._named(answers)),
        )
        self.restore = self._number, place.uri
        self._becomes_safe(answers)
        return metadata

    def _remove_unneeded(self) -> None:
        if self._changelog is not None:
            place = self._folder(f"{self._settings.directory}/{self._job_id}")
            remove_unneeded(place, [metadata for _, metadata in self._kept])

    def _keep_in_memory(self, fleet: Fleet) -> None:
        timeout = self._settings.timeout / 1000
        answers = fleet.tell("snapshot", self._number, None, timeout=timeout)
        whole = SlotState()
        for content, _ in answers.values():
            whole.merge(SlotState.from_bytes(content))
        self._check_size(whole)
        self.restore = self._number, whole.to_bytes()
        self._becomes_safe(answers)

    def _check_size(self, whole: SlotState) -> None:
        limit = self._settings.max_state_size
        for name, parts in whole.operators.items():
            for part in parts.values():
                if part.size > limit:
                    raise CheckpointError(
                        f"the state of {name!r} has {part.size} bytes in subtask {part.index}; the "
                        f"memory-backed checkpoint storage takes {limit}. Set "
                        "execution.checkpointing.dir, or use FileSystemCheckpointStorage."
                    )

    def _named(self, answers: dict[int, Any]) -> list[tuple[str, Any]]:
        return [
            (self._sink_names[sink], thing)
            for slot in sorted(answers)
            for sink, thing in answers[slot][1]
        ]

    def _becomes_safe(self, answers: dict[int, Any]) -> None:
        self._commits.safe(self._commits.with_held(self._named(answers)), self._number)

    def _folder(self, uri: str) -> Folder:
        return folder(uri, self._settings.configuration)

    def _drop_all(self) -> None:
        self._leftovers += [place for place, _ in self._kept]
        self._kept.clear()
        self._remove_leftovers()
        self._remove_unneeded()
        if self._settings.directory is not None:
            place = self._folder(f"{self._settings.directory}/{self._job_id}")
            if not place.names():
                place.remove()


@contextlib.contextmanager
def _told(what: str) -> Iterator[None]:
    """Go on if something cannot be removed."""
    try:
        yield
    except OSError as error:
        _log.warning("%s could not be removed: %s", what, error)
