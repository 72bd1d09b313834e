"""The requests for metrics."""

from __future__ import annotations

import resource
import threading
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from pyflink_on_spark._operate.metrics import (
    OPERATOR,
    TASK,
    Sample,
    job_metrics,
    samples_of,
)
from pyflink_on_spark._operate.server.rest.overview import slots_of
from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    NOT_FOUND,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.server.rest.task import task_of
from pyflink_on_spark._operate.view.jobs import TASK_MANAGER, OperatedJobs

Value = float | int | str
_AGGREGATES = ("min", "max", "avg", "sum")
_WATERMARKS = ("currentInputWatermark", "currentOutputWatermark")


class MetricsRoutes:
    """Answers the requests for metrics: their names, or with ``get`` the values of some.

    Args:
        jobs: the jobs.
    """

    def __init__(self, jobs: OperatedJobs) -> None:
        self._jobs = jobs

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobs/metrics", self.of_jobs)
        router.add("GET", "/jobs/:job_id/metrics", self.of_job)
        router.add("GET", "/jobs/:job_id/vertices/:task_id/metrics", self.of_task)
        router.add("GET", "/jobs/:job_id/vertices/:task_id/subtasks/metrics", self.of_subtasks)
        router.add("GET", "/jobs/:job_id/vertices/:task_id/watermarks", self.watermarks)
        router.add(
            "GET", "/jobs/:job_id/vertices/:task_id/subtasks/:subtask/metrics", self.of_subtask
        )
        router.add(
            "GET", "/jobs/:job_id/vertices/:task_id/jm-operator-metrics", self.of_coordinator
        )
        router.add("GET", "/jobmanager/metrics", self.of_process)
        router.add("GET", "/taskmanagers/metrics", self.of_task_managers)
        router.add("GET", "/taskmanagers/:name/metrics", self.of_task_manager)

    def of_job(self, request: Request, job_id: str) -> Answer:
        """Return the metrics of a job."""
        return Answer(_chosen(request, job_metrics(self._jobs.get(job_id))))

    def of_jobs(self, request: Request) -> Answer:
        """Return the metrics, aggregated over the running jobs."""
        chosen = request.query.get("jobs")
        wanted = None if chosen is None else chosen.split(",")
        by_name: dict[str, dict[int, Value]] = defaultdict(dict)
        for number, job in enumerate(self._jobs.running()):
            if wanted is None or job.id in wanted:
                for name, value in job_metrics(job).items():
                    by_name[name][number] = value
        return _over(request, by_name)

    def of_task(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return the metrics of a task's subtasks, each name after the subtask's number."""
        found = {
            f"{subtask}.{name}": value
            for name, values in self._by_name(job_id, task_id).items()
            for subtask, value in values.items()
        }
        return Answer(_chosen(request, found))

    def of_subtask(self, request: Request, job_id: str, task_id: str, subtask: str) -> Answer:
        """Return the metrics of one subtask."""
        found = {
            name: values[int(subtask)]
            for name, values in self._by_name(job_id, task_id).items()
            if subtask.isdecimal() and int(subtask) in values
        }
        if not found:
            raise RestError(NOT_FOUND, f"There are no metrics of a subtask {subtask} of {task_id}.")
        return Answer(_chosen(request, found))

    def of_process(self, request: Request) -> Answer:
        """Return the metrics of the driver."""
        return Answer(_chosen(request, self._process_metrics()))

    def of_task_managers(self, request: Request) -> Answer:
        """The metrics over the task managers, of which there is one."""
        return _over(request, {name: {0: value} for name, value in self._slots().items()})

    def of_task_manager(self, request: Request, name: str) -> Answer:
        """Return the metrics of the task manager."""
        if name != TASK_MANAGER:
            raise RestError(NOT_FOUND, f"There is no task manager {name}.")
        return Answer(_chosen(request, self._slots()))

    def _slots(self) -> dict[str, Value]:
        slots = sum(slots_of(job) for job in self._jobs.running())
        return {"taskSlotsTotal": slots, "taskSlotsAvailable": 0}

    def _process_metrics(self) -> dict[str, Value]:
        used = resource.getrusage(resource.RUSAGE_SELF)
        return {
            "numRegisteredTaskManagers": 1,
            "numRunningJobs": len(self._jobs.running()),
            **self._slots(),
            "Status.Process.CPU.Time": round((used.ru_utime + used.ru_stime) * 1e9),
            "Status.Process.Memory.MaxResident": used.ru_maxrss * 1024,
            "Status.Process.Threads.Count": threading.active_count(),
        }

    def of_coordinator(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return the metrics of a task's coordinators in the driver: there are none."""
        task_of(self._jobs.get(job_id), task_id)
        return Answer([])

    def watermarks(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return the watermark of each subtask."""
        by_name = self._by_name(job_id, task_id)
        values: Mapping[int, Value] = next(
            (by_name[name] for name in _WATERMARKS if name in by_name), {}
        )
        return Answer(
            [
                {"id": f"{subtask}.{_WATERMARKS[0]}", "value": str(value)}
                for subtask, value in sorted(values.items())
            ]
        )

    def of_subtasks(self, request: Request, job_id: str, task_id: str) -> Answer:
        """Return the metrics, aggregated over the subtasks: smallest, largest, mean and sum."""
        by_name = self._by_name(job_id, task_id)
        subtasks = request.query.get("subtasks")
        if subtasks is not None:
            kept = set(subtasks.split(","))
            by_name = {
                name: {index: value for index, value in values.items() if str(index) in kept}
                for name, values in by_name.items()
            }
        return _over(request, by_name)

    def _by_name(self, job_id: str, task_id: str) -> dict[str, dict[int, Value]]:
        """Return the metrics of a task by name, then by subtask."""
        job = self._jobs.get(job_id)
        task = task_of(job, task_id)
        found: dict[str, dict[int, Value]] = defaultdict(dict)
        for sample in samples_of(job):
            if sample.scope in {TASK, OPERATOR} and sample.labels["task_id"] == task.id:
                found[_name(sample)][int(sample.labels["subtask_index"])] = sample.value
        return found


def _over(request: Request, by_name: Mapping[str, Mapping[int, Value]]) -> Answer:
    """Return the names of metrics, or what those asked for are over all of their owners."""
    if "get" not in request.query:
        return Answer([{"id": name} for name in sorted(by_name)])
    wanted = [name for name in request.query.get("agg", "").split(",") if name]
    unknown = set(wanted) - set(_AGGREGATES)
    if unknown:
        raise RestError(BAD_REQUEST, f"agg takes {', '.join(_AGGREGATES)}, not {unknown.pop()}")
    return Answer(
        [
            {"id": name, **_aggregates(by_name[name], wanted or _AGGREGATES)}
            for name in request.query["get"].split(",")
            if name in by_name
        ]
    )


def _name(sample: Sample) -> str:
    """Return a metric's name below its task: that of an operator follows the operator's name."""
    if sample.scope == TASK:
        return sample.name
    return f"{sample.labels['operator_name']}.{sample.name}"


def _chosen(request: Request, metrics: Mapping[str, Value]) -> list[dict[str, object]]:
    if "get" not in request.query:
        return [{"id": name} for name in metrics]
    wanted = request.query["get"].split(",")
    return [{"id": name, "value": str(metrics[name])} for name in wanted if name in metrics]


def _aggregates(values: Mapping[int, Value], wanted: Any) -> dict[str, float]:
    numbers = [value for value in values.values() if not isinstance(value, str)]
    if not numbers:
        return {}
    total = sum(numbers)
    every = {
        "min": min(numbers), "max": max(numbers), "avg": total / len(numbers), "sum": total
    }  # fmt: skip
    return {name: every[name] for name in wanted}
