"""Answers the requests about the jobs of all drivers: from the driver, or from what it has left.

The server keeps nothing in memory. So it can start before the drivers, after them, and again.
"""

from __future__ import annotations

import contextlib
import http.client
import json
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from pyflink_on_spark._operate.client import Door, Reply
from pyflink_on_spark._operate.server.rest.control import operation_status
from pyflink_on_spark._operate.server.rest.overview import (
    TEXT,
    config_answer,
    overview_answer,
    part_of_log,
    task_counts,
)
from pyflink_on_spark._operate.server.rest.routing import (
    CONFLICT,
    GATEWAY_TIMEOUT,
    NOT_FOUND,
    OK,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.view.job_records import LOST, JobRecord, JobRecords
from pyflink_on_spark._operate.view.jobs import UnknownJob, with_loss
from pyflink_on_spark.common import JobStatus

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.routing import JsonObject


_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE")
_AT_ONCE = 16
_LIST_SECONDS = 2.0
_ANSWER_SECONDS = 30.0
_OPERATIONS = {"savepoints", "checkpoints"}


class DispatchedJobsRoutes:
    """Answers the requests about jobs.

    Args:
        records: those of all drivers.
        submits: whether the server starts scripts.
    """

    def __init__(self, records: JobRecords, *, submits: bool = True) -> None:
        self._records, self._submits = records, submits
        self._pool = ThreadPoolExecutor(_AT_ONCE, "drivers")

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/overview", self.cluster)
        router.add("GET", "/config", self.config)
        router.add("GET", "/jobs", self.ids)
        router.add("GET", "/jobs/overview", self.jobs)
        router.add("GET", "/jobs/:job_id/log", self.log)
        for method in _METHODS:
            router.add(method, "/jobs/:job_id", self.forward)
            router.add(method, "/jobs/:job_id/*rest", self.forward)

    def cluster(self, request: Request) -> Answer:
        """The number of jobs by their states."""
        summaries = self.summaries()
        states = Counter(JobStatus[each["state"]] for each in summaries if each["state"] in _STATES)
        over = sum(each["end-time"] >= 0 for each in summaries)
        running = [record for record in self._records.all() if not record.over]
        slots = sum(each.get("slots-total", 0) for each in self._asked(running, "/overview"))
        return Answer(overview_answer(states, len(summaries) - over, slots))

    def config(self, request: Request) -> Answer:
        """The settings for pages on this API."""
        return Answer(config_answer(submits=self._submits))

    def ids(self, request: Request) -> Answer:
        """The jobs' ids and states."""
        told = [{"id": each["jid"], "status": each["state"]} for each in self.summaries()]
        return Answer({"jobs": told})

    def jobs(self, request: Request) -> Answer:
        """The jobs with names, states, times, and the causes of failures."""
        return Answer({"jobs": self.summaries()})

    def summaries(self) -> list[JsonObject]:
        """The jobs as Flink lists them, the oldest first; those that run as their drivers tell."""
        records = self._records.all()
        running = [record for record in records if not record.over]
        told = {
            str(each["jid"]): each
            for overview in self._asked(running, "/jobs/overview")
            for each in overview["jobs"]
        }
        return [
            _summary(record) if record.over else told.get(record.id) or _summary(record)
            for record in records
        ]

    def log(self, request: Request, job_id: str) -> Answer:
        """The log of a job, or the end of it."""
        record = self._record(job_id)
        if record.log is not None:
            with contextlib.suppress(OSError):
                return part_of_log(Path(record.log), request.query.get("from"))
        if not record.over:
            return self._forwarded(request, record)
        return Answer(str(self._records.archived(job_id).get("/log", "")).encode(), kind=TEXT)

    def forward(self, request: Request, job_id: str, rest: str = "") -> Answer:
        """The driver's answer, or what it has left."""
        record = self._record(job_id)
        # A job that was stopped has ended before its driver notes where the savepoint is.
        if not record.over or _operation_of(rest) not in {None, *record.operations}:
            with contextlib.suppress(_Gone):
                return self._forwarded(request, record)
            record = self._record(job_id)
        return self._kept(request, record, f"/{rest}" if rest else "")

    def _forwarded(self, request: Request, record: JobRecord) -> Answer:
        query = f"?{urlencode(request.query)}" if request.query else ""
        method = "GET" if request.method == "HEAD" else request.method
        content = json.dumps(dict(request.body)) if request.body else None
        try:
            door = Door(record.socket)
            reply = door.ask(method, request.path + query, content, seconds=_ANSWER_SECONDS)
        except TimeoutError:
            raise RestError(
                GATEWAY_TIMEOUT,
                f"the driver of the job {record.id} (process {record.pid}) does not answer",
            ) from None
        except (OSError, http.client.HTTPException):
            raise _Gone from None
        return Answer(reply.content, reply.status, reply.kind)

    def _kept(self, request: Request, record: JobRecord, path: str) -> Answer:
        """The answer about a job without a driver.

        Raises:
            RestError: nothing was kept that answers the request.
        """
        operation = _operation_of(path)
        if operation in record.operations:
            return Answer(operation_status(record.operations[operation]))
        if not record.over:
            return Answer(operation_status(None))  # the driver ends, and tells before it has ended
        if request.method not in {"GET", "HEAD"}:
            raise RestError(
                CONFLICT, f"the job {record.name!r} ({record.id}) is {_state(record)}: it has ended"
            )
        if path.endswith("/metrics"):
            return Answer([])
        kept = self._records.archived(record.id)
        if path in kept or path in _UNKEPT:
            told = with_loss(path, kept.get(path, _UNKEPT.get(path)), record, kept)
            return Answer(_of_the_end(path, told, record))
        raise RestError(NOT_FOUND, f"The job {record.id} has ended, and {path} was not kept.")

    def _record(self, job_id: str) -> JobRecord:
        record = self._records.get(job_id)
        if record is None:
            raise UnknownJob(f"Job {job_id} not found")
        return record

    def _asked(self, running: Iterable[JobRecord], path: str) -> list[Any]:
        """The answers of drivers; without those that do not answer in time."""
        sockets = {record.socket for record in running}
        replies = self._pool.map(lambda place: _asked_one(place, path), sockets)
        return [json.loads(reply.content) for reply in replies if reply and reply.status == OK]


def _operation_of(path: str) -> str | None:
    """The request whose result a path asks for, if it is one of those."""
    parts = path.strip("/").split("/")
    return parts[1] if len(parts) == 2 and parts[0] in _OPERATIONS else None


class _Gone(Exception):
    """A driver does not listen any more."""


def _asked_one(socket: str, path: str) -> Reply | None:
    with contextlib.suppress(OSError, http.client.HTTPException):
        return Door(socket).ask("GET", path, seconds=_LIST_SECONDS)
    return None


_STATES = {status.name for status in JobStatus}
_UNKEPT: dict[str, object] = {
    "": {"vertices": [], "plan": {"nodes": []}, "timestamps": {}, "restarts": 0},
    "/accumulators": {"job-accumulators": [], "user-task-accumulators": []},
    "/checkpoints": {
        "counts": {"restored": 0, "total": 0, "in_progress": 0, "completed": 0, "failed": 0},
        "latest": {"completed": None, "savepoint": None, "failed": None, "restored": None},
        "history": [],
    },
    "/config": {"execution-config": {"user-config": {}}},
    "/exceptions": {"exceptionHistory": {"entries": [], "truncated": False}},
    "/recent": {"minutes": 0, "samples": []},
    "/state": {"states": [], "checkpoint": None, "sizes": []},
    "/status": {},
}
"""The answers about a job whose driver has left none."""


def _state(record: JobRecord) -> str:
    """The state by a name that Flink's clients know."""
    return JobStatus.FAILED.name if record.state == LOST else record.state


def _times(record: JobRecord) -> dict[str, int]:
    ended = record.ended if record.ended is not None else -1
    lasted = ended - record.started if ended >= 0 else 0
    return {"start-time": record.started, "end-time": ended, "duration": lasted}


def _summary(record: JobRecord) -> dict[str, object]:
    state = _state(record)
    return {
        "jid": record.id,
        "name": record.name,
        "state": state,
        "last-modification": record.ended or record.started,
        "tasks": task_counts(state, record.subtasks),
        "cause": record.cause,
        **_times(record),
    }


def _of_the_end(path: str, kept: Any, record: JobRecord) -> object:
    """An answer that was kept, with the end of the job."""
    state = _state(record)
    if path == "/status":
        return {"status": state}
    if path:
        return kept
    about = {"jid": record.id, "name": record.name, "state": state, "now": record.ended or 0}
    moments = {**kept["timestamps"], state: record.ended or 0}
    return {**kept, **about, **_times(record), "timestamps": moments}
