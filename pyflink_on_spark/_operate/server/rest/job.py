"""The requests about one job: its tasks, plan, exceptions, configuration and state."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable
from dataclasses import asdict

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.job import FailureRecord, Job
from pyflink_on_spark._operate.metrics import records_out
from pyflink_on_spark._operate.server.rest.overview import task_counts, task_state
from pyflink_on_spark._operate.server.rest.routing import (
    CONFLICT,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.server.rest.task import accumulators_of, io_of
from pyflink_on_spark._operate.view.job_log import wait_of
from pyflink_on_spark._operate.view.jobs import (
    MINUTES,
    JobTask,
    OperatedJob,
    OperatedJobs,
    RecentFigures,
)
from pyflink_on_spark._options.checkpointing import STRATEGY
from pyflink_on_spark._options.secrets import all_masked
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark.common import JobStatus

_RESULTS = {
    JobStatus.FINISHED: "SUCCEEDED",
    JobStatus.CANCELED: "CANCELED",
    JobStatus.FAILED: "FAILED",
}


class JobRoutes:
    """Answers the requests about one job.

    Args:
        jobs: the jobs.
    """

    def __init__(self, jobs: OperatedJobs) -> None:
        self._jobs = jobs

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobs/:job_id", self.job)
        router.add("GET", "/jobs/:job_id/status", self.status)
        router.add("GET", "/jobs/:job_id/plan", self.plan)
        router.add("GET", "/jobs/:job_id/config", self.config)
        router.add("GET", "/jobs/:job_id/exceptions", self.exceptions)
        router.add("GET", "/jobs/:job_id/accumulators", self.accumulators)
        router.add("GET", "/jobs/:job_id/execution-result", self.result)
        router.add("GET", "/jobs/:job_id/resource-requirements", self.resources)
        router.add("PUT", "/jobs/:job_id/resource-requirements", self.rescale)
        router.add("PATCH", "/jobs/:job_id/rescaling", self.rescale)

    def job(self, request: Request, job_id: str) -> Answer:
        """Return the job with its tasks."""
        job = self._jobs.get(job_id)
        return Answer(
            {
                "jid": job.id,
                "name": job.job.name,
                "isStoppable": False,
                "state": job.state,
                "job-type": "BATCH" if job.job.settings.batch else "STREAMING",
                "start-time": job.started,
                "end-time": -1 if job.ended is None else job.ended,
                "duration": job.duration,
                "maxParallelism": max((task.max_parallelism for task in job.tasks), default=-1),
                "now": round(time.time() * 1000),
                "timestamps": job.timestamps,
                "restarts": job.history.attempt,
                "waits-for": wait_of(job.history, time.time()) or None,
                "vertices": _vertices(job),
                "status-counts": _upper(task_counts(job.state, len(job.tasks))),
                "plan": plan_of(job.job, job.tasks),
            }
        )

    def status(self, request: Request, job_id: str) -> Answer:
        """Return the job's state."""
        return Answer({"status": self._jobs.get(job_id).state})

    def result(self, request: Request, job_id: str) -> Answer:
        """Return how the job has ended, or that it runs."""
        job = self._jobs.get(job_id)
        if not job.over:
            return Answer({"status": {"id": "IN_PROGRESS"}})
        failures = job.history.failures
        failure = failures[-1] if failures and job.status is JobStatus.FAILED else None
        told: dict[str, object] = {
            "id": job.id,
            "application-status": _RESULTS[job.status],
            "accumulator-results": {},
            "net-runtime": job.duration,
        }
        if failure is not None:
            told["failure-cause"] = {"class": failure.gist, "stack-trace": failure.error}
        return Answer({"status": {"id": "COMPLETED"}, "job-execution-result": told})

    def plan(self, request: Request, job_id: str) -> Answer:
        """Return the graph of the job's tasks."""
        job = self._jobs.get(job_id)
        return Answer({"plan": plan_of(job.job, job.tasks)})

    def config(self, request: Request, job_id: str) -> Answer:
        """Return the job's configuration; what is secret is hidden."""
        job = self._jobs.get(job_id)
        settings = job.job.settings
        shown = all_masked({**settings.configuration, **settings.job_parameters})
        return Answer(
            {
                "jid": job.id,
                "name": job.job.name,
                "execution-config": {
                    STRATEGY.key.rpartition(".")[0]: STRATEGY.read(settings.configuration)
                    or "default",
                    "job-parallelism": max((task.parallelism for task in job.tasks), default=1),
                    "object-reuse-mode": False,
                    "user-config": shown,
                },
            }
        )

    def exceptions(self, request: Request, job_id: str) -> Answer:
        """Return the job's failures, the latest first."""
        failures = self._jobs.get(job_id).history.failures[::-1]
        root = failures[0] if failures else None
        return Answer(
            {
                "root-exception": None if root is None else root.error,
                "timestamp": None if root is None else root.time,
                "all-exceptions": [],
                "truncated": False,
                "exceptionHistory": {
                    "entries": [_exception(failure) for failure in failures],
                    "truncated": False,
                },
            }
        )

    def resources(self, request: Request, job_id: str) -> Answer:
        """Return the parallelism of each task, which stays as long as the job runs."""
        job = self._jobs.get(job_id)
        fixed = {
            task.id: {"lowerBound": task.parallelism, "upperBound": task.parallelism}
            for task in job.tasks
        }
        return Answer({task_id: {"parallelism": bounds} for task_id, bounds in fixed.items()})

    def rescale(self, request: Request, job_id: str) -> Answer:
        """Refuse to change the parallelism of a running job."""
        job = self._jobs.get(job_id)
        raise RestError(
            CONFLICT,
            f"The parallelism of {job.job.name!r} stays as long as the job runs: stop it with a "
            "savepoint, and start it from there with another one (run -p N -s SAVEPOINT).",
        )

    def accumulators(self, request: Request, job_id: str) -> Answer:
        """Return the job's accumulators."""
        found = self._jobs.get(job_id).handle.accumulators()
        return Answer(
            {
                "job-accumulators": [],
                "user-task-accumulators": accumulators_of(found),
                "serialized-user-task-accumulators": {},
            }
        )


def plan_of(job: Job, tasks: Iterable[JobTask]) -> dict[str, object]:
    """Return the graph of a job's tasks, as Flink tells it."""
    nodes = [
        {
            "id": task.id,
            "parallelism": task.parallelism,
            "operator": "",
            "operator_strategy": "",
            "description": task.name,
            "inputs": [
                {
                    "num": number,
                    "id": edge.source,
                    "ship_strategy": edge.strategy,
                    "exchange": "pipelined_bounded",
                }
                for number, edge in enumerate(task.inputs)
            ],
            "optimizer_properties": {},
        }
        for task in tasks
    ]
    kind = "BATCH" if job.settings.batch else "STREAMING"
    return {"jid": job.settings.job_id, "name": job.name, "type": kind, "nodes": nodes}


def _vertices(job: OperatedJob) -> list[dict[str, object]]:
    progress = job.progress
    together = {} if progress is None else {part.name: part for part in progress.tasks}
    out = records_out(job.tasks, list(job.parts))
    return [
        {
            "id": task.id,
            "slotSharingGroupId": "",
            "name": task.name,
            "maxParallelism": task.max_parallelism,
            "parallelism": task.parallelism,
            "status": task_state(job),
            "start-time": job.started,
            "end-time": -1 if job.ended is None else job.ended,
            "duration": job.duration,
            "tasks": _upper(task_counts(job.state, task.parallelism)),
            "metrics": io_of(job, together.get(task.name), _whole(out.get(task.name))),
        }
        for task in job.tasks
    ]


def _exception(failure: FailureRecord) -> dict[str, object]:
    return {
        "exceptionName": failure.gist,
        "stacktrace": failure.error,
        "timestamp": failure.time,
        "taskName": None,
        "endpoint": None,
        "taskManagerId": None,
        "failureLabels": {},
        "concurrentExceptions": [],
    }


def _upper(counts: dict[str, int]) -> dict[str, int]:
    return {state.upper(): count for state, count in counts.items() if state != "total"}


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)


class StateRoutes:
    """Answers the requests for state, which Flink's API does not have.

    Args:
        jobs: the jobs.
        recent: keeps figures of the last minutes.
    """

    def __init__(self, jobs: OperatedJobs, recent: RecentFigures) -> None:
        self._jobs, self._recent = jobs, recent
        self._sizes: dict[str, tuple[int, dict[str, int]]] = {}
        self._lock = threading.Lock()

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobs/:job_id/state", self.state)
        router.add("GET", "/jobs/:job_id/recent", self.recent)

    def recent(self, request: Request, job_id: str) -> Answer:
        """Return figures of the last minutes."""
        samples = self._recent.of(self._jobs.get(job_id).id)
        return Answer({"minutes": MINUTES, "samples": [asdict(figures) for figures in samples]})

    def state(self, request: Request, job_id: str) -> Answer:
        """Return entries by operator and state, and bytes by operator in the last checkpoint."""
        job = self._jobs.get(job_id)
        progress = job.progress
        parts = () if progress is None else progress.tasks
        number, sizes = self._checkpointed(job)
        names = {plan.state_id: plan.name for task in job.tasks for plan in task.operators}
        return Answer(
            {
                "states": [
                    {"operator": state.operator, "state": state.state, "entries": state.entries}
                    for part in parts
                    for state in part.states
                ],
                "checkpoint": number,
                "sizes": [
                    {"operator": names.get(name, name), "id": name, "bytes": size}
                    for name, size in sizes.items()
                ],
            }
        )

    def _checkpointed(self, job: OperatedJob) -> tuple[int | None, dict[str, int]]:
        """Return the last checkpoint, and how many bytes operators have in it.

        Only the heads of records are read, once for each checkpoint.
        """
        last = job.history.last_completed(savepoint=False)
        if last is None or not last.path:
            return None, {}
        with self._lock:
            known = self._sizes.get(job.id)
            if known is None or known[0] != last.number:
                known = self._sizes[job.id] = last.number, _sizes(job, last.path)
        return known


def _sizes(job: OperatedJob, path: str) -> dict[str, int]:
    try:
        place = find_checkpoint(path, job.job.settings.configuration)
        whole = read_states(place, read_metadata(place))
    except (CheckpointError, OSError):
        return {}  # a newer checkpoint has replaced it
    return {
        name: sum(part.size for part in parts.values())
        for name, parts in whole.operators.items()
        if any(parts.values())
    }
