"""The driver's part of each micro-batch: results, and commits once Spark has committed it."""

from __future__ import annotations

import contextlib
import json
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, NoReturn, Self

from pyflink_on_spark._job.checkpoints.checkpoint_writer import Hosts
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.checkpoints.ownership import JobTakenOverError
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.contract.state_meaning import Meanings, StateMeaning
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.elements.time import step
from pyflink_on_spark._spark.structured.pace import Pace
from pyflink_on_spark._spark.structured.slot import DRAINS, ENDS, RAN, SlotReport

COMMITTABLES, QUERY, CONTROL = "committables", "query", "control"
"""The folders in the home of a query: what sinks have prepared, Spark's checkpoint, and what the
driver wants of the slots."""
RUN = "run.json"
"""The file in the home of a query that says what a savepoint has to know of its job."""
TAKEN_OVER = "taken-over"
"""The file there that says that another job has continued this one."""


def over(attempt: int) -> str:
    """Return the name of the file there that says that an attempt has ended."""
    return f"over-{attempt}"


_COMMIT_SECONDS, _LOOK_SECONDS = 0.02, 0.1
_STOP_SECONDS = 60.0
_FAILED = "a micro-batch has failed"
_CANCELLED = "SPARK_JOB_CANCELLED"
_INTERRUPTED = (
    "py4j.protocol.Py4JJavaError: An error occurred while calling a job: "
    "java.lang.InterruptedException"
)


@dataclass(frozen=True)
class QueryRun:
    """The record of the job beside its query.

    Args:
        job_id: the id of the job.
        name: the name of the job.
        first: the number of the checkpoint that the job began with, or 0.
        levels: how many operators with state the query has.
        meanings: what the state means, as JSON, by the stable name of its owner.
    """

    job_id: str
    name: str
    first: int
    levels: int
    meanings: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, home: Folder) -> Self:
        """Read that of a query."""
        return cls(**json.loads(home.read(RUN)))

    @property
    def state_meanings(self) -> Meanings:
        """The meaning of the job's state."""
        return {name: StateMeaning.from_json(found) for name, found in self.meanings.items()}


class QueryCommits(CheckpointCoordinator):
    """Commits what micro-batches have prepared, each once Spark has committed it.

    What a micro-batch has prepared is in a file before Spark commits the micro-batch, so that the
    next run of the query commits it if this one cannot. A micro-batch that is run again may have
    other results: nothing of it is visible before.
    """

    _clears_at_stop = True
    home: Folder
    """The folder of the query."""
    first: int
    """The number of the checkpoint that the job began with, or 0."""
    stored = 0
    """The bytes of state after the last micro-batch that has run."""

    def open(self, home: Folder, levels: int) -> None:
        """Take the folder of the query, and record there the job of its state.

        Args:
            home: the folder.
            levels: how many operators with state the query has.
        """
        self.home, self._prepared = home, home.inside(COMMITTABLES)
        self.first = self._number
        meanings = {name: each.to_json() for name, each in self._owners.meanings.items()}
        run = QueryRun(self._job_id, self._job_name, self.first, levels, meanings)
        home.write(RUN, json.dumps(asdict(run)).encode())

    @property
    def taken_over(self) -> bool:
        """True after another job has continued this one, and needs its folder."""
        return hasattr(self, "home") and TAKEN_OVER in self.home.names()

    def _confirm_ownership(self) -> None:
        super()._confirm_ownership()
        if self.taken_over:
            self.over = True
            raise JobTakenOverError(
                f"another job has continued from {self.home.shown}: this one ends, and commits "
                "nothing any more"
            )

    def prepared(self, batch: int, things: Iterable[tuple[int, object]]) -> None:
        """Keep the committables of a micro-batch, before Spark commits it."""
        self._confirm_ownership()
        held = self._commits.with_held(self._commits.named(things))
        self._prepared.write(str(batch), serialize(held))
        step("query: what a micro-batch has prepared is kept")

    def committed(self, batch: int, *, final: bool = False, again: bool = False) -> None:
        """Commit the committables of a micro-batch that Spark has committed.

        Args:
            batch: its number.
            final: whether the job ends with it.
            again: whether this was perhaps done before, by an attempt that failed.

        Raises:
            JobTakenOverError: another job has continued this one, and commits it.
        """
        self._confirm_ownership()
        self._number = self.number_of(batch)
        things = prepared_things(self.home, batch)
        with self._history.checkpoint(self._number, self.home.uri, savepoint=False) as record:
            record.size = self.stored
            self._commits.checkpoint_complete(things, self._number, final=final)
            self.over = final
            self._commit(again=again)
        step("query: a micro-batch is committed")
        self._prepared.remove(str(batch - 2))

    def remove_leftovers(self, attempts: int) -> None:
        """Remove what killed tasks, and copies of tasks that others have beaten, have left.

        Args:
            attempts: how many attempts the job had, which has ended normally.
        """
        self._commits.remove_leftovers(attempts)

    def number_of(self, batch: int) -> int:
        """Return the number of the checkpoint that a micro-batch ends with."""
        return self.first + batch + 1

    def continue_from(self, first: int) -> None:
        """Continue where an earlier attempt has restored the checkpoint that the job began with.

        Args:
            first: the number of that checkpoint, or 0.
        """
        self._number = first

    def savepoint(
        self, hosts: Hosts, place: Folder, *, stop: bool = False, drained: bool = False
    ) -> str:
        """Write a savepoint; an attempt after it continues from Spark's store all the same."""
        began = self.restore
        try:
            return super().savepoint(hosts, place, stop=stop, drained=drained)
        finally:
            self.restore = began

    @property
    def saved(self) -> bool:
        """True if there is a savepoint of this run."""
        return self._has_savepoint


def prepared_things(home: Folder, batch: int) -> list[Any]:
    """Return the committables of a micro-batch, with those that sinks held until then."""
    try:
        found: list[Any] = deserialize(home.inside(COMMITTABLES).read(str(batch)))
    except FileNotFoundError:
        return []
    return found


def forget_wishes(home: Folder) -> None:
    """Remove what the driver wanted of the slots of a former attempt, and what they noted."""
    control = home.inside(CONTROL)
    for name in control.names():
        if name.startswith((f"{ENDS}-", f"{DRAINS}-", f"{RAN}-")):
            control.remove(name)


def committed_batches(home: Folder) -> set[int]:
    """Return the last micro-batches of a query that Spark has committed."""
    names = home.inside(QUERY).inside("commits").names()
    return {int(name) for name in names if name.isdigit()}


class _JobEndedError(RuntimeError):
    def __init__(self) -> None:
        super().__init__("the job has ended, and nobody stops its query")


class Batches:
    """Takes the rows that the last level leaves for the driver.

    Args:
        commits: the job's.
        slots: how many slots all levels have together.
        deliver: takes a channel's name and a list of things.
        progress: takes how far each chain of each subtask is, with the last checkpoint's number.
    """

    def __init__(
        self,
        commits: QueryCommits,
        slots: int,
        deliver: Callable[[str, list[object]], None],
        progress: Callable[[int | None, list[Any]], None],
    ) -> None:
        self._commits, self._slots = commits, slots
        self._deliver, self._progress = deliver, progress
        self._pace = Pace(commits.home.inside(CONTROL))
        self._lock = threading.Lock()
        self._committed: int | None = None
        self.last: int | None = None
        """The last micro-batch that has run."""
        self.ended = threading.Event()
        """Set when the last micro-batch of all has run; Spark has still to commit it."""
        self.stopping = threading.Event()
        """Set when the query is about to be stopped."""
        self.error: BaseException | None = None
        """The error of a failed micro-batch."""

    def __call__(self, frame: Any, batch: int, before: Callable[[], None] = lambda: None) -> None:
        """Run a micro-batch.

        Args:
            frame: its rows.
            batch: its number.
            before: called when the one before is committed, and this one has not begun.

        Raises:
            RuntimeError: the job has ended with an earlier one.
        """
        if self.ended.is_set():
            self._wait_for_stop()
        with self._lock:
            try:
                if batch > 0:
                    self._commit(batch - 1)
                before()
                begun = time.monotonic()
                rows = frame.collect()
                self._take(batch, rows, time.monotonic() - begun)
            except BaseException as error:
                self.error = error
                raise

    def _wait_for_stop(self) -> NoReturn:
        """Wait until the query is stopped, since the job has ended.

        Spark takes a micro-batch that returns without its rows for one that has lost its state.
        """
        self.stopping.wait(_STOP_SECONDS)
        time.sleep(_COMMIT_SECONDS)
        raise _JobEndedError

    def in_driver(self, frame: object, batch: int) -> None:
        """Run a micro-batch in the driver of a classic Spark.

        Spark searches the text of what this raises with a regular expression, and a long text
        overflows its stack. So the error itself stays in ``error``. A query that is stopped looks
        for the name of Java's exception.
        """
        try:
            self(frame, batch)
        except BaseException as error:  # noqa: BLE001 - kept in `error`
            stopped = self.stopping.is_set() or _CANCELLED in str(error)
            raise RuntimeError(_INTERRUPTED if stopped else _FAILED) from None

    @contextlib.contextmanager
    def between(self, check: Callable[[], None], *, saved_at_end: bool = False) -> Iterator[int]:
        """Run the block while no micro-batch runs; what the last one has prepared is committed.

        Args:
            check: raises what ends the attempt, while this waits for Spark to commit.
            saved_at_end: whether a job that has ended gets a savepoint to continue from: sinks hold
                back then what they would hold back if the job ran without a stop.

        Yields:
            The last micro-batch.
        """
        while not self._lock.acquire(timeout=_LOOK_SECONDS):
            check()
        try:
            assert self.last is not None
            while self.last not in committed_batches(self._commits.home):
                check()
                time.sleep(_COMMIT_SECONDS)
            self._commit(self.last, final=self.ended.is_set() and not saved_at_end)
            yield self.last
        finally:
            self._lock.release()

    def _commit(self, batch: int, final: bool = False) -> None:
        if self._committed is None or batch > self._committed:
            self._commits.committed(batch, final=final, again=self.last is None)
            self._committed = batch

    def _take(self, batch: int, rows: list[Any], seconds: float) -> None:
        reports: list[SlotReport] = []
        sent: list[tuple[str, list[object]]] = []
        for row in sorted(rows, key=lambda row: (row["subtask"], row["channel"], row["seq"])):
            thing = pickle.loads(row["payload"])
            if isinstance(thing, SlotReport):
                reports.append(thing)
                continue
            sent += map(pickle.loads, thing)
        prepared = [thing for report in reports for thing in report.committables]
        self._commits.prepared(batch, prepared)
        for channel, things in sent:
            self._deliver(channel, things)
        self._pace.note((report.idleness for report in reports), seconds)
        self._commits.stored = sum(report.stored for report in reports)
        parts = [part for report in reports for part in report.progress]
        self._progress(self._commits.number_of(batch - 1) or None, parts)
        self.last = batch
        if sum(report.closed for report in reports) == self._slots:
            self.ended.set()
