"""What the driver does with each micro-batch: results, and commits once Spark has committed it."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterable
from typing import Any

from pyflink_on_spark._job.coordinator import CheckpointCoordinator
from pyflink_on_spark._runtime.checkpoints.folder import Folder
from pyflink_on_spark._runtime.immutability import deserialize, serialize
from pyflink_on_spark._runtime.steps import step
from pyflink_on_spark._spark.structured.slot import SlotReport

COMMITTABLES = "committables"


class QueryCommits(CheckpointCoordinator):
    """Commits what micro-batches have prepared, each once Spark has committed it.

    What a micro-batch has prepared is in a file before Spark commits the micro-batch, so that the
    next run of the query commits it if this one cannot. A micro-batch that is run again may have
    other results: nothing of it is visible before.
    """

    place: Folder
    """The folder of the files."""
    first: int
    """The number of the checkpoint that the job began with, or 0."""

    def open(self, home: Folder) -> None:
        """Take the folder of the query."""
        self.place = home.inside(COMMITTABLES)
        self.first = self._number

    def prepared(self, batch: int, things: Iterable[tuple[int, Any]]) -> None:
        """Keep what a micro-batch has prepared, before Spark commits it."""
        self._confirm_ownership()
        held = self._commits.with_held(self._commits.named(things))
        self.place.write(str(batch), serialize(held))
        step("query: what a micro-batch has prepared is kept")

    def committed(self, batch: int, *, final: bool = False, again: bool = False) -> None:
        """Commit what a micro-batch has prepared, now that Spark has committed the micro-batch.

        Args:
            batch: its number.
            final: whether the job ends with it.
            again: whether this was perhaps done before, by an attempt that failed.
        """
        self._number = self.number_of(batch)
        try:
            things = deserialize(self.place.read(str(batch)))
        except FileNotFoundError:
            things = []
        with self._history.checkpoint(self._number, self.place.parent().uri, savepoint=False):
            self._commits.checkpoint_complete(things, self._number, final=final)
            self.over = final
            self._commits.commit(again=again)
        step("query: a micro-batch is committed")
        self.place.remove(str(batch - 2))

    def number_of(self, batch: int) -> int:
        """Return the number of the checkpoint that a micro-batch ends with."""
        return self.first + batch + 1


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
        deliver: Callable[[str, list[Any]], None],
        progress: Callable[[int | None, list[Any]], None],
    ) -> None:
        self._commits, self._slots = commits, slots
        self._deliver, self._progress = deliver, progress
        self.last: int | None = None
        """The last micro-batch that has run."""
        self.ended = threading.Event()
        """Set when the last micro-batch has run; Spark has still to commit it."""
        self.error: BaseException | None = None
        """What a micro-batch failed with."""

    def __call__(self, frame: Any, batch: int) -> None:
        """Run a micro-batch."""
        if self.ended.is_set():
            return
        try:
            if batch > 0:
                self._commits.committed(batch - 1, again=self.last is None)
            self._take(batch, frame.collect())
        except BaseException as error:
            self.error = error
            raise

    def finish(self) -> None:
        """Commit the last micro-batch, which Spark has committed."""
        assert self.last is not None
        self._commits.committed(self.last, final=True)

    def _take(self, batch: int, rows: list[Any]) -> None:
        reports: list[SlotReport] = []
        for row in sorted(rows, key=lambda row: (row["subtask"], row["channel"], row["seq"])):
            thing = pickle.loads(row["payload"])
            if isinstance(thing, SlotReport):
                reports.append(thing)
                continue
            for part in thing:
                self._deliver(*pickle.loads(part))
        prepared = [thing for report in reports for thing in report.committables]
        self._commits.prepared(batch, prepared)
        parts = [part for report in reports for part in report.progress]
        self._progress(self._commits.number_of(batch - 1) or None, parts)
        self.last = batch
        if sum(report.closed for report in reports) == self._slots:
            self.ended.set()
