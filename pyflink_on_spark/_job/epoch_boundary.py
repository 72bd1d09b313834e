"""What is done between two epochs: checkpoints, savepoints, the end."""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from dataclasses import dataclass, field

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.coordinator import CheckpointCoordinator
from pyflink_on_spark._runtime.checkpoints.folder import Folder
from pyflink_on_spark._runtime.task.hosted_subtasks import EpochReport
from pyflink_on_spark._spark.hosts.pool import HostPool


@dataclass(eq=False)
class SavepointRequest:
    """A savepoint that was asked for.

    Args:
        directory: where to write it; None for where the configuration says.
        stop: whether the job ends with it.
        drain: whether event time ends before.
        path: gets the savepoint's path, or why there is none.
    """

    directory: str | None
    stop: bool = False
    drain: bool = False
    path: Future[str] = field(default_factory=Future)


class EpochBoundary:
    """Does what is due between the epochs of one attempt, when no element is under way.

    Args:
        coordinator: the job's.
        fleet: the attempt's hosts.
        requests: what was asked for and is not begun, the oldest first; what is begun is taken out.
    """

    def __init__(
        self,
        coordinator: CheckpointCoordinator,
        fleet: HostPool,
        requests: list[SavepointRequest],
    ) -> None:
        self._coordinator, self._fleet, self._requests = coordinator, fleet, requests
        self._begun: SavepointRequest | None = None
        self._drained_into: Folder | None = None
        self.ended = False
        """Whether the job is done."""

    @property
    def draining(self) -> bool:
        """Whether sources that never end shall end in the next epoch."""
        return self._drained_into is not None

    def work_off(self, reports: Iterable[EpochReport]) -> None:
        """Do what is due.

        Args:
            reports: of all subtasks, from the epoch that has ended.

        Raises:
            BaseException: what ends the attempt.
        """
        done = not any(report.reading for report in reports)
        if self._drained_into is not None:
            if done:
                self._save(self._drained_into)
        elif done:
            self.ended = self._coordinator.finish(self._fleet)
        else:
            while self._requests and not self.ended and not self.draining:
                self._answer(self._requests.pop(0))
            if not self.ended and self._coordinator.due:
                self._coordinator.checkpoint(self._fleet)

    def failed(self, error: BaseException) -> None:
        """Tell who waits for a savepoint that was begun that the attempt has failed."""
        if self._begun is not None:
            self._begun.path.set_exception(error)
            self._begun = None

    def _answer(self, request: SavepointRequest) -> None:
        try:
            place = self._coordinator.savepoint_folder(request.directory)
        except Exception as error:  # noqa: BLE001 - the job goes on as if nobody had asked
            request.path.set_exception(error)
            return
        self._begun = request
        if request.drain:
            self._drained_into = place
        else:
            self._save(place)

    def _save(self, place: Folder) -> None:
        request = self._begun
        assert request is not None
        try:
            path = self._coordinator.savepoint(
                self._fleet, place, stop=request.stop, drained=request.drain
            )
        except CheckpointError as error:
            if request.drain:
                raise  # all windows have fired: only an earlier checkpoint can be gone on from
            request.path.set_exception(error)
        else:
            self._begun = None
            request.path.set_result(path)
            if request.stop:
                self._coordinator.tell_complete(self._fleet)
                self.ended = True
        self._begun = None
