"""The requests for what Python functions do now: flame graphs, stacks, the current elements."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    CONFLICT,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.server.rest.task import task_of
from pyflink_on_spark._operate.view.jobs import OperatedJob, OperatedJobs
from pyflink_on_spark._runtime.task.stacks import Samples, Stack

_SAMPLES, _PAUSE_SECONDS = 50, 0.02
_FRESH_SECONDS = 5.0
_Found = tuple[float, int, list[Samples]]


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


def _tree(name: str, paths: list[tuple[tuple[str, ...], int]]) -> dict[str, Any]:
    inside: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for path, count in paths:
        if path:
            inside.setdefault(path[0], []).append((path[1:], count))
    children: Mapping[str, Any] = {child: _tree(child, rest) for child, rest in inside.items()}
    return {
        "name": name,
        "value": sum(count for _, count in paths),
        "children": list(children.values()),
    }
