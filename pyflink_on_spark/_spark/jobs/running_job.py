"""The common part of all jobs on Spark: a thread, a session, channels, an end."""

from __future__ import annotations

import contextlib
import itertools
import logging
import re
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Protocol, Self

from pyflink_on_spark._compat.errors import CheckpointError, JobCancelledError, JobExecutionError
from pyflink_on_spark._job.channels import Channel, Desk
from pyflink_on_spark._job.checkpoints.commits import CommitTimeoutError
from pyflink_on_spark._job.job import Job
from pyflink_on_spark._job.restarts import check_may_restart, restart_strategy
from pyflink_on_spark._options.secrets import masked_text
from pyflink_on_spark._runtime.diagnosis import SubtaskFailure
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.elements.time import SteadyClock
from pyflink_on_spark._spark.jobs.worker_environment import FAILURE_BEGINS, FAILURE_ENDS
from pyflink_on_spark._spark.session.dependencies import (
    ShippedDependencies,
    ship,
    ship_own_package,
    spark_settings,
)
from pyflink_on_spark._spark.session.java_home import gist
from pyflink_on_spark._spark.session.session import obtain_session, why_gone
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.common.job_execution_result import JobOutcome

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import SendItems


class EndsEarly(Protocol):
    """A job that can end before its input does."""

    def cancel(self) -> None:
        """End the job, and wait until it has ended."""
        ...

    def interrupt(self) -> None:
        """End the job as if its process was killed, and wait until it has ended."""
        ...

    def abandon(self) -> None:
        """Let the job end, without waiting for that."""
        ...


class CollectedElements:
    """Iterates over the elements of a running job; closing it ends the job.

    Args:
        channel: where pickled elements come in.
        finish: called after the last element; raises what the job failed with.
        job: the job, to end it early.
    """

    def __init__(self, channel: Channel, finish: Callable[[], object], job: EndsEarly) -> None:
        self._elements = _elements(channel)
        self._finish, self._job = finish, job
        self._over = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> object:
        if self._over:
            raise StopIteration
        try:
            return next(self._elements)
        except StopIteration:
            self._over = True
            self._finish()
            raise
        except KeyboardInterrupt:
            self._over = True
            self._job.interrupt()
            raise
        except BaseException:  # an element that cannot be unpickled here, for example
            self.close()
            raise

    def close(self) -> None:
        """End the job, unless all its elements were seen."""
        if not self._over:
            self._over = True
            self._job.cancel()

    def __del__(self) -> None:
        if not self._over:
            with contextlib.suppress(Exception):
                self._job.abandon()


def _elements(channel: Channel) -> Iterator[object]:
    for sealed in channel.batches():
        for payload in sealed:
            yield deserialize(payload)


_FAILURE = re.compile(re.escape(FAILURE_BEGINS) + "(.*?)" + re.escape(FAILURE_ENDS), re.DOTALL)
LOST_WORKER = re.compile(r"Python worker (?:exited unexpectedly|process .*?terminated)")
_LOST = (
    "a Python worker process ended unexpectedly: it was killed, ran out of memory, or crashed in "
    "native code"
)


def job_error(job_name: str, error: BaseException, tasks: Iterable[str] = ()) -> JobExecutionError:
    """Return the one error of a failed job: the user's mistake, or the gist of Spark's message.

    Args:
        job_name: the job's name.
        error: what Spark raised; kept as ``spark_error``.
        tasks: the names of the job's tasks.
    """
    if isinstance(error, JobExecutionError):
        return error
    if isinstance(error, SubtaskFailure):
        return JobExecutionError(str(error))
    if isinstance(error, CheckpointError):
        return JobExecutionError(f"the job {job_name!r} failed: {error}")
    told = JobExecutionError(_text(job_name, str(error) or repr(error), tasks))
    told.spark_error = error
    return told


def lost_worker(job_name: str, tasks: Iterable[str]) -> str:
    """Return the text of the error of a job that has lost a Python process.

    Args:
        job_name: the job's name.
        tasks: the names of the job's tasks.
    """
    ran = "; it ran " + " or ".join(map(repr, tasks)) if tasks else ""
    return f"the job {job_name!r} failed: {_LOST}{ran}"


def print_error(job_name: str, error: BaseException) -> JobExecutionError:
    """Return the error of a job whose lines could not be printed.

    Args:
        job_name: the job's name.
        error: what the driver's standard output raised.
    """
    return JobExecutionError(
        f"the job {job_name!r} failed: print() could not write to the program's standard output: "
        f"{type(error).__name__}: {error}"
    )


def _text(job_name: str, text: str, tasks: Iterable[str]) -> str:
    found = _FAILURE.search(text)
    if found is not None:
        return found[1]
    if LOST_WORKER.search(text):
        return lost_worker(job_name, tasks)
    return f"the job {job_name!r} failed in Spark: {gist(text)}"


_log = logging.getLogger("pyflink_on_spark")


class RunningJob(ABC):
    """A job on Spark, in a thread of its own.

    Args:
        job: what to run.
    """

    _long_running = False
    _spark_gone = False
    _runs_at_once = True
    """True if a job runs as soon as its thread does; otherwise the job says when."""
    slot_timeout = 300.0
    """How long to wait for task slots, in s."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self.job_id = job.settings.job_id
        self._status = JobStatus.CREATED
        self._error: BaseException | None = None
        self._runtime = 0
        self._cancelled, self._ended = threading.Event(), threading.Event()
        self._channels: dict[str, Channel] = {}
        self._dependencies = ShippedDependencies()
        self._restarts = restart_strategy(job.settings)
        self._clock = SteadyClock()
        self._thread = threading.Thread(target=self._live, name=f"job-{self.job_id}", daemon=True)

    def start(self) -> None:
        """Find a session, open the channels, begin.

        Raises:
            EnvironmentSetupError: if there is no session, or what the job takes along is not there.
            FileNotFoundError: for the same reason.
        """
        configuration = self._job.settings.configuration
        wished = spark_settings(configuration)
        self._session = obtain_session(wished, long_running=self._long_running)
        ship_own_package(self._session)
        self._dependencies = ship(self._session, configuration)
        self._begin()

    def _begin(self) -> None:
        """Open the channels, and start the thread."""
        self._opened = self._desk()
        for name in channel_names(self._job):
            self._open_channel(name, self._job.printers.get(name))
        self._thread.start()

    def _desk(self) -> Desk:
        """Return the desk of the channels, by which results come to the program."""
        return Desk()

    def status(self) -> JobStatus:
        """Return how far the job has come."""
        status = self._status
        if self._cancelled.is_set() and not status.is_globally_terminal_state():
            return JobStatus.CANCELLING
        return status

    def accumulators(self) -> dict[str, object]:
        """Return the accumulators."""
        return self._job.accumulators.results()

    def result(self) -> JobOutcome:
        """Wait for the end; return the result or raise the job's error.

        Ctrl-C while it waits ends the job, and its last checkpoint stays.
        """
        try:
            self._join()
        except KeyboardInterrupt:
            self.interrupt()
            raise
        if self._error is not None:
            raise self._error.with_traceback(None)
        return JobOutcome(self.job_id, self._runtime, self.accumulators())

    def collected(self) -> CollectedElements:
        """Return the collected elements as they arrive; closing them ends the job."""
        assert self._job.collected is not None
        channel = self._channels[self._job.collected]
        return CollectedElements(channel, self.result, self)

    @abstractmethod
    def cancel(self) -> None:
        """End the job and wait until it has ended; nothing happens when it is over."""

    def interrupt(self) -> None:
        """End the job as if its process was killed, and wait until it has ended."""
        self.cancel()

    def abandon(self) -> None:
        """Let the job end, as soon as it has something to send, without waiting for that."""
        self._cancelled.set()
        for channel in list(self._channels.values()):
            channel.close()

    @abstractmethod
    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint; return its path."""

    @abstractmethod
    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint and end the job; return the savepoint's path."""

    @abstractmethod
    def _run(self) -> None:
        """Do all the work; raise the job's error."""

    @abstractmethod
    def _clean_up(self) -> None:
        """Remove the remains of a failed or cancelled job."""

    @property
    def _resumable(self) -> bool:
        """True if a checkpoint or savepoint remains once the job has ended."""
        return False

    @abstractmethod
    def _attempt(self, number: int) -> None:
        """Run the job once, from a fresh start or its last checkpoint; raise its error."""

    def _attempts(self) -> None:
        """Run the job until it succeeds, or the restart strategy gives it up."""
        for number in itertools.count():
            try:
                if number > 0:
                    self._job.begins_again()
                self._attempt(number)
                return
            except BaseException as error:  # noqa: BLE001 - the strategy decides what it means
                self._check_cancelled()
                self._check_printers()
                self._check_spark(error)
                self._wait_for_restart(error)

    def _wait_for_restart(self, error: BaseException) -> None:
        """Wait as the restart strategy says; raise the error if it allows no restart."""
        if isinstance(error, CommitTimeoutError):
            raise error  # the sink may still commit what another attempt would write again
        delay = self._restarts.delay(self._clock.now())
        if delay is None:
            raise error
        told = self._told(error)
        self._check_may_restart(told)
        self._job.history.attempt_failed(told, delay)
        self._enter(JobStatus.RESTARTING)
        _log.warning(
            "%r failed and starts again in %d ms (restart %d): %s",
            self._job.name,
            delay,
            self._job.history.attempt,
            masked_text(str(told)),
        )
        self._rest(delay, told)
        self._check_cancelled()
        if self._runs_at_once:
            self._enter(JobStatus.RUNNING)

    def _check_may_restart(self, failure: JobExecutionError) -> None:
        """Raise if the program has received elements that another attempt would collect again."""
        check_may_restart(self._job, failure)

    def _rest(self, delay_ms: int, failure: JobExecutionError) -> None:
        """Wait some time (ms) after a failure, or until the job is cancelled."""
        self._cancelled.wait(delay_ms / 1000)

    def _live(self) -> None:
        started = time.monotonic()
        self._job.history.begins()
        if self._runs_at_once:
            self._enter(JobStatus.RUNNING)
        status = JobStatus.FAILED
        try:
            self._run()
            status = JobStatus.FINISHED
        except BaseException as error:  # noqa: BLE001 - it is raised where the result is asked for
            status = self._fail(error)
        finally:
            with contextlib.suppress(Exception):  # the job's own error is the one to tell
                self._job.ended(self._resumable)
            self._runtime = int((time.monotonic() - started) * 1000)
            self._close_channels()
            self._enter(status)
            self._ended.set()

    def _enter(self, status: JobStatus) -> None:
        self._status = status
        self._job.history.enter(status, self._error)

    def _fail(self, error: BaseException) -> JobStatus:
        status = JobStatus.FAILED
        self._error = self._failed_printer() or self._told(error)
        if self._cancelled.is_set():
            status = JobStatus.CANCELED
            self._error = JobCancelledError("Job was cancelled.")
        try:
            self._clean_up()
        except Exception as left:  # noqa: BLE001 - the job's own error is the one to tell
            self._error.add_note(f"Then what its sinks had prepared could not be removed: {left}")
        return status

    def _told(self, error: BaseException) -> JobExecutionError:
        return job_error(self._job.name, error, self._task_names())

    def _task_names(self) -> list[str]:
        return [vertex.name for stage in self._job.stages for vertex in stage.vertices]

    def _check_cancelled(self) -> None:
        if self._cancelled.is_set():
            raise JobCancelledError("Job was cancelled.")

    def _check_spark(self, error: BaseException) -> None:
        """Raise if Spark itself is gone, whatever the restart strategy says.

        Raises:
            JobExecutionError: no attempt can run in this process any more.
        """
        why = self._why_gone(error)
        if why is None:
            return
        self._spark_gone = True
        raise JobExecutionError(
            f"the job {self._job.name!r} failed: {why}. The job cannot continue in this process; "
            "run the program again."
        ) from error

    def _why_gone(self, error: BaseException) -> str | None:
        """Return why nothing can run in Spark any more; None if something can.

        Args:
            error: what has failed.
        """
        return why_gone(self._session)

    def _check_printers(self) -> None:
        error = self._failed_printer()
        if error is not None:
            raise error

    def _failed_printer(self) -> BaseException | None:
        errors = [self._channels[name].error for name in self._job.printers]
        return next((print_error(self._job.name, e) for e in errors if e is not None), None)

    def _open_channel(self, name: str, callback: SendItems | None) -> None:
        full_name = driver_channel(self._job, name)
        self._channels[name] = self._opened.open_channel(full_name, callback)

    def _close_channels(self) -> None:
        for name, channel in self._channels.items():
            if name == self._job.collected and not self._cancelled.is_set():
                channel.finish(self._error)
                self._opened.forget(channel)
            else:
                self._opened.release(channel)

    def _join(self) -> None:
        # Not Thread.join: when Ctrl-C interrupts that, the thread seems to have ended (bpo-45274).
        while not self._ended.wait(1.0):
            pass


def description_of(job: Job, attempt: int = 0) -> str:
    """Return the job's name, its operators, and the attempt if it is not the first one.

    Args:
        job: the job.
        attempt: how often the job was restarted.
    """
    operators = " | ".join(vertex.name for stage in job.stages for vertex in stage.vertices)
    restarted = f" (restart {attempt})" if attempt else ""
    return f"{job.name}: {operators}{restarted}"


def channel_names(job: Job) -> Iterable[str]:
    """Return the names of the channels through which a job's subtasks send to the driver."""
    return [*job.printers, *([job.collected] if job.collected else [])]


def driver_channel(job: Job, name: str) -> str:
    """Return the name that a job's channel has in the driver, where other jobs have theirs."""
    return f"{job.settings.job_id}/{name}"
