"""Committables on their way from the sinks' writers to the commit, one checkpoint after another."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Future
from functools import partial
from threading import Thread, Timer
from typing import Generic, TypeVar

from pyflink_on_spark._compat.errors import CheckpointError, JobExecutionError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import sink_names
from pyflink_on_spark._job.checkpoints.checkpoint_writer import HostSnapshot
from pyflink_on_spark._runtime.checkpoints.checkpoint import Metadata, read_states
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.checkpoints.slot_state import SlotState, operator_snapshots
from pyflink_on_spark._runtime.contract.connector import LargeCommittable, Sink
from pyflink_on_spark._runtime.contract.plan import OperatorPlan
from pyflink_on_spark._runtime.elements.time import step
from pyflink_on_spark._runtime.operators.stateless import writer_snapshots

_log = logging.getLogger("pyflink_on_spark")
_TELL_SECONDS = 30.0

Key = TypeVar("Key")


class ForeignWait:
    """A call of the driver into another system. The log names the call while it lasts.

    Only the system's own client can end such a call.

    Args:
        what: the call, as the log names it.
        note: gets ``what`` when the call begins, and None when it ends.
    """

    def __init__(self, what: str, note: Callable[[str | None], None] | None = None) -> None:
        self._what, self._waited, self._over = what, 0.0, False
        self._note = note or _note_nothing

    def __enter__(self) -> None:
        self._note(self._what)
        self._tell_after(_TELL_SECONDS)

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._timer.cancel()
        self._note(None)

    def _tell_after(self, seconds: float) -> None:
        self._waited += seconds
        self._timer = Timer(seconds, self._tell)
        self._timer.daemon = True
        self._timer.start()

    def _tell(self) -> None:
        if not self._over:
            _log.warning("the driver waits for %s, since %.0f s", self._what, self._waited)
            self._tell_after(self._waited)


def _commits(sink: Sink) -> bool:
    """True for a sink that does something to commit."""
    kind = type(sink)
    return kind.commit is not Sink.commit or kind.commit_again is not Sink.commit_again


def _note_nothing(what: str | None) -> None:
    """Ignore which call the driver waits for."""


_COMMITS_AGAIN = "A job that is restored from the last checkpoint commits again."
_WRITES_AGAIN = (
    "Another run of the job writes all its results again: see first whether they are there."
)


class CommitTimeoutError(JobExecutionError):
    """A sink did not commit within ``pyflink-on-spark.commit-timeout``; its job must end.

    The sink may still commit. So no attempt of the same job follows, and a job that is restored
    from the checkpoint commits again.
    """


class Commits(Generic[Key]):
    """Commits the committables of complete checkpoints; keeps those that a sink holds back.

    Args:
        sinks: the sinks of the job, by the keys that their committables have.
        limit: after how long a commit of a sink fails, in s; 0 for never.
        of_checkpoints: whether the job has checkpoints; without them it commits once, at the end.
        note: gets the name of a commit when it begins, and None when it ends.
    """

    def __init__(
        self,
        sinks: Mapping[Key, Sink],
        limit: float = 0.0,
        *,
        of_checkpoints: bool = True,
        note: Callable[[str | None], None] | None = None,
    ) -> None:
        self._sinks, self._limit, self._of_checkpoints = sinks, limit, of_checkpoints
        self._note = note
        self.timed_out = False
        """True once a sink has not committed in time."""
        self._completed: list[tuple[Key, object]] = []
        self._checkpoint_id = 0
        self._final = False
        self._held: list[tuple[Key, object]] = []
        self._resumed = False

    def check_durable(self) -> None:
        """Check that committables can still be committed after the process has ended.

        Raises:
            CheckpointError: the committables of a sink are lost with the process.
        """
        for sink in self._sinks.values():
            sink.check_durable()

    def with_held(self, prepared: Iterable[tuple[Key, object]]) -> list[tuple[Key, object]]:
        """Return the committables of a checkpoint: first those held back, then the new ones."""
        return [*self._held, *prepared]

    def keeping_snapshots(self) -> list[Key]:
        """Return the sinks whose ``keep`` also takes what writers' snapshots contain."""
        return [key for key, sink in self._sinks.items() if sink.keeps_snapshots]

    def keep(self, things: Iterable[tuple[Key, object]]) -> None:
        """Let sinks keep what a savepoint references, while the job continues."""
        for key, found in self._by_sink(things).items():
            self._sinks[key].keep(found)

    def checkpoint_complete(
        self,
        things: Iterable[tuple[Key, object]],
        checkpoint_id: int,
        *,
        final: bool = False,
        resumed: bool = False,
    ) -> None:
        """Take the committables of a written checkpoint, as ``with_held`` returned them.

        Args:
            things: all of it.
            checkpoint_id: the checkpoint's number.
            final: whether nothing of it is held back: no checkpoint follows, or the job that took
                the checkpoint may have continued and committed what is held back.
            resumed: whether the latter is the reason.
        """
        self._resumed = resumed
        self._completed, self._checkpoint_id, self._held = list(things), checkpoint_id, []
        self._final = final

    def commit(self, *, final: bool = False, again: bool = False) -> None:
        """Commit the committables of the last complete checkpoint, once.

        Args:
            final: whether this is the last commit, so that no committable is held back.
            again: whether a failed attempt may have done this commit already.
        """
        self._final = self._final or final
        found = self._by_sink(self._completed)
        held: list[tuple[Key, object]] = []
        for key, sink in self._sinks.items():
            what = f"checkpoint {self._checkpoint_id}" if self._of_checkpoints else "its results"
            name = f"the sink {type(sink).__name__} to commit {what}"
            if again:
                self._wait_for(name, sink.take_over)
            things = found.get(key)
            holds = not self._final or (self._resumed and not final and sink.holds_again)
            if things and holds:
                things, waiting = sink.hold_back(things, self._checkpoint_id)
                if any(isinstance(thing, LargeCommittable) for thing in waiting):
                    raise TypeError(f"{type(sink).__name__} holds back a LargeCommittable")
                held += [(key, thing) for thing in waiting]
            ends = self._final and not (again and self._of_checkpoints)
            if _commits(sink) and (things or ends):
                commit = sink.commit_again if again else sink.commit
                self._wait_for(name, partial(commit, things or []))
                step("commit: a sink has committed")
        self._completed, self._final, self._held = [], False, [*held, *self._held]
        self._resumed = False

    def _wait_for(self, name: str, call: Callable[[], object]) -> None:
        with ForeignWait(name, self._note):
            if not self._limit:
                call()
                return
            done = _in_thread(call)
            try:
                done.exception(self._limit)
            except TimeoutError:
                self.timed_out = True
                then = _COMMITS_AGAIN if self._of_checkpoints else _WRITES_AGAIN
                raise CommitTimeoutError(
                    f"the driver has waited {self._limit:g} s for {name} "
                    "(pyflink-on-spark.commit-timeout). The job ends, because that commit may "
                    "still succeed; what is prepared stays. Look at what the sink writes to. "
                    f"{then}"
                ) from None
            done.result()

    def abort(self, things: Iterable[tuple[Key, object]]) -> None:
        """Throw away what writers have prepared and no checkpoint has."""
        for key, found in self._by_sink(things).items():
            self._sinks[key].abort(found)

    def remove_leftovers(self, attempts: int) -> None:
        """Let sinks remove what killed tasks have left; what cannot be removed stays.

        Args:
            attempts: how many attempts the job had.
        """
        for sink in self._sinks.values():
            try:
                sink.remove_leftovers(attempts)
            except OSError as error:
                _log.warning("files that a killed task has left are not removed: %s", error)

    def abort_held(self) -> None:
        """Throw away what sinks hold back, of a job that never continues."""
        held, self._held = self._held, []
        self.abort(held)

    @staticmethod
    def _by_sink(things: Iterable[tuple[Key, object]]) -> dict[Key, list[object]]:
        found: dict[Key, list[object]] = {}
        for key, thing in things:
            found.setdefault(key, []).append(thing)
        return found


def _in_thread(call: Callable[[], object]) -> Future[object]:
    """Call something in a thread that does not keep the process alive."""
    done: Future[object] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(call))
        except BaseException as error:  # noqa: BLE001 - it is raised where it is awaited
            done.set_exception(error)

    Thread(target=run, name="commit", daemon=True).start()
    return done


Committables = list[tuple[str, object]]


class SnapshotCommits(Commits[str]):
    """The commits of a job with hosts.

    Args:
        operators: all operators of the job.
        sinks: the sinks, by the numbers that hosts give them.
        limit: after how long a commit of a sink fails, in s; 0 for never.
        note: gets the name of a commit when it begins, and None when it ends.
    """

    def __init__(
        self,
        operators: Iterable[OperatorPlan],
        sinks: Mapping[int, Sink],
        limit: float = 0.0,
        note: Callable[[str | None], None] | None = None,
    ) -> None:
        self._names = sink_names(operators)
        named = {self._names[number]: sink for number, sink in sinks.items()}
        super().__init__(named, limit, note=note)

    def named(self, prepared: Iterable[tuple[int, object]]) -> Committables:
        """Return the committables under the names of their sinks."""
        return [(self._names[sink], thing) for sink, thing in prepared]

    def of_snapshots(self, answers: Mapping[int, HostSnapshot]) -> Committables:
        """Return the committables held back so far, and those that hosts have prepared since."""
        prepared = (thing for host in sorted(answers) for thing in answers[host].committables)
        return self.with_held(self.named(prepared))

    def keep_for_savepoint(
        self, place: Folder, metadata: Metadata, answers: Mapping[int, HostSnapshot]
    ) -> None:
        """Let sinks keep what a savepoint references, while the job continues.

        Raises:
            CheckpointError: a sink cannot keep it.
        """
        try:
            self.keep([*self.of_snapshots(answers), *self._in_writers(place, metadata)])
        except Exception as error:
            raise CheckpointError(
                f"the savepoint {place.shown} was aborted: files that it needs cannot be kept: "
                f"{error}"
            ) from error

    def _in_writers(self, place: Folder, metadata: Metadata) -> Committables:
        """Return the snapshots of continuing writers in a savepoint, for sinks that keep them."""
        names = self.keeping_snapshots()
        states = read_states(place, metadata) if names else SlotState()
        return [
            (name, thing)
            for name in names
            for thing in writer_snapshots(operator_snapshots(states, name))
        ]
