"""The driver's orders to the hosts during an attempt: checkpoints, savepoints, the end."""

from __future__ import annotations

from concurrent.futures import Future
from dataclasses import dataclass, field

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark._job.checkpoints.coordinator import CheckpointCoordinator
from pyflink_on_spark._job.checkpoints.hosts import Hosts
from pyflink_on_spark._job.submission.job import Job
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.checkpoints.steps import step


@dataclass(eq=False)
class SavepointRequest:
    """A savepoint that was asked for.

    Args:
        directory: where to write it; None for where the configuration says.
        stop: whether the job ends with it.
        drain: whether event time ends before.
        checkpoint: whether a checkpoint of the job itself is asked for; the path is its number.
        path: gets the savepoint's path, or the error.
    """

    directory: str | None
    stop: bool = False
    drain: bool = False
    checkpoint: bool = False
    path: Future[str] = field(default_factory=Future)


def check_may_be_saved(job: Job, call: str) -> None:
    """Raise if a job has BATCH semantics; ``call`` is what would save its state."""
    if job.settings.batch:
        raise_unsupported(
            call,
            kind=Gap.NEVER,
            reason="a job with BATCH semantics has no checkpoints",
            instead="Choose RuntimeExecutionMode.STREAMING, and the job can be saved.",
        )


class AttemptControl:
    """Takes the checkpoints and savepoints of one attempt, and ends it.

    Args:
        coordinator: the job's.
        hosts: the attempt's.
        requests: the savepoints that were asked for, the oldest first; those that are begun are
            taken out.
    """

    def __init__(
        self, coordinator: CheckpointCoordinator, hosts: Hosts, requests: list[SavepointRequest]
    ) -> None:
        self._coordinator, self._hosts, self._requests = coordinator, hosts, requests
        self._begun: SavepointRequest | None = None
        self._drained_into: Folder | None = None
        self.ended = False
        """True once the job is done."""

    def run_pending(self, done: bool, wanted: bool = False) -> None:
        """Do the work that is due.

        Args:
            done: whether all subtasks have processed all their input.
            wanted: whether a checkpoint is due, whatever the clock says.

        Raises:
            BaseException: what ends the attempt.
        """
        if self._drained_into is not None:
            if done:
                step("drain: all input is processed")
                self._save(self._drained_into)
        elif done:
            self.ended = self._coordinator.finish(self._hosts)
        else:
            while self._requests and not self.ended and self._drained_into is None:
                self._begin(self._requests.pop(0))
            due = wanted or self._coordinator.due
            if due and not self.ended and self._drained_into is None:
                self._coordinator.checkpoint(self._hosts)

    def failed(self, error: BaseException) -> None:
        """Fail the pending savepoint request with the attempt's error."""
        if self._begun is not None:
            self._begun.path.set_exception(error)
            self._begun = None

    def _begin(self, request: SavepointRequest) -> None:
        self._begun = request
        if request.checkpoint:
            made = self._coordinator.checkpoint(self._hosts)
            self._begun = None
            if made:
                request.path.set_result(str(self._coordinator.last_checkpoint))
            else:
                request.path.set_exception(CheckpointError("the checkpoint could not be written"))
            return
        try:
            place = self._coordinator.savepoint_folder(request.directory)
        except Exception as error:  # noqa: BLE001 - the job continues without this savepoint
            request.path.set_exception(error)
            self._begun = None
            return
        if request.drain:
            self._drained_into = place
            self._hosts.end_sources()
            step("drain: the sources end")
        else:
            self._save(place)

    def _save(self, place: Folder) -> None:
        request = self._begun
        assert request is not None
        try:
            path = self._coordinator.savepoint(
                self._hosts, place, stop=request.stop, drained=request.drain
            )
        except CheckpointError as error:
            if request.drain:
                raise  # all windows have fired: the job can only continue from a checkpoint
            request.path.set_exception(error)
        else:
            self._begun = None
            request.path.set_result(path)
            if request.stop:
                self._coordinator.notify_last(self._hosts)
                self.ended = True
        self._begun = None
