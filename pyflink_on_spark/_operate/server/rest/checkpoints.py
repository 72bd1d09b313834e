"""The requests about a job's checkpoints."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import asdict

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._job.checkpoints.checkpoint_settings import CheckpointSettings
from pyflink_on_spark._job.job import COMPLETED, FAILED, CheckpointRecord
from pyflink_on_spark._operate.server.rest.overview import subtasks_of
from pyflink_on_spark._operate.server.rest.routing import (
    BAD_REQUEST,
    NOT_FOUND,
    Answer,
    Request,
    RestError,
    Router,
)
from pyflink_on_spark._operate.server.rest.task import task_of
from pyflink_on_spark._operate.view.jobs import JobTask, OperatedJob, OperatedJobs
from pyflink_on_spark._options import checkpointing as options
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    find_checkpoint,
    read_metadata,
    read_states,
)


class CheckpointsRoutes:
    """Answers the requests about checkpoints.

    Args:
        jobs: the jobs.
    """

    def __init__(self, jobs: OperatedJobs) -> None:
        self._jobs = jobs

    def add_to(self, router: Router) -> None:
        """Add the routes."""
        router.add("GET", "/jobs/:job_id/checkpoints", self.statistics)
        router.add("GET", "/jobs/:job_id/checkpoints/config", self.config)
        router.add("GET", "/jobs/:job_id/checkpoints/details/:number", self.details)
        router.add(
            "GET", "/jobs/:job_id/checkpoints/details/:number/subtasks/:task_id", self.subtasks
        )

    def statistics(self, request: Request, job_id: str) -> Answer:
        """Return counts, summary, the latest ones and the history."""
        job = self._jobs.get(job_id)
        history, records = job.history, job.history.checkpoints
        failed = next((c for c in reversed(records) if c.status == FAILED), None)
        latest = {
            "completed": _told(job, history.last_completed(savepoint=False)),
            "savepoint": _told(job, history.last_completed(savepoint=True)),
            "failed": _told(job, failed),
            "restored": _restored(history.restored),
        }
        completed = [c for c in records if c.status == COMPLETED]
        sizes, durations = [c.size for c in completed], [_duration(c) for c in completed]
        none: list[int] = []
        return Answer(
            {
                "counts": asdict(history.counts),
                "summary": {
                    "checkpointed_size": _summary(sizes),
                    "state_size": _summary(sizes),
                    "end_to_end_duration": _summary(durations),
                    "alignment_buffered": _summary(none),
                    "processed_data": _summary(none),
                    "persisted_data": _summary(none),
                },
                "latest": latest,
                "history": [_told(job, record) for record in reversed(records)],
            }
        )

    def config(self, request: Request, job_id: str) -> Answer:
        """Return how checkpoints are made."""
        values = self._jobs.get(job_id).job.settings.configuration
        settings = CheckpointSettings.of(values)
        return Answer(
            {
                "mode": str(options.MODE.read(values)).lower(),
                "interval": settings.interval or 0,
                "timeout": settings.timeout,
                "min_pause": settings.minimum_pause,
                "max_concurrent": 1,
                "externalization": {
                    "enabled": settings.directory is not None,
                    "delete_on_cancellation": not settings.kept_when_cancelled,
                },
                "state_backend": "PythonObjects",
                "checkpoint_storage": (
                    "JobManagerCheckpointStorage"
                    if settings.directory is None
                    else "FileSystemCheckpointStorage"
                ),
                "unaligned_checkpoints": False,
                "tolerable_failed_checkpoints": settings.tolerable_failures,
                "aligned_checkpoint_timeout": 0,
                "checkpoints_after_tasks_finish": True,
                "state_changelog_enabled": settings.materialize_interval is not None,
                "changelog_periodic_materialization_interval": settings.materialize_interval or 0,
                "changelog_storage": "",
            }
        )

    def details(self, request: Request, job_id: str, number: str) -> Answer:
        """Return one checkpoint; with its tasks as long as its files are there."""
        job = self._jobs.get(job_id)
        record = _numbered(job, number)
        sizes = _sizes(job, record)
        tasks = {
            task.id: {"id": task.id, **_part(record, sum(sizes_of(task, sizes)), task.parallelism)}
            for task in job.tasks
            if sizes is not None
        }
        return Answer({**(_told(job, record) or {}), "tasks": tasks})

    def subtasks(self, request: Request, job_id: str, number: str, task_id: str) -> Answer:
        """Return the state of each subtask of a task in a checkpoint.

        Hosts answer for all their subtasks at once, so all have the times of the checkpoint.
        """
        job = self._jobs.get(job_id)
        task, record = task_of(job, task_id), _numbered(job, number)
        sizes = _sizes(job, record)
        if sizes is None:
            raise RestError(NOT_FOUND, f"The files of checkpoint {number} are not there any more.")
        by_subtask = sizes_of(task, sizes)
        told = _part(record, sum(by_subtask), task.parallelism)
        durations = [_duration(record)] * task.parallelism
        summary = {
            "state_size": _summary(by_subtask),
            "checkpointed_size": _summary(by_subtask),
            "end_to_end_duration": _summary(durations),
            "checkpoint_duration": {"sync": _summary([]), "async": _summary([])},
            "alignment": {
                name: _summary([]) for name in ("buffered", "processed", "persisted", "duration")
            },
            "start_delay": _summary([]),
        }
        subtasks = [
            {
                "index": index,
                "status": "completed" if record.status == COMPLETED else "pending",
                "ack_timestamp": record.ended or -1,
                "end_to_end_duration": _duration(record),
                "state_size": size,
                "checkpointed_size": size,
                "checkpoint": {"sync": -1, "async": -1},
                "alignment": {"buffered": 0, "processed": 0, "persisted": 0, "duration": -1},
                "start_delay": -1,
                "unaligned_checkpoint": False,
                "aborted": record.status == FAILED,
            }
            for index, size in enumerate(by_subtask)
        ]
        return Answer({"id": record.number, **told, "summary": summary, "subtasks": subtasks})


def _numbered(job: OperatedJob, number: str) -> CheckpointRecord:
    if not number.isdecimal():
        raise RestError(BAD_REQUEST, f"The number of a checkpoint is no {number!r}.")
    for record in job.history.checkpoints:
        if record.number == int(number):
            return record
    raise RestError(NOT_FOUND, f"Could not find checkpoint with id {number}.")


def _sizes(job: OperatedJob, record: CheckpointRecord) -> dict[str, dict[int, int]] | None:
    """The bytes of each operator by subtask; None for a checkpoint whose files are gone."""
    if record.status != COMPLETED or not record.path:
        return None
    try:
        place = find_checkpoint(record.path, job.job.settings.configuration)
        whole = read_states(place, read_metadata(place))
    except (CheckpointError, OSError):
        return None
    return {
        name: {index: part.size for index, part in parts.items()}
        for name, parts in whole.operators.items()
    }


def sizes_of(task: JobTask, sizes: Mapping[str, Mapping[int, int]] | None) -> list[int]:
    """The bytes of each subtask of a task.

    Args:
        task: the task.
        sizes: those of operators by subtask.
    """
    mine = [(sizes or {}).get(plan.state_id or "", {}) for plan in task.operators]
    return [sum(each.get(index, 0) for each in mine) for index in range(task.parallelism)]


def _part(record: CheckpointRecord, size: int, subtasks: int) -> dict[str, object]:
    return {
        "status": record.status,
        "latest_ack_timestamp": record.ended or -1,
        "checkpointed_size": size,
        "state_size": size,
        "end_to_end_duration": _duration(record),
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": subtasks,
        "num_acknowledged_subtasks": subtasks if record.status == COMPLETED else 0,
    }


def _told(job: OperatedJob, record: CheckpointRecord | None) -> dict[str, object] | None:
    if record is None:
        return None
    subtasks = subtasks_of(job)
    told: dict[str, object] = {
        "className": record.status.lower(),
        "id": record.number,
        "status": record.status,
        "is_savepoint": record.savepoint,
        "savepointFormat": "CANONICAL" if record.savepoint else None,
        "trigger_timestamp": record.triggered,
        "latest_ack_timestamp": record.ended or -1,
        "checkpointed_size": record.size,
        "state_size": record.size,
        "end_to_end_duration": _duration(record),
        "alignment_buffered": 0,
        "processed_data": 0,
        "persisted_data": 0,
        "num_subtasks": subtasks,
        "num_acknowledged_subtasks": subtasks if record.status == COMPLETED else 0,
        "checkpoint_type": "SAVEPOINT" if record.savepoint else "CHECKPOINT",
        "tasks": {},
    }
    if record.status == COMPLETED:
        told |= {"external_path": record.path or "<checkpoint-not-externally-addressable>"}
        told |= {"discarded": False}
    if record.status == FAILED:
        told |= {"failure_timestamp": record.ended, "failure_message": record.error}
    return told


def _restored(record: CheckpointRecord | None) -> dict[str, object] | None:
    if record is None:
        return None
    return {
        "id": record.number,
        "restore_timestamp": record.triggered,
        "is_savepoint": record.savepoint,
        "external_path": record.path,
    }


def _duration(record: CheckpointRecord) -> int:
    return 0 if record.ended is None else record.ended - record.triggered


def _summary(values: Iterable[int]) -> dict[str, int | str]:
    found = sorted(values)
    names = ("p50", "p90", "p95", "p99", "p999")
    if not found:
        return {"min": 0, "max": 0, "avg": 0, **dict.fromkeys(names, "NaN")}
    shares = (0.5, 0.9, 0.95, 0.99, 0.999)
    return {
        "min": found[0],
        "max": found[-1],
        "avg": round(statistics.fmean(found)),
        **{n: found[round(s * (len(found) - 1))] for n, s in zip(names, shares, strict=True)},
    }
