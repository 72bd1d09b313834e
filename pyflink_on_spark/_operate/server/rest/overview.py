"""The requests that list jobs."""

from __future__ import annotations

import os
import platform
import stat
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    NOT_FOUND,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.view.job_log import LogTail, trouble_of
from pyflink_on_spark._operate.view.jobs import (
    INITIALIZING,
    TASK_MANAGER,
    OperatedJob,
    OperatedJobs,
)
from pyflink_on_spark._options.secrets import all_masked, masked_text
from pyflink_on_spark.common import JobStatus
from pyflink_on_spark.version import __version__

_TASK_STATES = (
    "running", "canceling", "canceled", "total", "created", "scheduled", "deploying",
    "reconciling", "finished", "initializing", "failed",
)  # fmt: skip
_STATE_OF_TASKS = {
    "CREATED": "created",
    INITIALIZING: "initializing",
    "RUNNING": "running",
    "RESTARTING": "scheduled",
    "CANCELLING": "canceling",
    "FINISHED": "finished",
    "CANCELED": "canceled",
    "FAILED": "failed",
}


class OverviewRoutes:
    """Answers the requests that list jobs.

    Args:
        jobs: the jobs.
    """

    def __init__(self, jobs: OperatedJobs) -> None:
        self._jobs = jobs

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/overview", self.cluster)
        router.add("GET", "/config", self.config)
        router.add("GET", "/jobs", self.ids)
        router.add("GET", "/jobs/overview", self.jobs)

    def cluster(self, request: Request) -> Answer:
        """Return how many jobs there are, by their states."""
        jobs = self._jobs.all()
        states = Counter(job.status for job in jobs)
        running = self._jobs.running()
        return Answer(overview_answer(states, len(running), sum(map(slots_of, running))))

    def config(self, request: Request) -> Answer:
        """Return the settings for pages on this API."""
        return Answer(config_answer(submits=False))

    def ids(self, request: Request) -> Answer:
        """Return the jobs' ids and states."""
        return Answer({"jobs": [{"id": j.id, "status": j.state} for j in self._jobs.all()]})

    def jobs(self, request: Request) -> Answer:
        """Return the jobs with names, states and times."""
        return Answer({"jobs": [_summary(job) for job in self._jobs.all()]})


def overview_answer(states: Mapping[JobStatus, int], running: int, slots: int) -> dict[str, object]:
    """The answer to who asks for the number of jobs.

    Args:
        states: the number of jobs by state.
        running: the number of jobs that have not ended.
        slots: of all jobs.
    """
    return {
        "taskmanagers": 1,
        "slots-total": slots,
        "slots-available": 0,
        "jobs-running": running,
        "jobs-finished": states.get(JobStatus.FINISHED, 0),
        "jobs-cancelled": states.get(JobStatus.CANCELED, 0),
        "jobs-failed": states.get(JobStatus.FAILED, 0),
        "flink-version": __version__,
        "flink-commit": "",
    }


def config_answer(*, submits: bool) -> dict[str, object]:
    """The settings for pages.

    Args:
        submits: whether scripts can be submitted.
    """
    return {
        "refresh-interval": 3000,
        "timezone-name": "UTC",
        "timezone-offset": 0,
        "flink-version": __version__,
        "flink-revision": "",
        "features": {"web-submit": submits, "web-cancel": True, "web-rescale": False},
    }


def task_counts(state: str, count: int) -> dict[str, int]:
    """Return how many subtasks are in which state; all subtasks of a job are in the same one."""
    counts = dict.fromkeys(_TASK_STATES, 0)
    counts[_STATE_OF_TASKS[state]] = counts["total"] = count
    return counts


def task_state(job: OperatedJob) -> str:
    """The state of a job's tasks by Flink's name for states of tasks."""
    return _STATE_OF_TASKS[job.state].upper()


def subtasks_of(job: OperatedJob) -> int:
    """Return how many subtasks a job has."""
    return sum(vertex.parallelism for stage in job.job.stages for vertex in stage.vertices)


def slots_of(job: OperatedJob) -> int:
    """Return how many slots a job has."""
    return max(vertex.parallelism for stage in job.job.stages for vertex in stage.vertices)


def _summary(job: OperatedJob) -> dict[str, object]:
    trouble = None if job.over else trouble_of(job, time.time())
    return {
        "jid": job.id,
        "name": job.job.name,
        "start-time": job.started,
        "end-time": -1 if job.ended is None else job.ended,
        "duration": job.duration,
        "state": job.state,
        "last-modification": max(job.history.times.values()),
        "tasks": task_counts(job.state, subtasks_of(job)),
        **({} if trouble is None else {"cause": masked_text(trouble)}),
    }


TEXT = "text/plain; charset=UTF-8"
_MOST_BYTES = 10 * 1024 * 1024
_STANDARD_OUTPUT = 1
"""Its descriptor: ``sys.stdout`` may be something else."""


def part_of_log(path: str | Path, start: str | None) -> Answer:
    """The end of a log file, or what follows a position.

    Args:
        path: the file's.
        start: the position in bytes; beyond the end of a file that was cut, its beginning.

    Raises:
        OSError: the file cannot be read.
        RestError: the position is no number.
    """
    if start is not None and not (start.isascii() and start.isdigit()):
        raise RestError(BAD_REQUEST, f"from={start[:20]} is no position")
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        if start is None:
            file.seek(max(0, size - _MOST_BYTES))
        else:
            wished = int(start[:20])
            file.seek(wished if wished <= size else 0)
        return Answer(file.read(_MOST_BYTES), kind=TEXT)


def _options_of(job: OperatedJob) -> list[dict[str, str]]:
    shown = all_masked(dict(job.job.settings.configuration))
    return [{"key": key, "value": value} for key, value in shown.items()]


class ProcessRoutes:
    """Answers the requests about this process.

    Args:
        jobs: the jobs.
        log: returns the log file, if the log goes to one.
        tail: the last lines of the log.
    """

    def __init__(self, jobs: OperatedJobs, log: Callable[[], str | None], tail: LogTail) -> None:
        self._jobs, self._log, self._tail = jobs, log, tail

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobs/:job_id/log", self.job_log)
        router.add("GET", "/jobs/:job_id/jobmanager/config", self.job_config)
        router.add("GET", "/jobs/:job_id/jobmanager/environment", self.job_environment)
        router.add("GET", "/datasets", self.data_sets)
        self.add_process_to(router)

    def add_process_to(self, router: Router) -> None:
        """Add the routes that are not about a job."""
        router.add("GET", "/jobmanager/config", self.config)
        router.add("GET", "/jobmanager/log", self.log)
        router.add("GET", "/jobmanager/logs", self.logs)
        router.add("GET", "/jobmanager/logs/:name", self.log)
        router.add("GET", "/jobmanager/stdout", self.standard_output)
        router.add("GET", "/jobmanager/environment", self.environment)
        router.add("GET", "/jobmanager/thread-dump", self.threads)
        router.add("GET", "/taskmanagers", self.task_managers)
        router.add("GET", "/taskmanagers/:manager", self.task_manager)
        router.add("GET", "/taskmanagers/:manager/log", self.task_manager_log)
        router.add("GET", "/taskmanagers/:manager/logs", self.task_manager_logs)
        router.add("GET", "/taskmanagers/:manager/stdout", self.task_manager_output)

    def config(self, request: Request) -> Answer:
        """Return the options of the last job; what is secret is hidden."""
        jobs = self._jobs.all()
        return Answer(_options_of(jobs[-1]) if jobs else [])

    def job_config(self, request: Request, job_id: str) -> Answer:
        """Return the options of a job; what is secret is hidden."""
        return Answer(_options_of(self._jobs.get(job_id)))

    def data_sets(self, request: Request) -> Answer:
        """Return the cached intermediate results of the cluster: there are none."""
        return Answer({"dataSets": []})

    def logs(self, request: Request) -> Answer:
        """Return the name and size of the log."""
        path = self._log()
        if path is None:
            return Answer({"logs": []})
        status = os.stat(path)
        about = {"name": os.path.basename(path), "size": status.st_size}
        return Answer({"logs": [{**about, "mtime": round(status.st_mtime * 1000)}]})

    def log(self, request: Request, name: str | None = None) -> Answer:
        """Return the end of the log file, or the last lines of a log that goes elsewhere."""
        path = self._log()
        if name is not None and (path is None or name != os.path.basename(path)):
            raise RestError(NOT_FOUND, f"there is no log {name}")
        if path is None:
            return Answer(self._tail.text().encode(), kind=TEXT)
        return part_of_log(path, request.query.get("from"))

    def job_log(self, request: Request, job_id: str) -> Answer:
        """The log of a job, which is that of this process."""
        self._jobs.get(job_id)
        return self.log(request)

    def standard_output(self, request: Request) -> Answer:
        """Return the end of the file to which this process prints."""
        try:
            if stat.S_ISREG(os.fstat(_STANDARD_OUTPUT).st_mode):
                return part_of_log(f"/dev/fd/{_STANDARD_OUTPUT}", request.query.get("from"))
        except OSError as error:
            raise RestError(NOT_FOUND, f"The standard output cannot be read: {error}") from error
        raise RestError(NOT_FOUND, "The standard output goes to a terminal or a pipe, to no file.")

    def environment(self, request: Request) -> Answer:
        """Return the Python of the driver, in the fields that Flink has for Java."""
        version = f"{platform.python_implementation()} {platform.python_version()}"
        about = {"version": version, "arch": platform.machine(), "options": []}
        return Answer({"jvm": about, "classpath": []})

    def job_environment(self, request: Request, job_id: str) -> Answer:
        """Return the Python of a job's driver."""
        self._jobs.get(job_id)
        return self.environment(request)

    def threads(self, request: Request) -> Answer:
        """Return the stacks of the driver's threads."""
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        stacks = [
            {
                "threadName": names.get(ident, str(ident)),
                "stringifiedThreadInfo": "".join(traceback.format_stack(frame)),
            }
            for ident, frame in sys._current_frames().items()
        ]
        return Answer({"threadInfos": stacks})

    def task_manager(self, request: Request, manager: str) -> Answer:
        """Return the task manager."""
        _check_manager(manager)
        slots = sum(slots_of(job) for job in self._jobs.running())
        allocated = [{"jobId": job.id, "resource": {}} for job in self._jobs.running()]
        return Answer({**_manager(slots), "allocatedSlots": allocated})

    def task_manager_log(self, request: Request, manager: str) -> Answer:
        """Return the log, in which those of the hosts are, too."""
        _check_manager(manager)
        return self.log(request)

    def task_manager_output(self, request: Request, manager: str) -> Answer:
        """Return the standard output, in which that of the hosts is, too."""
        _check_manager(manager)
        return self.standard_output(request)

    def task_manager_logs(self, request: Request, manager: str) -> Answer:
        """Return the name and size of the log."""
        _check_manager(manager)
        return self.logs(request)

    def task_managers(self, request: Request) -> Answer:
        """Return the hosts of all jobs as one task manager."""
        slots = sum(slots_of(job) for job in self._jobs.running())
        return Answer({"taskmanagers": [_manager(slots)]})


def _manager(slots: int) -> dict[str, object]:
    return {
        "id": TASK_MANAGER,
        "path": TASK_MANAGER,
        "dataPort": -1,
        "jmxPort": -1,
        "timeSinceLastHeartbeat": 0,
        "slotsNumber": slots,
        "freeSlots": 0,
        "blocked": False,
    }


def _check_manager(name: str) -> None:
    if name != TASK_MANAGER:
        raise RestError(NOT_FOUND, f"There is no task manager {name}.")
