"""The requests for the state of a job: how much there is of it."""

from __future__ import annotations

import threading
from dataclasses import asdict

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._operate.server.rest.routing import Answer, Request, Router
from pyflink_on_spark._operate.view.jobs import OperatedJob, OperatedJobs
from pyflink_on_spark._operate.view.recent import MINUTES, RecentFigures
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)


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
