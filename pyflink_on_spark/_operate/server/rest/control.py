"""The requests that change a job: savepoints, stop, cancel."""

from __future__ import annotations

import functools
import logging
import os
import posixpath
import re
import threading
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._filesystem.location import is_remote, local_path
from pyflink_on_spark._operate.server.rest.routing import (
    ACCEPTED,
    BAD_REQUEST,
    CONFLICT,
    FORBIDDEN,
    NOT_FOUND,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.view.jobs import OperatedJob, OperatedJobs
from pyflink_on_spark._options.own import REST_SAVEPOINT_FOLDERS
from pyflink_on_spark._options.secrets import masked_text
from pyflink_on_spark._runtime.checkpoints.checkpoint import find_checkpoint, read_metadata

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.routing import JsonObject


_ANSWER_SECONDS = 0.2
"""In which an answer leaves this process."""
_NO_JOB = ""
_MOST_AT_WORK = 100
_MOST_RESULTS = 1000
_REQUEST = re.compile("[0-9a-fA-F]{32}")
_log = logging.getLogger("pyflink_on_spark")


class Operations:
    """The operations of this process by their request.

    The results of the latest operations are known, those of older ones are forgotten.

    Args:
        finished: called with a job's id, the request and the result, before the result is seen.
    """

    def __init__(self, finished: Callable[[str, str, JsonObject], None]) -> None:
        self._finished = finished
        self._results: dict[tuple[str, str], JsonObject | None] = {}
        self._unread: set[tuple[str, str]] = set()
        self._read = threading.Condition()
        self._threads: list[threading.Thread] = []

    def begin(self, job_id: str, call: Callable[[], str], request: str | None = None) -> str:
        """Begin an operation, and return its request: 32 hexadecimal digits.

        Args:
            job_id: the job's.
            call: returns a path, or raises.
            request: a request of the client's own; one that is known begins nothing.

        Raises:
            RestError: too many operations are at work.
        """
        request = request or uuid.uuid4().hex
        place = job_id, request
        with self._read:
            if place in self._results:
                return request
            at_work = [each for each in self._threads if each.is_alive()]
            if len(at_work) >= _MOST_AT_WORK:
                raise RestError(
                    CONFLICT, f"{_MOST_AT_WORK} operations are at work: wait for one of them."
                )
            self._forget_old()
            self._results[place] = None
            thread = threading.Thread(target=self._run, args=(place, call), daemon=True)
            self._threads = [*at_work, thread]
            thread.start()
        return request

    def _forget_old(self) -> None:
        done = [place for place, result in self._results.items() if result is not None]
        for place in done[: max(0, len(self._results) - _MOST_RESULTS + 1)]:
            del self._results[place]
            self._unread.discard(place)

    def known(self, job_id: str, request: str) -> bool:
        """Return whether an operation was begun."""
        return (job_id, request) in self._results

    def result(self, job_id: str, request: str) -> dict[str, object] | None:
        """Return an operation's result: a ``location`` or a ``failure``; None while it runs."""
        result = self._results.get((job_id, request))
        if result is not None:
            with self._read:
                self._unread.discard((job_id, request))
                self._read.notify_all()
        return result

    def wait(self, seconds: float) -> None:
        """Wait until all operations have ended, or the time is over."""
        deadline = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def wait_for_readers(self, seconds: float) -> None:
        """Wait until clients have seen the results of all operations, or the time is over."""
        with self._read:
            self._read.wait_for(lambda: not self._unread, seconds)
        if not self._unread:
            time.sleep(_ANSWER_SECONDS)

    def _run(self, place: tuple[str, str], call: Callable[[], str]) -> None:
        try:
            result = {"location": call()}
        except BaseException as error:  # noqa: BLE001 - the caller gets it
            text = masked_text(str(error) or repr(error))
            result = {"failure": text, "class": type(error).__name__}
        try:
            self._finished(*place, result)
        except OSError as error:
            _log.warning("the result of an operation cannot be kept on disk: %s", error)
        with self._read:
            self._unread.add(place)
            self._results[place] = result


class ControlRoutes:
    """Answers the requests that change a job.

    Args:
        jobs: the jobs.
        operations: what takes its time.
    """

    def __init__(self, jobs: OperatedJobs, operations: Operations) -> None:
        self._jobs, self._operations = jobs, operations
        self._cancelled: dict[str, threading.Thread] = {}

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("POST", "/jobs/:job_id/savepoints", self.savepoint)
        router.add("GET", "/jobs/:job_id/savepoints/:request_id", self.result)
        router.add("POST", "/jobs/:job_id/stop", self.stop)
        router.add("PATCH", "/jobs/:job_id", self.terminate)
        router.add("POST", "/jobs/:job_id/checkpoints", self.checkpoint)
        router.add("GET", "/jobs/:job_id/checkpoints/:request_id", self.checkpoint_result)
        self.add_disposal_to(router)

    def add_disposal_to(self, router: Router) -> None:
        """Add the routes that are not about a job."""
        router.add("POST", "/savepoint-disposal", self.dispose)
        router.add("GET", "/savepoint-disposal/:request_id", self.disposal_result)

    def savepoint(self, request: Request, job_id: str) -> Answer:
        """Begin a savepoint; with ``cancel-job`` the job ends with it."""
        job = self._running(job_id)
        place = self._allowed(_text(request, "target-directory"), job.job.settings.configuration)
        if request.body.get("cancel-job"):
            return self._begin(request, job, lambda: job.handle.stop_with_savepoint(False, place))
        return self._begin(request, job, lambda: job.handle.trigger_savepoint(place))

    def stop(self, request: Request, job_id: str) -> Answer:
        """Begin to stop a job with a savepoint."""
        job = self._running(job_id)
        place = self._allowed(_text(request, "targetDirectory"), job.job.settings.configuration)
        drain = bool(request.body.get("drain"))
        return self._begin(request, job, lambda: job.handle.stop_with_savepoint(drain, place))

    def checkpoint(self, request: Request, job_id: str) -> Answer:
        """Begin a checkpoint, which the job would restore after a failure."""
        job = self._running(job_id)
        trigger = getattr(job.handle, "trigger_checkpoint", None)
        if trigger is None:
            raise RestError(CONFLICT, "Only streaming jobs with hosts take checkpoints on demand.")
        kind = _text(request, "checkpointType") or "CONFIGURED"
        if kind not in {"CONFIGURED", "FULL", "INCREMENTAL"}:
            raise RestError(BAD_REQUEST, f"The type of checkpoint {kind!r} is unknown.")
        if kind == "INCREMENTAL":
            raise RestError(BAD_REQUEST, "Checkpoints on demand are CONFIGURED or FULL here.")
        return self._begin(request, job, trigger)

    def checkpoint_result(self, request: Request, job_id: str, request_id: str) -> Answer:
        """The progress of a checkpoint that was asked for."""
        if not self._operations.known(job_id, request_id):
            raise RestError(NOT_FOUND, f"There is no checkpoint operation {request_id}.")
        told = operation_status(self._operations.result(job_id, request_id))
        operation = told["operation"]
        if operation is not None and "location" in operation:
            told["operation"] = {"checkpointId": int(operation["location"])}
        return Answer(told)

    def dispose(self, request: Request) -> Answer:
        """Begin to remove a savepoint."""
        path = _text(request, "savepoint-path")
        if path is None:
            raise RestError(BAD_REQUEST, "savepoint-path has to say which savepoint.")
        self._allowed(path, self._configuration())
        call = functools.partial(dispose_savepoint, path, self._configuration())
        trigger = _trigger(request)
        return Answer({"request-id": self._operations.begin(_NO_JOB, call, trigger)}, ACCEPTED)

    def disposal_result(self, request: Request, request_id: str) -> Answer:
        """The progress of the removal of a savepoint."""
        if not self._operations.known(_NO_JOB, request_id):
            raise RestError(NOT_FOUND, f"There is no disposal {request_id}.")
        told = operation_status(self._operations.result(_NO_JOB, request_id))
        if told["operation"] is not None and "location" in told["operation"]:
            told["operation"] = {}
        return Answer(told)

    def _allowed(self, place: str | None, configuration: Mapping[str, str]) -> str | None:
        """The place of a savepoint, if requests may use it.

        Raises:
            RestError: the place is not below the folders that the job allows.
        """
        folders = REST_SAVEPOINT_FOLDERS.read(configuration)
        if place is None or not folders or is_below(place, folders):
            return place
        raise RestError(
            FORBIDDEN,
            f"Requests may use the folders {', '.join(folders)} "
            f"({REST_SAVEPOINT_FOLDERS.key}), and {place} is not below them.",
        )

    def _configuration(self) -> dict[str, str]:
        """The options of the last job, which say how its file systems are reached."""
        jobs = self._jobs.all()
        return dict(jobs[-1].job.settings.configuration) if jobs else {}

    def terminate(self, request: Request, job_id: str) -> Answer:
        """Begin to cancel a job."""
        mode = request.query.get("mode", "cancel")
        if mode != "cancel":
            raise RestError(
                BAD_REQUEST, f"The termination mode {mode!r} is unknown; use 'cancel' or /stop."
            )
        job = self._running(job_id)
        before = self._cancelled.get(job.id)
        if before is None or not before.is_alive():
            name = f"cancel {job.id}"
            self._cancelled[job.id] = threading.Thread(
                target=job.handle.cancel, name=name, daemon=True
            )
            self._cancelled[job.id].start()
        return Answer({}, ACCEPTED)

    def result(self, request: Request, job_id: str, request_id: str) -> Answer:
        """Return how far an operation is."""
        if not self._operations.known(job_id, request_id):
            raise RestError(
                NOT_FOUND, f"There is no savepoint operation {request_id} of the job {job_id}."
            )
        return Answer(operation_status(self._operations.result(job_id, request_id)))

    def _running(self, job_id: str) -> OperatedJob:
        job = self._jobs.get(job_id)
        if job.over:
            raise RestError(
                CONFLICT, f"the job {job.job.name!r} ({job_id}) is {job.status.name}: it has ended"
            )
        return job

    def _begin(self, request: Request, job: OperatedJob, call: Callable[[], str]) -> Answer:
        request_id = self._operations.begin(job.id, call, _trigger(request))
        return Answer({"request-id": request_id}, ACCEPTED)


def operation_status(result: dict[str, object] | None) -> JsonObject:
    """Return an operation's result as Flink tells it."""
    if result is None:
        return {"status": {"id": "IN_PROGRESS"}, "operation": None}
    if "location" in result:
        return {"status": {"id": "COMPLETED"}, "operation": {"location": result["location"]}}
    cause = {"class": result["class"], "stack-trace": result["failure"]}
    return {"status": {"id": "COMPLETED"}, "operation": {"failure-cause": cause}}


def is_below(place: str, folders: Iterable[str]) -> bool:
    """True if a place is one of some folders, or below one; links and dots are followed.

    Args:
        place: a URI, or a local path.
        folders: URIs, or local paths.
    """
    steps = _steps(place)
    return any(steps[: len(above)] == above for above in map(_steps, folders))


def _steps(place: str) -> list[str]:
    if is_remote(place):
        parts = urlsplit(place)
        return [parts.scheme, parts.netloc, *_path_steps(posixpath.normpath(parts.path))]
    return ["file", "", *_path_steps(os.path.realpath(local_path(place)))]


def _path_steps(path: str) -> list[str]:
    return [step for step in path.split("/") if step]


def dispose_savepoint(path: str, configuration: Mapping[str, str] | None = None) -> str:
    """Remove a savepoint and return its place.

    Args:
        path: the savepoint's.
        configuration: of the file systems.

    Raises:
        CheckpointError: there is no savepoint.
    """
    place = find_checkpoint(path, configuration or {})
    metadata = read_metadata(place)
    if not metadata.savepoint:
        raise CheckpointError(
            f"{place.shown} is a checkpoint of the job {metadata.job_id}, no savepoint: the job "
            "removes it, or remove the folder of a job that has ended"
        )
    place.remove()
    return place.shown


def _text(request: Request, name: str) -> str | None:
    value = request.body.get(name)
    if value is not None and not isinstance(value, str):
        raise RestError(BAD_REQUEST, f"{name} has to be a text, not {value!r}.")
    return value or None


def _trigger(request: Request) -> str | None:
    value = _text(request, "triggerId")
    if value is not None and not _REQUEST.fullmatch(value):
        raise RestError(
            BAD_REQUEST, f"triggerId has to be 32 hexadecimal digits, not {value[:64]!r}."
        )
    return value
