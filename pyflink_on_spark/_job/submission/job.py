"""A job as an engine gets it, and what an engine is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Protocol

from pyflink_on_spark._compat import registry
from pyflink_on_spark._graph.stream_graph import StreamGraph
from pyflink_on_spark._job.submission.history import JobHistory
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.plan import (
    JobSettings,
    OperatorChainPlan,
    OperatorPlan,
    StagePlan,
)
from pyflink_on_spark._runtime.diagnosis.function_log import LOGS, DriverLog
from pyflink_on_spark._runtime.metrics.accumulators import METRICS, Accumulators
from pyflink_on_spark._runtime.task.progress import JobProgress


@dataclass(frozen=True)
class Job:
    """A translated job.

    Args:
        name: for people.
        settings: what every subtask knows.
        stages: the plan; each stage reads what earlier stages emit.
        sinks: the sinks by number, for the driver's commits.
        printers: for each channel to the driver, what is done there with what arrives; that of the
            metrics is added.
        collected: the name of the channel that the driver's program iterates, if any.
        bounded: whether every source ends.
        attached: whether the program waits for the end before it does anything else.
        graph: what it was translated from, for those who show it.
        listeners: called with each report on the job's progress.
        accumulators: the values of its functions' metrics, as they are reported.
        history: what has happened to it.
    """

    name: str
    settings: JobSettings
    stages: tuple[StagePlan, ...]
    sinks: Mapping[int, Sink] = field(default_factory=dict)
    printers: Mapping[str, Callable[[list[Any]], None]] = field(default_factory=dict)
    collected: str | None = None
    bounded: bool = True
    attached: bool = False
    graph: StreamGraph | None = field(default=None, repr=False, compare=False)
    listeners: tuple[Callable[[JobProgress], None], ...] = ()
    accumulators: Accumulators = field(default_factory=Accumulators, repr=False, compare=False)
    history: JobHistory = field(default_factory=JobHistory, repr=False, compare=False)

    def __post_init__(self) -> None:
        printers: dict[str, Callable[[list[Any]], None]] = {
            **self.printers,
            METRICS: self.accumulators.add,
            LOGS: DriverLog(self.settings.configuration),
        }
        object.__setattr__(self, "printers", printers)

    def maintain_sources(self, oldest_checkpoint: int | None) -> None:
        """Let the job's sources look after what they began in the driver.

        Args:
            oldest_checkpoint: the number of the oldest checkpoint that is kept, if there is one.

        Raises:
            BaseException: what ends the attempt.
        """
        for source in self._sources():
            source.maintain(oldest_checkpoint)

    def begins_again(self) -> None:
        """Let the job's sources begin again what has failed; before each attempt but the first."""
        for source in self._sources():
            source.begin_again()

    def ended(self, resumable: bool) -> None:
        """Release what sources and sinks have in the driver; once, however the job has ended.

        Args:
            resumable: whether a checkpoint or savepoint remains, from which a job can start.

        Raises:
            BaseException: the error of one of them, after all have been called.
        """
        with ExitStack() as ends:
            for source in self._sources():
                ends.callback(source.job_ended, resumable)
            for sink in self.sinks.values():
                ends.callback(sink.job_ended)

    def operators(self) -> Iterator[OperatorPlan]:
        """Iterate over all operators."""
        for chain in self._chains():
            yield from chain.operators

    def _sources(self) -> Iterator[Source]:
        for chain in self._chains():
            if chain.source is not None:
                yield chain.source

    def _chains(self) -> Iterator[OperatorChainPlan]:
        for stage in self.stages:
            for vertex in stage.vertices:
                yield from vertex.chains


class JobHandle(Protocol):
    """A submitted job; also what a ``JobClient`` is a view of."""

    job_id: str

    def collected(self) -> Iterator[Any]:
        """Iterate over what the job collects, as it comes; closing it ends the job."""
        ...

    def result(self) -> Any:
        """Wait for the end; return a JobExecutionResult or raise."""
        ...


class Engine(Protocol):
    """What runs jobs."""

    def submit(self, job: Job) -> JobHandle:
        """Start a job."""
        ...


_installed: list[Engine] = []


def install_engine(engine: Engine | None) -> None:
    """Make an engine the one that runs jobs; None for Spark, the default."""
    _installed[:] = [] if engine is None else [engine]


def installed_engine() -> Engine | None:
    """Return the engine that runs jobs, or None if none was chosen or needed so far."""
    return _installed[0] if _installed else None


def runs_nothing() -> bool:
    """Whether the engine only looks at jobs, so that no source need be there."""
    return bool(_installed) and getattr(_installed[0], "runs_nothing", False)


def current_engine() -> Engine:
    """Return the engine that runs jobs; Spark is loaded when it is first needed."""
    if not _installed:
        _installed.append(registry.load("engine"))
    return _installed[0]
