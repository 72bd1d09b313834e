"""The jobs of this process that can be operated, their tasks and recent figures, and lost jobs."""

from __future__ import annotations

import functools
import hashlib
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._job.job import Job, JobHistory
from pyflink_on_spark._operate.view.job_records import LOST, JobRecord
from pyflink_on_spark._options.checkpointing import DIRECTORY
from pyflink_on_spark._runtime.checkpoints.checkpoint import latest_checkpoint
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, folder
from pyflink_on_spark._runtime.contract.plan import (
    ExchangePlan,
    LocalPlan,
    OperatorPlan,
    VertexPlan,
    chain_name,
)
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress, TaskProgress
from pyflink_on_spark.common import JobStatus

Place = tuple[int, int]
"""The number of a vertex's first subtask, and of the chain in it."""
INITIALIZING = "INITIALIZING"
"""The state of a job whose processes open functions and restore state."""
TASK_MANAGER = "driver"
"""The name of the only task manager that tools see: hosts come and go with a job's attempts."""
_KEPT = 50
MINUTES = 15
_SECONDS = 5.0
_KEPT_JOBS = round(60 * MINUTES / _SECONDS)


@dataclass(frozen=True)
class TaskEdge:
    """An edge that ends in a task.

    Args:
        source: the id of the task that it comes from.
        strategy: how elements are spread, for people.
    """

    source: str
    strategy: str


@dataclass(frozen=True)
class JobTask:
    """A chain of operators.

    Args:
        id: 32 hexadecimal digits, the same in each run of a script.
        name: the names of its operators.
        parallelism: how many subtasks.
        max_parallelism: how many key groups.
        operators: first to last.
        has_source: whether it begins with a source.
        inputs: the edges that end in it.
    """

    id: str
    name: str
    parallelism: int
    max_parallelism: int
    operators: tuple[OperatorPlan, ...]
    has_source: bool
    inputs: tuple[TaskEdge, ...]


def tasks_of(job: Job) -> tuple[JobTask, ...]:
    """Return the tasks of a job, in the order of the flow."""
    places = list(_places(job))
    ids = {place: _id(number, chain_name(*place_of)) for number, place, place_of in places}
    edges = _edges(job, ids)
    return tuple(
        _task(vertex, chain, ids[place], edges.get(place, ()))
        for _, place, (vertex, chain) in places
    )


def _places(job: Job) -> Iterator[tuple[int, Place, tuple[VertexPlan, int]]]:
    number = 0
    for stage in job.stages:
        for vertex in stage.vertices:
            for chain in range(len(vertex.chains)):
                yield number, (vertex.first_subtask_id, chain), (vertex, chain)
                number += 1


def _edges(job: Job, ids: dict[Place, str]) -> dict[Place, tuple[TaskEdge, ...]]:
    receivers = {
        channel.exchange.first_channel: (vertex.first_subtask_id, channel.chain)
        for stage in job.stages
        for vertex in stage.vertices
        for channel in vertex.inputs
    }
    found: dict[Place, tuple[TaskEdge, ...]] = {}
    for _, place, (vertex, chain) in _places(job):
        for output in vertex.chains[chain].outputs:
            edge = output.edge
            target = (
                (vertex.first_subtask_id, edge.chain)
                if isinstance(edge, LocalPlan)
                else receivers[edge.first_channel]
            )
            found[target] = (*found.get(target, ()), TaskEdge(ids[place], _strategy(edge)))
    return found


def _strategy(edge: LocalPlan | ExchangePlan) -> str:
    if isinstance(edge, LocalPlan):
        return "FORWARD"
    name = type(edge.partitioner).__name__.removesuffix("Partitioner")
    return "HASH" if edge.keyed else name.upper()


def _task(vertex: VertexPlan, chain: int, task_id: str, inputs: tuple[TaskEdge, ...]) -> JobTask:
    plan = vertex.chains[chain]
    return JobTask(
        task_id,
        chain_name(vertex, chain),
        vertex.parallelism,
        max((operator.max_parallelism for operator in plan.operators), default=128),
        plan.operators,
        plan.source is not None,
        inputs,
    )


def _id(number: int, name: str) -> str:
    return hashlib.md5(f"{number} {name}".encode(), usedforsecurity=False).hexdigest()


class OperableHandle(Protocol):
    """The methods of an engine's job handle that the operation of jobs uses."""

    def status(self) -> JobStatus:
        """Return where the job is in its life."""
        ...

    def accumulators(self) -> dict[str, object]:
        """Return the accumulators by name."""
        ...

    def result(self) -> object:
        """Wait for the end; return the result, or raise what the job failed with."""
        ...

    def cancel(self) -> None:
        """End the job and wait until it has ended."""
        ...

    def interrupt(self) -> None:
        """End the job as if its process was killed, and wait until it has ended."""
        ...

    def trigger_savepoint(self, savepoint_directory: str | None) -> str:
        """Write a savepoint; return its path."""
        ...

    def stop_with_savepoint(
        self, advance_to_end_of_event_time: bool, savepoint_directory: str | None
    ) -> str:
        """Write a savepoint and end the job; return the savepoint's path."""
        ...


class OperatedJob:
    """A job with its handle.

    Args:
        job: the job.
        handle: the engine's.
    """

    def __init__(self, job: Job, handle: OperableHandle) -> None:
        self.job, self.handle = job, handle

    @property
    def id(self) -> str:
        """32 hexadecimal digits."""
        return self.job.settings.job_id

    @property
    def history(self) -> JobHistory:
        """The history of the job."""
        return self.job.history

    @property
    def status(self) -> JobStatus:
        """The status of the job."""
        return self.handle.status()

    @property
    def state(self) -> str:
        """The status of the job, or the state that PyFlink's ``JobStatus`` lacks."""
        status = self.status
        if status is JobStatus.CREATED and self.history.initialized is not None:
            return INITIALIZING
        return status.name

    @property
    def since(self) -> int:
        """The time when the job got its present state, in ms since the epoch."""
        return self.timestamps[self.state] or self.started

    @property
    def timestamps(self) -> dict[str, int]:
        """The time of the last change to each state, in ms since the epoch; 0 for never."""
        times = self.history.times
        begun = {INITIALIZING: self.history.initialized or 0}
        return begun | {status.name: times.get(status, 0) for status in JobStatus}

    @functools.cached_property
    def tasks(self) -> tuple[JobTask, ...]:
        """The chains of the job."""
        return tasks_of(self.job)

    @property
    def over(self) -> bool:
        """True once the job has ended."""
        return self.status.is_globally_terminal_state()

    @property
    def started(self) -> int:
        """The time of the submission, in ms since the epoch."""
        return self.history.times[JobStatus.CREATED]

    @property
    def ended(self) -> int | None:
        """The time of the end, in ms since the epoch; None while the job runs."""
        return self.history.times.get(self.status) if self.over else None

    @property
    def duration(self) -> int:
        """The duration of the job so far, in ms."""
        ended = self.ended
        return (round(time.time() * 1000) if ended is None else ended) - self.started

    @property
    def progress(self) -> JobProgress | None:
        """The progress of the job; None before the first report, and for a job in BATCH mode."""
        progress: JobProgress | None = getattr(self.handle, "progress", None)
        return progress

    @property
    def parts(self) -> Sequence[TaskProgress]:
        """The progress of each chain of each subtask."""
        parts: Sequence[TaskProgress] = getattr(self.handle, "parts", ())
        return parts


class UnknownJob(PyFlinkOnSparkError):
    """This process has no job with the id that was asked for."""


class OperatedJobs:
    """The jobs by id, the oldest first; of those that have ended the last ones."""

    def __init__(self) -> None:
        self._jobs: OrderedDict[str, OperatedJob] = OrderedDict()
        self._lock = threading.Lock()

    def add(self, job: OperatedJob) -> None:
        """Take in a job."""
        with self._lock:
            self._jobs[job.id] = job
            ended = [job_id for job_id, each in self._jobs.items() if each.over]
            for job_id in ended[:-_KEPT]:
                del self._jobs[job_id]

    def all(self) -> list[OperatedJob]:
        """Return all jobs."""
        with self._lock:
            return list(self._jobs.values())

    def get(self, job_id: str) -> OperatedJob:
        """Return a job.

        Raises:
            UnknownJob: there is no such job.
        """
        with self._lock:
            job = self._jobs.get(job_id)
        if job is None:
            raise UnknownJob(f"Job {job_id} not found")
        return job

    def running(self) -> list[OperatedJob]:
        """Return the jobs that have not ended."""
        return [job for job in self.all() if not job.over]


def checkpoint_of_lost(archived: Mapping[str, Any]) -> str | None:
    """The path of the latest complete checkpoint of a job, or of the one that it began with.

    What a killed driver has told last is some seconds old, and a checkpoint of that time may be
    replaced by now. So the folder is looked at. None if nothing is found.

    Args:
        archived: what was kept of the job.
    """
    config = archived.get("/config", {})
    options = config.get("execution-config", {}).get("user-config", {})
    directory = DIRECTORY.read(options)
    restored = archived.get("/checkpoints", {}).get("latest", {}).get("restored")
    first = None if restored is None else restored["external_path"]
    try:
        home = folder(f"{directory}/{config['jid']}") if directory else None
        found = None if home is None else latest_checkpoint(home.uri) or _query_in(home)
    except Exception:  # noqa: BLE001 - a file system may raise anything, and needs a configuration
        return None
    return found or first


def _query_in(home: Folder) -> str | None:
    """The URI of the folder of a job if it is that of a query with a complete micro-batch."""
    commits = home.inside("query").inside("commits").names()
    return home.uri if any(name.isdecimal() for name in commits) else None


def with_loss(path: str, kept: Any, record: JobRecord, archived: Mapping[str, object]) -> object:
    """An answer about a job that was kept; failures begin with the loss of the driver.

    Args:
        path: what follows ``/jobs/:id``.
        kept: the answer.
        record: the job's.
        archived: all that was kept of the job.
    """
    if path != "/exceptions" or record.state != LOST:
        return kept
    found = checkpoint_of_lost(archived)
    then = (
        f". `run -s {found} SCRIPT` continues from its latest checkpoint"
        if found
        else "; no complete checkpoint was found"
    )
    loss = {
        "exceptionName": record.cause,
        "stacktrace": f"{record.cause}: it was killed, or its machine was lost{then}",
        "timestamp": record.ended,
    }
    history = kept["exceptionHistory"]
    told = {"root-exception": loss["stacktrace"], "timestamp": record.ended}
    entries = [loss, *history["entries"]]
    return {**kept, **told, "exceptionHistory": {**history, "entries": entries}}


@dataclass(frozen=True)
class Figures:
    """Figures of a job at a moment; those that are not known are None.

    Args:
        time: in ms since the epoch.
        records_per_second: of all sources.
        backlog: of all sources.
        lag: of the lowest watermark after the clock, in s.
        busy: the share of its time in which the busiest task works, in percent.
        state: entries of keyed state.
        checkpoint: the duration of the last checkpoint, in ms.
    """

    time: int
    records_per_second: float
    backlog: int | None
    lag: float | None
    busy: float
    state: int
    checkpoint: int | None


def figures_of(job: OperatedJob, now: float) -> Figures | None:
    """The figures of a job; None before its first report.

    Args:
        job: the job.
        now: in s since the epoch.
    """
    progress = job.progress
    if progress is None:
        return None
    sources = {task.name for task in job.tasks if task.has_source}
    reading = [part for part in progress.tasks if part.name in sources]
    backlogs = [part.backlog for part in reading if part.backlog is not None]
    marks = [part.watermark for part in progress.tasks if part.watermark is not None]
    behind = [now - mark / 1000 for mark in marks if mark < MAX_WATERMARK]
    last = job.history.last_completed(savepoint=False)
    return Figures(
        round(now * 1000),
        sum(part.records_per_second for part in reading),
        sum(backlogs) if backlogs else None,
        max(behind, default=None),
        100 * max((part.busy_share for part in progress.tasks), default=0.0),
        sum(part.state_entries for part in progress.tasks),
        None if last is None or last.ended is None else last.ended - last.triggered,
    )


class RecentFigures:
    """Keeps the figures of running jobs.

    Args:
        jobs: the jobs.
        now: the time, in s since the epoch.
    """

    def __init__(self, jobs: OperatedJobs, now: Callable[[], float] = time.time) -> None:
        self._jobs, self._now = jobs, now
        self._kept: dict[str, deque[Figures]] = {}
        self._started = False

    def start(self) -> None:
        """Look at the jobs from now on, in a thread."""
        if not self._started:
            self._started = True
            threading.Thread(target=self._watch, name="figures", daemon=True).start()

    def of(self, job_id: str) -> list[Figures]:
        """The figures of a job, the oldest first."""
        return list(self._kept.get(job_id, ()))

    def look(self) -> None:
        """Take the figures of all jobs that run."""
        known = {job.id for job in self._jobs.all()}
        for gone in self._kept.keys() - known:
            del self._kept[gone]
        for job in self._jobs.running():
            figures = figures_of(job, self._now())
            if figures is not None:
                self._kept.setdefault(job.id, deque(maxlen=_KEPT_JOBS)).append(figures)

    def _watch(self) -> None:
        pause = threading.Event()
        while not pause.wait(_SECONDS):
            self.look()
