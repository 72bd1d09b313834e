"""Makes checkpoints and savepoints, commits what sinks have prepared, and finds the way back."""

from __future__ import annotations

import logging
import math
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Self

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings, layout_of
from pyflink_on_spark._job.checkpoints.checkpoint_writer import (
    CheckpointWriter,
    Hosts,
    HostSnapshot,
    telling,
)
from pyflink_on_spark._job.checkpoints.commits import (
    CommitTimeoutError,
    ForeignWait,
    SnapshotCommits,
)
from pyflink_on_spark._job.checkpoints.ownership import (
    JobTakenOverError,
    Ownership,
    Program,
    this_program,
)
from pyflink_on_spark._job.job import Job, JobHistory
from pyflink_on_spark._job.moving_in import move_in
from pyflink_on_spark._options.own import CHECKPOINT_KEY, COMMIT_TIMEOUT, DROP
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    METADATA,
    Found,
    Metadata,
    Restore,
    check_restore,
    find_checkpoint,
    misfits,
    read_committables,
    read_metadata,
    read_states,
    unclaimed,
    verify,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, folder, signer_of
from pyflink_on_spark._runtime.checkpoints.contents import CheckpointContents, Opaque
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, stateful_operators
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import remove_unneeded
from pyflink_on_spark._runtime.contract.connector import Sink
from pyflink_on_spark._runtime.contract.plan import OperatorPlan, source_meanings, source_names
from pyflink_on_spark._runtime.contract.state_meaning import Heirs, Meanings
from pyflink_on_spark._runtime.elements.immutability import unwrap_key
from pyflink_on_spark._runtime.elements.time import Clock, step
from pyflink_on_spark._runtime.key_groups import KeyGroups
from pyflink_on_spark._runtime.task.operator_chain import is_in, misplaced
from pyflink_on_spark.flink_state import is_of_flink
from pyflink_on_spark.flink_state.conversion import Conversion

MoveIn = Callable[[str, Folder], object]
"""Writes a savepoint of ours, in a folder, with what a job takes over of one of Flink."""
_log = logging.getLogger("pyflink_on_spark")
_KEYS_TRIED = 1000


def content_of(answers: Mapping[int, HostSnapshot], max_state_size: int) -> bytes:
    """Return the content of a checkpoint.

    Args:
        answers: the part of each host.
        max_state_size: how many bytes the state of an operator may have in a subtask.

    Raises:
        CheckpointError: an operator has more.
    """
    whole = SlotState()
    for answer in answers.values():
        assert isinstance(answer.state, bytes)
        whole.merge(SlotState.from_bytes(answer.state))
    for name, parts in whole.operators.items():
        for part in parts.values():
            if part.size > max_state_size:
                raise CheckpointError(
                    f"the state of {name!r} has {part.size} bytes in subtask {part.index}; the "
                    f"memory-backed checkpoint storage takes {max_state_size}. Set "
                    "execution.checkpointing.dir, or use FileSystemCheckpointStorage."
                )
    return whole.to_bytes()


class RetainedCheckpoints:
    """The checkpoints of one job.

    Args:
        home: the job's own folder, which they are in; None if they are in memory.
        most: how many to keep.
        shared: whether they share files, which are needed as long as one of them names them.
    """

    def __init__(self, home: Folder | None, most: int, shared: bool) -> None:
        self._home, self._most, self._shared = home, most, shared
        self._kept: list[tuple[Folder, Metadata]] = []
        self._leftovers: list[Folder] = []

    def __bool__(self) -> bool:
        return bool(self._kept)

    @property
    def oldest(self) -> int | None:
        """The number of the oldest one, if there is any."""
        return self._kept[0][1].checkpoint_id if self._kept else None

    def add(self, place: Folder, metadata: Metadata) -> None:
        """Keep a checkpoint that is complete."""
        self._kept.append((place, metadata))

    def remove_older(self) -> None:
        """Remove the oldest checkpoints if there are more than are to be kept."""
        while len(self._kept) > self._most:
            self._leftovers.append(self._kept.pop(0)[0])
        self._remove_leftovers()
        with telling("the changes that no checkpoint needs any more"):
            self._remove_unneeded()

    def discard(self, place: Folder, late: bool) -> None:
        """Remove the files of a checkpoint that was not completed.

        Args:
            place: its folder.
            late: whether hosts may still write there: it is removed again later.
        """
        with telling(place.shown):
            place.remove()
        if late:
            self._leftovers.append(place)

    def drop_all(self) -> None:
        """Remove all, and the job's folder if nothing else is in it.

        Raises:
            OSError: if files that they share cannot be removed.
        """
        self._leftovers += [place for place, _ in self._kept]
        self._kept.clear()
        self._remove_leftovers()
        self._remove_unneeded()
        if self._home is not None and not self._home.names():
            self._home.remove()

    def _remove_leftovers(self) -> None:
        leftovers, self._leftovers = self._leftovers, []
        for place in leftovers:
            with telling(place.shown):
                place.remove(METADATA)  # first, so that half of a checkpoint is never taken for one
                place.remove()

    def _remove_unneeded(self) -> None:
        if self._shared and self._home is not None:
            remove_unneeded(self._home, [metadata for _, metadata in self._kept])


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
        history: where its checkpoints are noted.
        of_sources: what the positions of sources mean, by the stable name of each.
        move_in: makes a savepoint of ours of one of Flink.
        program: the process of the driver; None for the present one.
    """

    _clears_at_stop = False
    """True if what tasks have left is removed after a savepoint with which the job ends. Then sinks
    also keep what that savepoint references."""

    def __init__(
        self,
        settings: CheckpointSettings,
        job_id: str,
        job_name: str,
        operators: list[OperatorPlan],
        sinks: Mapping[int, Sink],
        clock: Clock,
        sources: Collection[str] = (),
        history: JobHistory | None = None,
        of_sources: Meanings | None = None,
        move_in: MoveIn | None = None,
        program: Program | None = None,
    ) -> None:
        self._settings = settings
        self._job_id, self._job_name = job_id, job_name
        self._move_in = move_in
        self._clock = clock
        self._history = history or JobHistory(clock)
        limit = COMMIT_TIMEOUT.read(settings.configuration) / 1000
        self._commits = SnapshotCommits(operators, sinks, limit, self._history.waits)
        self._owners = layout_of(operators, sources, of_sources)
        if settings.directory is not None and settings.interval is not None:
            self._commits.check_durable()
        self._last_begin = self._last_end = clock.now()
        self._number = 0
        self._failures = 0
        home = None
        if settings.directory is not None:
            home = folder(f"{settings.directory}/{job_id}", settings.configuration)
        self._signed = CHECKPOINT_KEY.is_set(settings.configuration)
        if self._signed:
            signer_of(settings.configuration)  # a key that is not there is an error now
        self._retained = RetainedCheckpoints(home, settings.retained, settings.incremental)
        self._ownership: Ownership | None = None
        """None for a job that nobody can continue: it has no checkpoints but in memory."""
        if home is not None or settings.restore is not None:
            self._ownership = Ownership(job_id, home, clock, program or this_program())
        self._has_savepoint = False
        self._unacknowledged = False
        self.restore: Restore | None = None
        """The checkpoint that the next attempt restores."""
        self.key_groups: dict[str, int] = {}
        """How many key groups operators have in the checkpoint that the user names."""
        self.over = False
        """True once the job's last commit is done: the job must not begin again."""

    @classmethod
    def of(cls, job: Job, clock: Clock, program: Program | None = None) -> Self:
        """Return the coordinator of a job; one with BATCH semantics takes no checkpoints."""
        settings = CheckpointSettings.of(job.settings.configuration)
        return cls(
            replace(settings, interval=None) if job.settings.batch else settings,
            job.settings.job_id,
            job.name,
            list(job.operators()),
            job.sinks,
            clock,
            source_names(job.stages),
            job.history,
            source_meanings(job.stages),
            partial(move_in, job),
            program,
        )

    @cached_property
    def _writer(self) -> CheckpointWriter:
        return CheckpointWriter(
            self._settings,
            self._job_id,
            self._job_name,
            self._clock,
            self._history,
            self._retained.discard,
            self._owners.meanings,
        )

    def probe(self) -> None:
        """Find out, before the job begins, if its checkpoints can be written.

        Raises:
            CheckpointError: nothing can be written in their folder.
        """
        self._writer.probe()

    def restore_given(self) -> None:
        """Begin with the checkpoint that the user names, if there is one.

        Raises:
            CheckpointError: if it is not there, damaged, or does not fit the job.
            JobTakenOverError: another run has taken it over since the program was started.
        """
        given, settings = self._settings.restore, self._settings
        if given is None:
            return
        if self._move_in is None or not is_of_flink(given, settings.configuration):
            self._restore(find_checkpoint(given, settings.configuration))
        elif self._signed:
            raise CheckpointError(
                f"{given} is of Flink, which signs nothing, and this job begins only with what "
                f"the key of {CHECKPOINT_KEY.key} has signed. Begin without a key, stop with a "
                "savepoint, and sign a copy (`state PATH --write NEW --sign KEY`)."
            )
        elif settings.directory is not None:
            place = self._home_of_moved_in()
            self._move_in(given, place)
            _log.info("the savepoint of Flink was written as one of ours: %s", place.shown)
            self._restore(place, given)
        else:
            with tempfile.TemporaryDirectory(prefix="moved-in-") as name:
                place = folder(name)
                self._move_in(given, place)
                self._restore(place, given, keep=False)

    def _home_of_moved_in(self) -> Folder:
        home = f"{self._settings.directory}/{self._job_id}-moved-in"
        return folder(home, self._settings.configuration)

    def _restore(self, place: Folder, flinks: str | None = None, keep: bool = True) -> None:
        """Begin with a checkpoint.

        Args:
            place: its folder.
            flinks: the savepoint of Flink that it was made of; None if it is one of ours.
            keep: whether the folder stays; if not, what is in it goes along with the orders.
        """
        metadata = read_metadata(place)
        ownership = self._ownership
        assert ownership is not None  # since there is a checkpoint to restore
        if not metadata.savepoint:
            ownership.look(place)
        verify(place, metadata)
        committables = read_committables(place, metadata)
        state = read_states(place, metadata)
        heirs = check_restore(
            Found(flinks or place.shown, state, committables, metadata.state_meanings),
            self._owners,
            ignore_unclaimed=self._settings.ignore_unclaimed,
            changed=self._settings.changed_state,
        )
        _log_heirs(heirs, flinks or place.shown)
        self.key_groups = stateful_operators(state.renamed(heirs.names))
        self._number = metadata.checkpoint_id
        where = place.uri if keep else state.to_bytes()
        digest = metadata.digest() if keep else ""
        self.restore = Restore(metadata.checkpoint_id, where, heirs.names, digest)
        committables = heirs.of_sinks(committables)
        shown = flinks or place.uri
        self._history.restored_from(metadata.checkpoint_id, shown, metadata.savepoint)
        self._commits.checkpoint_complete(committables, self._number, final=True, resumed=True)
        step("restore: the checkpoint is read")
        if not metadata.savepoint:
            ownership.take_over(place)
            step("restore: the checkpoint is taken over")

    def attempt_begins(self) -> None:
        """Repeat the commit of the latest checkpoint; the attempt writes the rest again."""
        self._last_begin = self._last_end = self._clock.now()
        if self._settings.incremental:
            self._writer.attempt_begins()
        self._unacknowledged = False
        self._confirm_ownership()
        self._commit(again=True)
        step("attempt: the last checkpoint is committed")

    @property
    def last_checkpoint(self) -> int | None:
        """The number of the last checkpoint, if there is one."""
        return None if self.restore is None else self.restore.checkpoint_id

    @property
    def oldest_checkpoint(self) -> int | None:
        """The number of the oldest checkpoint that is kept, if there is one."""
        return self._retained.oldest or self.last_checkpoint

    @property
    def resumable(self) -> bool:
        """True if there is a checkpoint or savepoint of this run, outside of this process."""
        return bool(self._retained) or self._has_savepoint

    @property
    def due(self) -> bool:
        """True if it is time for a checkpoint."""
        return self.due_in <= 0

    @property
    def due_in(self) -> float:
        """The milliseconds until the next checkpoint; infinite without checkpoints."""
        if self._settings.interval is None:
            return math.inf
        begin = self._last_begin + self._settings.interval
        return max(begin, self._last_end + self._settings.minimum_pause) - self._clock.now()

    def checkpoint(self, hosts: Hosts, *, final: bool = False) -> bool:
        """Make a checkpoint; one that cannot be written counts against those that are tolerable.

        Args:
            hosts: the attempt's.
            final: whether nothing follows it.

        Returns:
            Whether it was made.

        Raises:
            CheckpointError: if too many have failed, or have taken too long.
            SubtaskFailure: if a user's function fails in it.
        """
        self._last_begin = self._clock.now()
        try:
            self._make(hosts, final)
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

    def savepoint_folder(self, directory: str | None) -> Folder:
        """Return a new folder for a savepoint, once it is known that it can be written to.

        Args:
            directory: where it shall be; None for where the configuration says.

        Raises:
            CheckpointError: if nothing says where, or nothing can be written there.
        """
        self._commits.check_durable()
        return self._writer.savepoint_folder(directory)

    def savepoint(
        self, hosts: Hosts, place: Folder, *, stop: bool = False, drained: bool = False
    ) -> str:
        """Write a savepoint and return its path.

        The savepoint of a job that continues is a copy for the user, who may move it: nothing is
        committed, no function is notified, and no attempt restores it.

        Args:
            hosts: the attempt's.
            place: what ``savepoint_folder`` returned.
            stop: whether the job ends with it; ``notify_last`` is called after that.
            drained: whether all input has ended before, so that nothing is left to wait for.

        Raises:
            CheckpointError: if it cannot be written; nothing has changed then.
            SubtaskFailure: if a user's function fails in it.
        """
        self._number += 1
        step("savepoint: it begins")
        with self._writer.recorded(hosts, self._number, place, savepoint=True) as record:
            metadata, answers = self._write(hosts, place, savepoint=True, halt=stop)
            record.size = _size(metadata)
            step("savepoint: it is complete")
            if not stop or self._clears_at_stop:
                self._commits.keep_for_savepoint(place, metadata, answers)
                step("savepoint: what it needs is kept")
        self._has_savepoint = True
        if stop:
            self._confirm_complete(place)
            self._completed(place.uri, answers, drained, metadata)
            self._commit()
            self.over = True
            step("savepoint: it is committed")
        return place.uri

    def notify_last(self, hosts: Hosts) -> None:
        """Let functions know that the last savepoint is complete, with which the job ends.

        Raises:
            SubtaskFailure: if a user's function fails in it.
        """
        hosts.notify_checkpoint_complete(self._number)
        step("savepoint: the hosts are notified")

    def finish(self, hosts: Hosts) -> bool:
        """Commit the last committables at the end of all input; return whether that succeeded.

        Raises:
            CheckpointError: as in ``checkpoint``.
            SubtaskFailure: as in ``checkpoint``.
        """
        if self._settings.interval is not None:
            return self.checkpoint(hosts, final=True)
        self._number += 1
        self._confirm_ownership()
        prepared = self._commits.with_held(self._commits.named(hosts.committables()))
        step("end without checkpoints: sinks have prepared")
        self._commits.checkpoint_complete(prepared, self._number, final=True)
        self.over = True  # from here on some of it may be visible, so no attempt may follow
        self._commit()
        step("end without checkpoints: it is committed")
        return True

    def abort(self, prepared: Iterable[tuple[int, object]]) -> None:
        """Discard the committables of a failed attempt, if no checkpoint has them."""
        if not self._unacknowledged and not self.over and not self._lost:
            self._commits.abort(self._commits.named(prepared))

    def job_finished(self) -> None:
        """Remove the checkpoints of a job that has finished."""
        step("end: the checkpoints are not needed any more")
        if self._lost:
            return  # another run needs them
        self._retained.drop_all()
        step("end: the checkpoints are removed")

    def job_cancelled(self) -> None:
        """Remove the checkpoints, unless they are to stay."""
        self._job_ended_early(self._settings.kept_when_cancelled)

    def job_interrupted(self) -> None:
        """Keep the checkpoints, as if the process was killed, and log where the last one is."""
        if self._retained:
            assert self.restore is not None
            _log.warning(
                "the job was interrupted, and its checkpoint stays: %s. A job with "
                "execution.state-recovery.path set to it continues from there.",
                self.restore.where,
            )

    def job_failed(self) -> None:
        """Remove the checkpoints, unless they are to stay."""
        self._job_ended_early(self._settings.kept_when_failed)

    def _commit(self, *, again: bool = False) -> None:
        """Let sinks commit; after one that takes too long no attempt follows.

        Raises:
            CommitTimeoutError: one has.
        """
        try:
            self._commits.commit(again=again)
        except CommitTimeoutError:
            self.over = True
            raise

    @property
    def unfinished(self) -> bool:
        """True after a commit that took too long: the last checkpoint has to be committed again."""
        return self._commits.timed_out

    def _confirm_ownership(self) -> None:
        """Check that no other run has continued the job; this one never starts again then.

        Raises:
            JobTakenOverError: one has.
        """
        if self._ownership is None:
            return
        try:
            self._ownership.confirm()
        except JobTakenOverError:
            self.over = True
            raise

    @property
    def _lost(self) -> bool:
        return self._ownership is not None and self._ownership.lost

    def _confirm_complete(self, place: Folder) -> None:
        """Check that no other run has continued the job while the last checkpoint was written.

        A third run must not find that checkpoint, because nothing commits it any more.

        Args:
            place: the folder of the checkpoint.

        Raises:
            JobTakenOverError: one has.
        """
        try:
            self._confirm_ownership()
        except JobTakenOverError as error:
            if error.checkpoint != place.uri:
                self._retained.discard(place, late=False)
            raise

    def _job_ended_early(self, kept: bool) -> None:
        step("early end: it is known what stays")
        if self._lost:
            return  # another run needs it
        if self.unfinished:
            if self._retained and self.restore is not None:
                _log.warning("the checkpoint that is not committed stays: %s", self.restore.where)
            return
        if not kept:
            self._retained.drop_all()
            step("early end: the checkpoints are removed")
        if not self.resumable:
            self._commits.abort_held()

    def _make(self, hosts: Hosts, final: bool) -> None:
        self._number += 1
        number = self._number
        step("checkpoint: it begins")
        if self._settings.directory is None:
            with self._writer.recorded(hosts, number, None) as record:
                answers = hosts.snapshot(number, None, timeout=self._settings.timeout / 1000)
                step("checkpoint: the hosts have taken it")
                content = content_of(answers, self._settings.max_state_size)
                record.size = len(content)
            self._completed(content, answers, final)
        else:
            place = self._writer.checkpoint_folder(number)
            with self._writer.recorded(hosts, number, place) as record:
                metadata, answers = self._write(hosts, place, savepoint=False)
                record.size = _size(metadata)
            self._confirm_complete(place)
            self._retained.add(place, metadata)
            self._completed(place.uri, answers, final, metadata)
            if self._ownership is not None:
                self._ownership.has_checkpoint()
            step("checkpoint: it is complete")
            self._confirm_ownership()
            self._retained.remove_older()
            step("checkpoint: older ones are removed")
        self._confirm_ownership()
        self._commit()
        step("checkpoint: it is committed")
        self.over = final
        hosts.notify_checkpoint_complete(number)
        self._unacknowledged = False
        step("checkpoint: the hosts are notified")

    def _write(
        self, hosts: Hosts, place: Folder, savepoint: bool, halt: bool = False
    ) -> tuple[Metadata, dict[int, HostSnapshot]]:
        """Write a checkpoint; return its metadata, and the answers of the hosts."""
        written = self._writer.write_state(
            hosts, self._number, place, savepoint=savepoint, halt=halt
        )
        self._confirm_ownership()
        committables = self._commits.of_snapshots(written.answers)
        with ForeignWait(f"the files of {place.shown}", self._history.waits):
            metadata = self._writer.complete(
                self._number, place, written, committables, savepoint=savepoint
            )
        return metadata, written.answers

    def _completed(
        self,
        where: str | bytes,
        answers: dict[int, HostSnapshot],
        final: bool,
        metadata: Metadata | None = None,
    ) -> None:
        digest = "" if metadata is None else metadata.digest()
        self.restore = Restore(self._number, where, digest=digest)
        self._unacknowledged = True
        self._commits.checkpoint_complete(
            self._commits.of_snapshots(answers), self._number, final=final
        )


def _log_heirs(heirs: Heirs, where: str) -> None:
    """Log the state that is dropped, or that another operator takes over."""
    for stored, name in heirs.names.items():
        if stored in heirs.changed:
            if name is None:
                _log.warning("state of %r in %s is dropped: it means something else", stored, where)
        elif name is not None:
            _log.info("%r takes over what %r has in %s: both mean the same", name, stored, where)
    taken = [stored for stored in heirs.changed if heirs.name(stored) is not None]
    if taken:
        _log.warning(
            "state of %s means something else in this job than in %s, and is taken over all the "
            "same",
            ", ".join(map(repr, taken)),
            where,
        )
    if heirs.unknown:
        _log.info(
            "%s does not say what the state of %s means; it is taken over by name",
            where,
            ", ".join(map(repr, heirs.unknown)),
        )


def _size(metadata: Metadata) -> int:
    return sum(file.size for file in metadata.data_files)


@dataclass(frozen=True)
class SavepointCheck:
    """The result of the check: the fate of each operator's state in a checkpoint.

    Args:
        problems: why the job cannot begin with it, each a sentence.
        restored: the operators and sources whose state the job takes over.
        dropped: what the job leaves out, because it was asked to.
        empty: the operators and sources of the job that are not in the checkpoint.
    """

    problems: tuple[str, ...]
    restored: tuple[str, ...]
    dropped: tuple[str, ...]
    empty: tuple[str, ...]


def savepoint_check(job: Job, contents: CheckpointContents) -> SavepointCheck:
    """Return whether a job can begin with a checkpoint.

    The owners of state are compared, what their state means, their numbers of key groups, and the
    key groups of keys, which depend on the declared type of the keys. Which states a function has
    is known once it runs only.

    Args:
        job: the job, which need not run.
        contents: the checkpoint.
    """
    operators, state = list(job.operators()), contents.whole
    owners = layout_of(operators, source_names(job.stages), source_meanings(job.stages))
    committables = read_committables(contents.place, contents.metadata, contents.load)
    settings = CheckpointSettings.of(job.settings.configuration)
    ignored, changed = settings.ignore_unclaimed, settings.changed_state
    checkpoint = Found(contents.path, state, committables, contents.metadata.state_meanings)
    heirs = checkpoint.heirs(owners)
    left_out = [f"state of {name!r}, which means something else" for name in heirs.changed]
    if changed == DROP:
        heirs = heirs.without_changed()
    found = {
        heir: stored
        for stored in (*stateful_operators(state), *state.sources)
        if (heir := heirs.name(stored)) is not None
    }
    owned = {*owners.operators, *owners.sources}
    return SavepointCheck(
        (
            *misfits(checkpoint, owners, ignore_unclaimed=ignored, changed=changed),
            *(
                problem
                for plan in operators
                for problem in _moved_keys(plan, contents, found.get(plan.state_id or ""))
            ),
        ),
        tuple(sorted(_shown(name, found[name], heirs) for name in found.keys() & owned)),
        (
            *(left_out if changed == DROP else ()),
            *(unclaimed(checkpoint, owners) if ignored else ()),
        ),
        tuple(sorted(owned - found.keys())),
    )


def with_conversion(check: SavepointCheck, found: Conversion, job: Job) -> SavepointCheck:
    """Add what could not be taken over of a savepoint of Flink, and how much of the rest was.

    Args:
        check: of what was taken over.
        found: what became of the savepoint of Flink.
        job: the job.
    """
    ignored = CheckpointSettings.of(job.settings.configuration).ignore_unclaimed
    restored = (
        f"{name} ({found.taken[name]})" if name in found.taken else name for name in check.restored
    )
    left_out = [why for why in found.refused if ignored and why not in found.damaged]
    return replace(
        check,
        problems=(*(why for why in found.refused if why not in left_out), *check.problems),
        restored=tuple(restored),
        dropped=(*check.dropped, *left_out),
    )


def _shown(name: str, stored: str, heirs: Heirs) -> str:
    what = "something else" if stored in heirs.changed else "the same"
    if name != stored:
        return f"{name} ({stored} there, which means {what})"
    return f"{name} (which means {what} there)" if stored in heirs.changed else name


def _moved_keys(plan: OperatorPlan, contents: CheckpointContents, stored: str | None) -> list[str]:
    """Return an error if the job assigns stored keys to other key groups."""
    parts = contents.whole.operators.get(stored or "", {})
    for part in parts.values():
        key_groups = KeyGroups(part.max_parallelism, plan.key_type)
        for group, key in islice(contents.placed_keys(part), _KEYS_TRIED):
            if not isinstance(unwrap_key(key), Opaque) and not is_in(key_groups, key, group):
                return [misplaced(plan, key)]
    return []
