"""Finds a job of this user on this machine, and talks to its driver."""

from __future__ import annotations

import contextlib
import http.client
import json
import ssl
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._operate.server.network import UnixConnection
from pyflink_on_spark._operate.server.rest.control import operation_status
from pyflink_on_spark._operate.view.job_records import ELSEWHERE, JobRecord, JobRecords, lives
from pyflink_on_spark._operate.view.jobs import with_loss
from pyflink_on_spark.common import JobStatus

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.routing import JsonObject


_SECONDS = 10.0
_LOOK_SECONDS = 0.1
_GRACE_SECONDS = 6.0


class OperationError(PyFlinkOnSparkError):
    """An operation on a job is impossible."""


class DriverGone(OperationError):
    """The driver of a job does not listen any more."""


@dataclass(frozen=True)
class Reply:
    """The reply of a server.

    Args:
        status: the HTTP status.
        kind: the content's MIME type.
        content: the bytes.
    """

    status: int
    kind: str
    content: bytes


class Door:
    """The way to a server: a driver's Unix socket, or the URL of the server of all jobs.

    Args:
        address: the path of the socket, or the URL.
        token: what the server asks for.
        certificate: the one that the server has, in PEM; None trusts those whom OpenSSL trusts.
    """

    def __init__(
        self, address: str, token: str | None = None, certificate: str | None = None
    ) -> None:
        self.address, self._token, self._certificate = address, token, certificate

    def ask(
        self,
        method: str,
        path: str,
        content: bytes | str | None = None,
        *,
        kind: str = "application/json",
        seconds: float = _SECONDS,
    ) -> Reply:
        """Send a request, and return the reply.

        Args:
            method: the HTTP method.
            path: with its query.
            content: the body.
            kind: the body's MIME type.
            seconds: how long the reply may take.

        Raises:
            TimeoutError: the reply takes longer.
            OSError: nobody listens, or the connection has broken.
            HTTPException: the reply is no HTTP.
        """
        headers = {"Content-Type": kind}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        connection = self._connection(seconds)
        try:
            connection.request(method, path, content, headers)
            answer = connection.getresponse()
            return Reply(answer.status, answer.headers.get_content_type(), answer.read())
        finally:
            with contextlib.suppress(OSError):
                connection.close()

    def told(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        """Send a request with a JSON body, and return the content of the JSON reply.

        Raises:
            OperationError: the server refuses.
            OSError: as ``ask``.
            HTTPException: as ``ask``.
        """
        return content_of(self.ask(method, path, None if body is None else json.dumps(body)))

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        parts = urlsplit(self.address)
        if not parts.scheme:
            return UnixConnection(self.address, seconds)
        host = parts.hostname or ""
        if parts.scheme == "https":
            context = _trust(self._certificate)
            return http.client.HTTPSConnection(host, parts.port, timeout=seconds, context=context)
        return http.client.HTTPConnection(host, parts.port, timeout=seconds)


def _trust(certificate: str | None) -> ssl.SSLContext:
    """The TLS of a client; a certificate that is known needs no authority and no host name."""
    context = ssl.create_default_context(cadata=certificate)
    if certificate is not None:
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    return context


def content_of(reply: Reply) -> Any:
    """The content of a JSON reply.

    Raises:
        OperationError: it says that the request was refused.
        HTTPException: the reply is no JSON.
    """
    try:
        told = json.loads(reply.content)
    except ValueError as error:
        raise http.client.HTTPException(f"no JSON: {reply.content[:80]!r}") from error
    if reply.status >= http.client.BAD_REQUEST:
        raise OperationError(" ".join(map(str, told.get("errors", [told]))))
    return told


class ServerRecords:
    """The jobs that a server knows.

    Args:
        server: the way to it.
    """

    def __init__(self, server: Door) -> None:
        self.server = server

    def all(self) -> list[JobRecord]:
        """All jobs, the oldest first.

        Raises:
            OperationError: the server refuses, or does not answer.
        """
        try:
            jobs = self.server.told("GET", "/jobs/overview")["jobs"]
        except (OSError, http.client.HTTPException) as error:
            raise OperationError(f"{self.server.address} does not answer: {error}") from error
        found = [
            JobRecord(
                str(each["jid"]),
                str(each["name"]),
                ELSEWHERE,
                self.server.address,
                int(each["start-time"]),
                str(each["state"]),
                each["end-time"] if each["end-time"] >= 0 else None,
                cause=each.get("cause"),
            )
            for each in jobs
        ]
        return sorted(found, key=lambda record: record.started)

    def archived(self, job_id: str) -> dict[str, object]:
        """Nothing: the server itself tells what was kept."""
        return {}


Records = JobRecords | ServerRecords
"""Where commands look for jobs."""


class RemoteJob:
    """A job in another process.

    Args:
        record: says where its driver is.
        records: where the record is from.
    """

    def __init__(self, record: JobRecord, records: Records) -> None:
        self.record, self._records = record, records
        server = records.server if isinstance(records, ServerRecords) else None
        self._door = server or Door(record.socket)

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
            return with_loss(path, told[path], self.record, told)

    def log(self) -> str:
        """The end of the log of a driver that is not detached.

        Raises:
            OperationError: the driver is gone, and nothing was kept.
        """
        try:
            return self._reply("GET", f"/jobs/{self.id}/log").content.decode(errors="replace")
        except DriverGone:
            return str(self._records.archived(self.id).get("/log", ""))

    def request(self, method: str, path: str, body: Mapping[str, object] | None = None) -> Any:
        """Send a request about the job, and return the answer.

        Raises:
            OperationError: the driver refuses, or is gone.
        """
        content = None if body is None else json.dumps(body)
        try:
            return content_of(self._reply(method, f"/jobs/{quote(self.id)}{path}", content))
        except http.client.HTTPException as error:
            raise self._gone() from error

    def state(self) -> str:
        """Return the name of the job's state, also after its driver has ended."""
        try:
            jobs = content_of(self._reply("GET", "/jobs"))["jobs"]
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
        return str(self._end_of(lambda: self._status_of(request))["location"])

    def checkpoint_of(self, request: str) -> int:
        """Wait for the end of a checkpoint that was asked for, and return its number.

        Raises:
            OperationError: it has failed, or the driver has ended before.
        """
        ended = self._end_of(lambda: self.get(f"/checkpoints/{request}"))
        return int(ended["checkpointId"])

    def _end_of(self, look: Callable[[], Any]) -> JsonObject:
        """The result of an operation, once it has one.

        Args:
            look: asks for its status.

        Raises:
            OperationError: it has failed, or the driver has ended before.
        """
        while (operation := look()["operation"]) is None:
            time.sleep(_LOOK_SECONDS)
        if "failure-cause" in operation:
            raise OperationError(str(operation["failure-cause"]["stack-trace"]))
        return dict(operation)

    def _status_of(self, request: str) -> object:
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

    def _reply(self, method: str, path: str, content: str | None = None) -> Reply:
        """The reply of the driver.

        Raises:
            OperationError: the driver does not answer, or is gone.
        """
        record = self.record
        if record.over and record.pid != ELSEWHERE:
            text = f"the job {record.name!r} ({record.id}) is {record.state}: it has ended"
            raise DriverGone(text)
        try:
            return self._door.ask(method, path, content)
        except TimeoutError as error:
            raise OperationError(
                f"the driver of the job {record.id} (process {record.pid}) does not answer"
            ) from error
        except (OSError, http.client.HTTPException) as error:
            raise self._gone() from error

    def _gone(self) -> DriverGone:
        record = self.record
        return DriverGone(f"the driver of the job {record.name!r} ({record.id}) is gone")


def find_job(name: str, records: Records) -> RemoteJob:
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
