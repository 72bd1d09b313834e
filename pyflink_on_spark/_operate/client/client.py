"""Finds a job of this user on this machine, and talks to its driver."""

from __future__ import annotations

import contextlib
import http.client
import json
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import quote

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._operate.server.rest.control import operation_status
from pyflink_on_spark._operate.server.unix_socket import UnixConnection
from pyflink_on_spark._operate.view.job_records import JobRecord, JobRecords, lives
from pyflink_on_spark.common import JobStatus

_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 6.0


class OperationError(PyFlinkOnSparkError):
    """An operation on a job is impossible."""


class DriverGone(OperationError):
    """The driver of a job does not listen any more."""


class RemoteJob:
    """A job in another process.

    Args:
        record: says where its driver is.
        records: where the record is from.
    """

    def __init__(self, record: JobRecord, records: JobRecords) -> None:
        self.record, self._records = record, records

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""
        return self.record.id

    def get(self, path: str = "") -> Any:
        """The driver's answer about the job, or what was kept of it before the driver's end.

        Args:
            path: what follows ``/jobs/:id``.

        Raises:
            OperationError: the driver refuses, or is gone.
        """
        try:
            return self.request("GET", path)
        except DriverGone:
            told = self._records.archived(self.id)
            if path not in told:
                raise
            return told[path]

    def log(self) -> str:
        """The end of the log of a driver that is not detached.

        Raises:
            OperationError: the driver is gone, and nothing was kept.
        """
        try:
            return str(call(self.record, "GET", "/jobmanager/log", text=True))
        except DriverGone:
            return str(self._records.archived(self.id).get("/log", ""))

    def request(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Send a request about the job, and return the answer.

        Raises:
            OperationError: the driver refuses, or is gone.
        """
        return call(self.record, method, f"/jobs/{quote(self.id)}{path}", body)

    def state(self) -> str:
        """Return the name of the job's state, also after its driver has ended."""
        try:
            jobs = call(self.record, "GET", "/jobs")["jobs"]
            return next(str(job["status"]) for job in jobs if job["id"] == self.id)
        except (DriverGone, StopIteration):
            return self._last_known().state

    def wait_for_end(self) -> str:
        """Wait until the job has ended, and return the name of its state."""
        while True:
            state = self.state()
            if self._with_state(state).over:
                return state
            time.sleep(_LOOK_SECONDS)

    def path_of(self, request: str) -> str:
        """Wait for the end of a savepoint operation, and return the savepoint's path.

        Raises:
            OperationError: it has failed, or the driver has ended before.
        """
        while True:
            status = self._status_of(request)
            if status["operation"] is not None:
                break
            time.sleep(_LOOK_SECONDS)
        operation = status["operation"]
        if "location" in operation:
            return str(operation["location"])
        raise OperationError(str(operation["failure-cause"]["stack-trace"]))

    def _status_of(self, request: str) -> Any:
        try:
            return self.get(f"/savepoints/{request}")
        except DriverGone:
            deadline = time.monotonic() + _GRACE_SECONDS
        alive = True
        while alive and time.monotonic() < deadline:
            alive = lives(self.record.pid)  # before its last words are read
            operations = self._last_known().operations
            if request in operations:
                return operation_status(operations[request])
            time.sleep(_LOOK_SECONDS)
        raise OperationError(
            f"the driver of the job {self.id} has ended, and did not say what became of the "
            f"savepoint; the job is {self._last_known().state}"
        )

    def _last_known(self) -> JobRecord:
        """The job's record; a job that collects and has finished has none any more."""
        finished = replace(self.record, state=JobStatus.FINISHED.name)
        gone = self.record if lives(self.record.pid) else finished
        return next((r for r in self._records.all() if r.id == self.id), gone)

    def _with_state(self, state: str) -> JobRecord:
        return replace(self.record, state=state)


def find_job(name: str, records: JobRecords) -> RemoteJob:
    """Return the job that a user names by its id, the beginning of its id, or its name.

    Of jobs that have ended, the last one is found if no other is meant.

    Args:
        name: what the user says.
        records: the user's jobs.

    Raises:
        OperationError: there is no such job, or there are several.
    """
    known = records.all()
    running = _named(name, [record for record in known if not record.over])
    if len(running) > 1:
        which = ", ".join(f"{record.id} ({record.name})" for record in running)
        raise OperationError(f"{name!r} is more than one job; give the id of one: {which}")
    found = running or _named(name, known)[-1:]
    if found:
        return RemoteJob(found[0], records)
    raise OperationError(
        f"this user has no job {name!r} on this machine; `list` shows the jobs that run, `list -a` "
        "also those that have ended"
    )


def _named(name: str, candidates: list[JobRecord]) -> list[JobRecord]:
    exact = [record for record in candidates if name in {record.id, record.name}]
    return exact or [record for record in candidates if name and record.id.startswith(name)]


def call(
    record: JobRecord,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    *,
    text: bool = False,
) -> Any:
    """Send a request to a driver, and return the answer.

    Args:
        record: says where the driver is.
        method: the HTTP method.
        path: the path.
        body: the JSON body, if there is one.
        text: whether the answer is a text; otherwise the answer is JSON.

    Raises:
        OperationError: the driver refuses, or is gone.
    """
    if record.over:
        raise DriverGone(f"the job {record.name!r} ({record.id}) is {record.state}: it has ended")
    connection = UnixConnection(record.socket, _SECONDS)
    content = None if body is None else json.dumps(body)
    try:
        connection.request(method, path, content, {"Content-Type": "application/json"})
        answer = connection.getresponse()
        content_told = answer.read()
        told: Any = content_told.decode(errors="replace") if text else json.loads(content_told)
    except TimeoutError as error:
        raise OperationError(
            f"the driver of the job {record.id} (process {record.pid}) does not answer"
        ) from error
    except (OSError, http.client.HTTPException) as error:
        raise DriverGone(f"the driver of the job {record.name!r} ({record.id}) is gone") from error
    finally:
        with contextlib.suppress(OSError):
            connection.close()
    if answer.status >= http.client.BAD_REQUEST:
        raise OperationError(told if text else " ".join(map(str, told.get("errors", [told]))))
    return told
