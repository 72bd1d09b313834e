"""Writes checkpoints and savepoints, or leaves nothing of them."""

from __future__ import annotations

import contextlib
import logging
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, Protocol

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import CheckpointRecord, JobHistory
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Metadata,
    check_visible,
    complete,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    Folder,
    StateFile,
    files_of_frames,
    folder,
    in_folder,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import WHOLE, Changelog
from pyflink_on_spark._runtime.contract.state_meaning import Meanings
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.time import Clock, step

Discard = Callable[[Folder, bool], object]
"""Removes the files of a checkpoint; again later, if hosts may still write there."""
_log = logging.getLogger("pyflink_on_spark")
_PROBE, _PROBED = "_probe", bytes(4096)
"""A full disk still takes empty files."""


@contextlib.contextmanager
def telling(what: str) -> Iterator[None]:
    """Log a warning if something cannot be removed, and continue."""
    try:
        yield
    except OSError as error:
        _log.warning("%s could not be removed: %s", what, error)


@dataclass(frozen=True)
class WrittenState:
    """The state files of a checkpoint that is not complete yet.

    Args:
        answers: what the hosts answered, by host.
        contents: WHOLE, BASE or DELTA.
        files: the state file of each host.
    """

    answers: dict[int, HostSnapshot]
    contents: str
    files: dict[int, StateFile]


class CheckpointWriter:
    """Writes the checkpoints of one job, over all its attempts.

    Args:
        settings: what the configuration says.
        job_id: the id of the job.
        job_name: the name of the job.
        clock: the time of a checkpoint.
        history: where checkpoints are noted.
        discard: removes the files of a checkpoint that was not completed.
        meanings: what the state of operators means, by the stable name of each.
    """

    def __init__(
        self,
        settings: CheckpointSettings,
        job_id: str,
        job_name: str,
        clock: Clock,
        history: JobHistory,
        discard: Discard,
        meanings: Meanings,
    ) -> None:
        self._settings, self._job_id, self._job_name = settings, job_id, job_name
        self._clock, self._history, self._discard_files = clock, history, discard
        self._meanings = meanings
        self._changelog = (
            Changelog(settings.materialize_interval, clock) if settings.incremental else None
        )

    def attempt_begins(self) -> None:
        """Let the next checkpoint be a base, since the hosts of the attempt are new."""
        if self._changelog is not None:
            self._changelog.broken()

    def checkpoint_folder(self, number: int) -> Folder:
        """Return the folder of a checkpoint."""
        return self._folder(f"{self._settings.directory}/{self._job_id}/chk-{number}")

    def probe(self) -> None:
        """Write a file where checkpoints will be, and remove the file again.

        Raises:
            CheckpointError: nothing can be written there.
        """
        if self._settings.directory is None or self._settings.interval is None:
            return
        home = self._folder(f"{self._settings.directory}/{self._job_id}")
        try:
            home.write(_PROBE, _PROBED)
            _remove_probe(home)
        except OSError as error:
            with contextlib.suppress(OSError):
                _remove_probe(home)
            raise CheckpointError(
                f"cannot write checkpoints to {home.shown}, which execution.checkpointing.dir "
                f"names: {error}"
            ) from error

    def savepoint_folder(self, directory: str | None) -> Folder:
        """Return a new folder for a savepoint, once it is known that it can be written to.

        Args:
            directory: its parent; None for the one of the configuration.

        Raises:
            CheckpointError: if there is no directory, or nothing can be written there.
        """
        parent = directory or self._settings.savepoint_directory
        if parent is None:
            raise CheckpointError(
                "a savepoint needs a directory: give one, or set execution.checkpointing."
                "savepoint-dir"
            )
        name = f"savepoint-{self._job_id[:6]}-{uuid.uuid4().hex[:12]}"
        place = self._folder(f"{parent.rstrip('/')}/{name}")
        try:
            place.write(_PROBE, _PROBED)
        except OSError as error:
            with contextlib.suppress(OSError):
                place.remove()
            raise CheckpointError(f"cannot write a savepoint to {place.shown}: {error}") from error
        with telling(place.shown):
            place.remove()
        return place

    @contextlib.contextmanager
    def recorded(
        self, hosts: Hosts, number: int, place: Folder | None, savepoint: bool = False
    ) -> Iterator[CheckpointRecord]:
        """Note a checkpoint in the history; if it is not written, leave nothing of it.

        Args:
            hosts: those of the attempt.
            number: the number of the checkpoint.
            place: its folder; None if it is in memory.
            savepoint: whether it is a savepoint.
        """
        path = None if place is None else place.uri
        with (
            self._history.checkpoint(number, path, savepoint) as record,
            self._leaving_nothing(hosts, number, place),
        ):
            yield record

    @contextlib.contextmanager
    def _leaving_nothing(self, hosts: Hosts, number: int, place: Folder | None) -> Iterator[None]:
        """If a checkpoint is not written, leave nothing of it, and let functions know."""
        try:
            yield
        except TimeoutError as error:
            self._discard(place, late=True)
            hosts.notify_checkpoint_aborted(number)
            known = isinstance(error, SlowCheckpoint) and str(error)
            stuck = f". Meanwhile {error}" if known else ""
            raise CheckpointError(
                f"checkpoint {number} was aborted after {self._settings.timeout} ms, "
                f"which is its timeout (execution.checkpointing.timeout){stuck}"
            ) from error
        except (CheckpointError, SubtaskFailure) as error:
            self._discard(place, late=isinstance(error, SubtaskFailure))
            hosts.notify_checkpoint_aborted(number)
            raise
        except BaseException:
            self._discard(place, late=True)
            raise

    def _discard(self, place: Folder | None, late: bool) -> None:
        """Remove the files of a checkpoint; again later, if hosts may still write there."""
        if self._changelog is not None:
            self._changelog.broken()
        if place is not None:
            self._discard_files(place, late)

    def write_state(
        self, hosts: Hosts, number: int, place: Folder, *, savepoint: bool, halt: bool
    ) -> WrittenState:
        """Let hosts write their state.

        Args:
            hosts: those of the attempt.
            number: the number of the checkpoint.
            place: its folder.
            savepoint: whether it is a savepoint, which is always whole.
            halt: whether nothing is processed after it.
        """
        changelog = None if savepoint else self._changelog
        contents = WHOLE if changelog is None else changelog.next()
        timeout = self._settings.timeout / 1000
        answers = {
            host: replace(answer, committables=in_folder(answer.committables, place))
            for host, answer in sorted(
                hosts.snapshot(number, place.uri, contents, halt=halt, timeout=timeout).items()
            )
        }
        step("checkpoint: the hosts have written it")
        files = {host: _file(answer) for host, answer in answers.items()}
        frames = (files_of_frames(answer.committables) for answer in answers.values())
        check_visible(place, chain(files.values(), *frames))
        return WrittenState(answers, contents, files)

    def complete(
        self,
        number: int,
        place: Folder,
        written: WrittenState,
        committables: list[tuple[str, object]],
        *,
        savepoint: bool,
    ) -> Metadata:
        """Write the metadata, which makes the checkpoint complete, and return them."""
        files = list(written.files.values())
        if self._changelog is not None and not savepoint:
            files = self._changelog.written(written.contents, written.files)
        return complete(
            place,
            checkpoint_id=number,
            job_id=self._job_id,
            job_name=self._job_name,
            time=self._clock.now(),
            savepoint=savepoint,
            files=files,
            committables=committables,
            meanings=self._meanings,
        )

    def _folder(self, uri: str) -> Folder:
        return folder(uri, self._settings.configuration)


def _file(answer: HostSnapshot) -> StateFile:
    assert isinstance(answer.state, StateFile)
    return answer.state


def _remove_probe(home: Folder) -> None:
    """Remove the probe, and the folder if it was made for that."""
    home.remove(_PROBE)
    if not home.names():
        home.remove()


@dataclass(frozen=True)
class HostSnapshot:
    """The part of one host in a checkpoint.

    Args:
        state: the file with the state of its subtasks, or its content if it is in memory.
        committables: what its sinks have prepared since the last complete checkpoint: pairs of a
            sink's number and a thing. If the checkpoint has a folder, the frames of large
            committables are in a file there.
    """

    state: StateFile | bytes
    committables: list[Any]


class SlowCheckpoint(TimeoutError):
    """Hosts have not written a checkpoint in time; the text says what holds them up, if known."""


class Hosts(Protocol):
    """The processes that have the subtasks of an attempt; each has some slots."""

    def snapshot(
        self,
        checkpoint_id: int,
        where: str | None,
        contents: str = WHOLE,
        *,
        halt: bool = False,
        timeout: float | None = None,
    ) -> dict[int, HostSnapshot]:
        """Take a checkpoint; return the part of each host, by its number.

        Args:
            checkpoint_id: its number.
            where: the URI of its folder; None for memory.
            contents: WHOLE, or BASE or DELTA of a changelog.
            halt: whether nothing is read after it, unless it is aborted.
            timeout: how long to wait (s).

        Raises:
            CheckpointError: if a host could not write its state.
            SubtaskFailure: if a user's function has failed.
            TimeoutError: if it takes too long.
        """
        ...

    def committables(self) -> list[Any]:
        """Return, once, what sinks have prepared: pairs of a sink's number and a thing."""
        ...

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint is complete, and wait for them.

        Raises:
            SubtaskFailure: if a user's function fails in it.
        """
        ...

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all subtasks that a checkpoint was aborted, without waiting for them."""
        ...

    def end_sources(self) -> None:
        """Let all sources end, as if there were nothing more to read."""
        ...
