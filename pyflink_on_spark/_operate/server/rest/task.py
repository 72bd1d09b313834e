"""The requests about one task of a job, its subtasks, and the stacks of its functions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

from pyflink_on_spark._operate.metrics import time_shares, user_metrics
from pyflink_on_spark._operate.server.rest.overview import task_counts, task_state
from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    CONFLICT,
    NOT_FOUND,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.view.jobs import TASK_MANAGER, JobTask, OperatedJob, OperatedJobs
from pyflink_on_spark._runtime.task.stacks import Samples, Stack
from pyflink_on_spark._runtime.task.subtask_threads import TaskProgress

if TYPE_CHECKING:
    from pyflink_on_spark._operate.server.rest.routing import JsonObject


_BYTES = ("read-bytes", "write-bytes")
_LOW, _HIGH = 0.1, 0.5
_VERTEX = "/jobs/:job_id/vertices/:task_id"
_SAMPLES, _PAUSE_SECONDS = 50, 0.02
_FRESH_SECONDS = 5.0
_Found = tuple[float, int, list[Samples]]


class TaskRoutes:
    """Answers the requests about one task.

    Args:
        jobs: the jobs.
    """

    def __init__(self, jobs: OperatedJobs) -> None:
        self._jobs = jobs

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", _VERTEX, self.task)
        router.add("GET", f"{_VERTEX}/backpressure", self.backpressure)
        router.add("GET", f"{_VERTEX}/subtasktimes", self.times)
        router.add("GET", f"{_VERTEX}/taskmanagers", self.task_managers)
        router.add("GET", f"{_VERTEX}/accumulators", self.accumulators)
        router.add("GET", f"{_VERTEX}/subtasks/accumulators", self.subtask_accumulators)
        router.add("GET", f"{_VERTEX}/subtasks/:subtask", self.subtask)
        router.add("GET", f"{_VERTEX}/subtasks/:subtask/attempts/:attempt", self.attempt)
        router.add(
            "GET", f"{_VERTEX}/subtasks/:subtask/attempts/:attempt/accumulators",
            self.attempt_accumulators,
        )  # fmt: skip

    def task(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return a task with its subtasks."""
        job, task = self._task(job_id, task_id)
        return Answer(
            {
                **_named(task),
                "parallelism": task.parallelism,
                "maxParallelism": task.max_parallelism,
                "now": _now(),
                "subtasks": _subtasks(job, task),
                "aggregated": {},
            }
        )

    def subtask(self, request: Request, job_id: str, task_id: str, subtask: str) -> Answer:
        """Return one subtask."""
        return Answer(_numbered(_subtasks(*self._task(job_id, task_id)), subtask, "subtask"))

    def attempt(
        self, request: Request, job_id: str, task_id: str, subtask: str, attempt: str
    ) -> Answer:
        """Return one subtask in the present attempt."""
        found = _numbered(_subtasks(*self._task(job_id, task_id)), subtask, "subtask")
        return Answer(_numbered([found], attempt, "attempt"))

    def backpressure(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return how the subtasks have spent the last seconds."""
        job, task = self._task(job_id, task_id)
        parts = _parts(job, task)
        if not parts:
            return Answer({"status": "deprecated", "subtasks": []})
        levels = {index: _level(part.backpressured_share) for index, part in parts.items()}
        worst = max(part.backpressured_share for part in parts.values())
        return Answer(
            {
                "status": "ok",
                "backpressureLevel": _level(worst),
                "backpressure-level": _level(worst),
                "end-timestamp": _now(),
                "subtasks": [
                    {
                        "subtask": index,
                        "attempt-number": job.history.attempt,
                        "backpressureLevel": levels[index],
                        "backpressure-level": levels[index],
                        **_ratios(part),
                    }
                    for index, part in sorted(parts.items())
                ],
            }
        )

    def times(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return when each subtask was in which state: all are in that of the job."""
        job, task = self._task(job_id, task_id)
        timestamps = job.timestamps
        subtasks = [
            {
                "subtask": index,
                "endpoint": TASK_MANAGER,
                "duration": job.duration,
                "timestamps": timestamps,
            }
            for index in range(task.parallelism)
        ]
        return Answer({**_named(task), "now": _now(), "subtasks": subtasks})

    def task_managers(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return where a task runs; hosts of a job are one task manager here."""
        job, task = self._task(job_id, task_id)
        counts = task_counts(job.state, task.parallelism)
        del counts["total"]
        manager = {
            "endpoint": TASK_MANAGER,
            "taskmanager-id": TASK_MANAGER,
            "status": task_state(job),
            "start-time": job.started,
            "end-time": _ended(job),
            "duration": job.duration,
            "metrics": io_of(job, _together(job, task), None),
            "status-counts": {state.upper(): count for state, count in counts.items()},
            "aggregated": {},
        }
        return Answer({**_named(task), "now": _now(), "taskmanagers": [manager]})

    def accumulators(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return the metrics of a task's functions, over all subtasks where that is a sum."""
        job, task = self._task(job_id, task_id)
        totals: JsonObject = {}
        for values in _user_values(job, task).values():
            for name, value in values.items():
                numbers = isinstance(value, (int, float)) and name in totals
                totals[name] = totals[name] + value if numbers else value
        return Answer({"id": task.id, "user-accumulators": accumulators_of(totals)})

    def subtask_accumulators(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return the metrics of a task's functions by subtask."""
        job, task = self._task(job_id, task_id)
        found = _user_values(job, task)
        subtasks = [
            {
                "subtask": index,
                "attempt": job.history.attempt,
                "endpoint": TASK_MANAGER,
                "user-accumulators": accumulators_of(found.get(index, {})),
            }
            for index in range(task.parallelism)
        ]
        return Answer({"id": task.id, "parallelism": task.parallelism, "subtasks": subtasks})

    def attempt_accumulators(
        self, request: Request, job_id: str, task_id: str, subtask: str, attempt: str
    ) -> Answer:
        """Return the metrics of the functions of one subtask."""
        job, task = self._task(job_id, task_id)
        found = _numbered(_subtasks(job, task), subtask, "subtask")
        _numbered([found], attempt, "attempt")
        values = _user_values(job, task).get(found["subtask"], {})
        return Answer(
            {
                "id": task.id,
                "subtask": found["subtask"],
                "attempt": found["attempt"],
                "user-accumulators": accumulators_of(values),
            }
        )

    def _task(self, job_id: str, task_id: str) -> tuple[OperatedJob, JobTask]:
        job = self._jobs.get(job_id)
        return job, task_of(job, task_id)


def task_of(job: OperatedJob, task_id: str) -> JobTask:
    """Return a task of a job.

    Raises:
        RestError: there is no such task.
    """
    for task in job.tasks:
        if task.id == task_id:
            return task
    raise RestError(NOT_FOUND, f"the job {job.id} has no vertex {task_id}")


def io_of(
    job: OperatedJob, part: TaskProgress | None, records_out: int | None
) -> dict[str, object]:
    """Return the figures of a task, or a subtask; what is not counted here is incomplete."""
    figures: dict[str, object] = {}
    for name in _BYTES:
        figures |= {name: 0, f"{name}-complete": False}
    figures |= {
        "read-records": 0 if part is None else part.records,
        "read-records-complete": part is not None,
        "write-records": records_out or 0,
        "write-records-complete": records_out is not None,
    }
    busy, held = (0.0, 0.0) if part is None else (part.busy * 1000, part.backpressured * 1000)
    subtasks = 1 if part is None else part.subtasks
    return figures | {
        "accumulated-backpressured-time": round(held),
        "accumulated-idle-time": max(0, round(job.duration * subtasks - busy - held)),
        "accumulated-busy-time": round(busy, 1),
    }


def accumulators_of(values: Mapping[str, object]) -> list[dict[str, str]]:
    """Return accumulators as Flink shows them."""
    return [
        {"name": name, "type": type(value).__name__, "value": str(value)}
        for name, value in values.items()
    ]


def _subtasks(job: OperatedJob, task: JobTask) -> list[dict[str, object]]:
    parts = _parts(job, task)
    return [
        {
            "subtask": index,
            "status": task_state(job),
            "attempt": job.history.attempt,
            "endpoint": TASK_MANAGER,
            "start-time": job.started,
            "end-time": _ended(job),
            "duration": job.duration,
            "metrics": io_of(job, parts.get(index), None),
            "taskmanager-id": TASK_MANAGER,
            "start_time": job.started,
            "status-duration": {},
            "other-concurrent-attempts": [],
        }
        for index in range(task.parallelism)
    ]


def _numbered(found: list[dict[str, object]], number: str, what: str) -> JsonObject:
    for each in found:
        if str(each[what]) == number:
            return each
    raise RestError(NOT_FOUND, f"there is no {what} {number} of this vertex")


def _parts(job: OperatedJob, task: JobTask) -> dict[int, TaskProgress]:
    return {
        part.subtask: part
        for part in job.parts
        if part.name == task.name and part.subtask is not None
    }


def _together(job: OperatedJob, task: JobTask) -> TaskProgress | None:
    progress = job.progress
    parts = () if progress is None else progress.tasks
    return next((part for part in parts if part.name == task.name), None)


def _user_values(job: OperatedJob, task: JobTask) -> dict[int, dict[str, object]]:
    """Return the metrics of a task's functions by subtask and name."""
    nodes = {plan.node for plan in task.operators}
    found: dict[int, JsonObject] = {}
    for report in job.job.accumulators.reports():
        if report.operator in nodes:
            values = found.setdefault(report.subtask, {})
            for measurement in report.measurements:
                values |= user_metrics(measurement)
    return found


def _ratios(part: TaskProgress) -> dict[str, float]:
    busy, idle, held = time_shares(part)
    return {"ratio": held, "idleRatio": idle, "busyRatio": busy}


def _level(share: float) -> str:
    return "ok" if share <= _LOW else "low" if share <= _HIGH else "high"


def _named(task: JobTask) -> dict[str, str]:
    return {"id": task.id, "name": task.name}


def _ended(job: OperatedJob) -> int:
    return -1 if job.ended is None else job.ended


def _now() -> int:
    return round(time.time() * 1000)


class StacksRoutes:
    """Answers the requests for stacks. Hosts are asked at most once in some seconds.

    Args:
        jobs: the jobs.
        now: a monotonic clock, in s.
    """

    def __init__(self, jobs: OperatedJobs, now: Callable[[], float] = time.monotonic) -> None:
        self._jobs, self._now = jobs, now
        self._lock = threading.Lock()
        self._last: dict[str, _Found] = {}

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobs/:job_id/vertices/:task_id/flamegraph", self.flame_graph)
        router.add("GET", "/jobs/:job_id/stacks", self.stacks)
        router.add("GET", "/taskmanagers/:manager/thread-dump", self.threads)

    def flame_graph(self, request: Request, job_id: str, task_id: str) -> Answer:
        """The sampled stacks of a task as a tree, by operator and function."""
        job = self._jobs.get(job_id)
        task = task_of(job, task_id)
        kind = request.query.get("type", "full").lower()
        if kind != "full":
            raise RestError(
                BAD_REQUEST,
                f"Samples do not tell who waits: use type=full, not {kind}",
            )
        subtask = request.query.get("subtaskindex")
        at, _, found = self._sampled(job)
        counts = [
            (stack, count)
            for stack, count in _all(found)
            if stack.task == task.name and (subtask is None or str(stack.subtask) == subtask)
        ]
        paths = [((stack.operator or task.name, *stack.frames), count) for stack, count in counts]
        return Answer({"endTimestamp": round(at), "data": _tree("root", paths)})

    def stacks(self, request: Request, job_id: str) -> Answer:
        """The present work of each subtask."""
        job = self._jobs.get(job_id)
        at, samples, found = self._sampled(job)
        return Answer(
            {
                "timestamp": round(at),
                "samples": samples,
                "stacks": [
                    {
                        "task": current.stack.task,
                        "subtask": current.stack.subtask,
                        "operator": current.stack.operator,
                        "element": current.element,
                        "key": current.key,
                        "unchanged": current.unchanged,
                        "frames": list(current.stack.frames),
                    }
                    for each in found
                    for current in each.current
                ],
            }
        )

    def threads(self, request: Request, manager: str) -> Answer:
        """The stacks of the functions of all jobs that run in hosts, the innermost call first."""
        if manager != TASK_MANAGER:
            raise RestError(NOT_FOUND, f"TaskExecutor {manager} not found")
        jobs = [job for job in self._jobs.running() if hasattr(job.handle, "sample_stacks")]
        stacks = [
            current.stack
            for job in jobs
            for each in self._sampled(job)[2]
            for current in each.current
        ]
        infos = [
            {
                "threadName": f"{stack.operator or stack.task} ({stack.subtask})",
                "stringifiedThreadInfo": "\n".join(reversed(stack.frames)),
            }
            for stack in stacks
        ]
        return Answer({"threadInfos": infos})

    def _sampled(self, job: OperatedJob) -> tuple[float, int, list[Samples]]:
        """The time of the samples (ms since the epoch), their number, and the samples."""
        sample = getattr(job.handle, "sample_stacks", None)
        if sample is None:
            raise RestError(CONFLICT, "Only streaming jobs with hosts show their stacks.")
        if job.over:
            raise RestError(CONFLICT, f"The job is {job.state}: its functions do not run.")
        with self._lock:
            known = self._last.get(job.id)
            if known is None or self._now() - known[0] > _FRESH_SECONDS:
                found = sample(_SAMPLES, _PAUSE_SECONDS)
                known = self._last[job.id] = (self._now(), _SAMPLES, found)
        age = self._now() - known[0]
        return (time.time() - age) * 1000, known[1], known[2]


def _all(found: Iterable[Samples]) -> Iterable[tuple[Stack, int]]:
    for each in found:
        yield from each.stacks.items()


def _tree(name: str, paths: list[tuple[tuple[str, ...], int]]) -> dict[str, object]:
    inside: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for path, count in paths:
        if path:
            inside.setdefault(path[0], []).append((path[1:], count))
    children: Mapping[str, object] = {child: _tree(child, rest) for child, rest in inside.items()}
    return {
        "name": name,
        "value": sum(count for _, count in paths),
        "children": list(children.values()),
    }
