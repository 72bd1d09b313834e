"""The client of a job that a script has started without waiting for its end."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Protocol, runtime_checkable

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.completable_future import CompletableFuture
from pyflink_on_spark.common.job_execution_result import JobExecutionResult, JobOutcome
from pyflink_on_spark.common.job_id import JobID
from pyflink_on_spark.common.job_status import JobStatus

__all__ = ["JobClient"]


@runtime_checkable
class JobControl(Protocol):
    """The engine's control of a job that it has started.

    ``status`` and ``accumulators`` return at once. The others may take their time: each is called
    in a thread of its own. What a method raises is what the client's future raises.
    """

    @property
    def job_id(self) -> str:
        """32 hexadecimal digits."""
        ...

    def status(self) -> JobStatus:
        """Return where the job is in its life."""
        ...

    def accumulators(self) -> Mapping[str, Any]:
        """Return the accumulators by name, as they are now."""
        ...

    def result(self) -> JobOutcome:
        """Wait for the job's end; raise if it failed or was cancelled."""
        ...

    def cancel(self) -> None:
        """Stop the job and wait until it has stopped."""
        ...

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint and return its path."""
        ...

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint, stop the job, and return the savepoint's path."""
        ...


class JobClient:
    """The remote control of one job.

    Args:
        j_job_client: the engine's ``JobControl``.
    """

    def __init__(self, j_job_client: object) -> None:
        self._handle: JobControl = own_handle(
            j_job_client,
            JobControl,  # type: ignore[type-abstract]
            "JobClient(j_job_client)",
        )
        self._outcome: Future[object] | None = None

    def get_job_id(self) -> JobID:
        """Return which job it is."""
        return JobID(self._handle.job_id)

    def get_job_status(self) -> CompletableFuture:
        """Ask where the job is in its life; the future's value is a ``JobStatus``."""
        return CompletableFuture(_at_once(self._handle.status))

    def cancel(self) -> CompletableFuture:
        """Cancel the job; the future's value is None, once the job has stopped."""
        return CompletableFuture(_in_background(self._handle.cancel))

    def stop_with_savepoint(
        self,
        advance_to_end_of_event_time: bool,
        savepoint_directory: str | None = None,
    ) -> CompletableFuture:
        """Write a savepoint and stop the job; the future's value is the savepoint's path.

        All that belongs to it is committed. If the job cannot be stopped this way, the future has
        the error.

        On Spark: if the savepoint cannot be written, the job continues without a restart. Only with
        ``advance_to_end_of_event_time``, when windows have already fired, the job restarts from its
        last checkpoint, as Flink's job always does. A job that fails after everything is committed,
        for example in a sink's ``close``, does not restart.

        Args:
            advance_to_end_of_event_time: whether all timers and windows fire first.
            savepoint_directory: where to write it; None is the directory that is configured.
        """
        stop = self._handle.stop_with_savepoint
        return CompletableFuture(
            _in_background(lambda: stop(advance_to_end_of_event_time, savepoint_directory)), str
        )

    def trigger_savepoint(self, savepoint_directory: str | None = None) -> CompletableFuture:
        """Write a savepoint while the job runs; the future's value is the savepoint's path.

        Nothing is committed with the savepoint, functions are not notified of it, and the job does
        not restore it after a failure. A job that starts from the savepoint commits its content.

        Args:
            savepoint_directory: where to write it; None is the directory that is configured.
        """
        trigger = self._handle.trigger_savepoint
        return CompletableFuture(_in_background(lambda: trigger(savepoint_directory)), str)

    def get_accumulators(self) -> CompletableFuture:
        """Ask for the accumulators as they are now; the future's value is a dict."""
        return CompletableFuture(_at_once(self._handle.accumulators), dict)

    def get_job_execution_result(self) -> CompletableFuture:
        """Ask for the job's result; the future has a ``JobExecutionResult`` when the job ends."""
        if self._outcome is None:
            result = self._handle.result
            self._outcome = _in_background(lambda: JobExecutionResult(result()))
        return CompletableFuture(self._outcome)


def _at_once(call: Callable[[], Any]) -> Future[object]:
    future: Future[object] = Future()
    try:
        future.set_result(call())
    except Exception as error:  # noqa: BLE001 - it is raised where the value is asked for
        future.set_exception(error)
    return future


def _in_background(call: Callable[[], Any]) -> Future[object]:
    future: Future[object] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except BaseException as error:  # noqa: BLE001 - it is raised where the value is asked for
            future.set_exception(error)

    threading.Thread(target=run, name=f"job client: {call}", daemon=True).start()
    return future


__getattr__ = missing_name(__name__)
