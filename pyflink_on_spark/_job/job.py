"""A job as an engine gets it: made from a graph and a configuration, and what an engine is.

A program's own settings win over both.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pyflink_on_spark._compat import registry
from pyflink_on_spark._graph.physical_graph import (
    PhysicalNode,
    build_physical_graph,
    demand_uids,
    place_sinks,
    plan_stages,
)
from pyflink_on_spark._graph.stream_graph import GraphSettings, StreamGraph, Transformation
from pyflink_on_spark._options import flink
from pyflink_on_spark._options.checkpointing import INTERVAL
from pyflink_on_spark._options.flink import AUTO_WATERMARK_INTERVAL
from pyflink_on_spark._options.option import option_text, parse_yaml
from pyflink_on_spark._options.own import CHECKPOINT_ELEMENTS, WATERMARK_INTERVAL_ELEMENTS
from pyflink_on_spark._options.python import BUNDLE_SIZE, BUNDLE_TIME
from pyflink_on_spark._options.registry import family_reason, find_option
from pyflink_on_spark._options.secrets import masked_text
from pyflink_on_spark._runtime.contract.connector import Sink, Source
from pyflink_on_spark._runtime.contract.plan import (
    JobSettings,
    OperatorChainPlan,
    OperatorPlan,
    StagePlan,
)
from pyflink_on_spark._runtime.diagnosis import LOGS, DriverLog, gist_of
from pyflink_on_spark._runtime.elements.time import Clock, SystemClock, WatermarkRhythm
from pyflink_on_spark._runtime.metrics import METRICS, Accumulators
from pyflink_on_spark._runtime.operators.stateless import SinkOperator
from pyflink_on_spark._runtime.task.subtask_threads import JobProgress
from pyflink_on_spark._runtime.user_code import capture_classes
from pyflink_on_spark.common import JobStatus

if TYPE_CHECKING:
    from pyflink_on_spark._compat.own_frames import CallSite
    from pyflink_on_spark._runtime.contract.operator import SendItems
    from pyflink_on_spark.common.job_execution_result import JobOutcome


FOLDER_VARIABLE = "FLINK_CONF_DIR"
"""The environment variable that names the folder of the file, as for Flink."""
_NAMES = ("config.yaml", "flink-conf.yaml")
_log = logging.getLogger("pyflink_on_spark")
_base: dict[str, str] = {}
IN_PROGRESS, COMPLETED, FAILED = "IN_PROGRESS", "COMPLETED", "FAILED"
_KEPT = 50
_installed: list[Engine] = []


def read_configuration_folder(folder: Path) -> dict[str, str]:
    """Return the options of the configuration file in a folder.

    Args:
        folder: has a ``config.yaml``, or else a ``flink-conf.yaml``.

    Raises:
        ValueError: there is no such file, or it cannot be read.
    """
    for name in _NAMES:
        file = folder / name
        if file.is_file():
            return _read_file(file)
    raise ValueError(
        f"{FOLDER_VARIABLE} is {folder}, and there is no {' and no '.join(_NAMES)} in it"
    )


def _read_file(file: Path) -> dict[str, str]:
    try:
        text = file.read_text(encoding="utf-8")
        return dict(_lines(text) if file.name == _NAMES[1] else _flat("", _tree(text)))
    except (OSError, ValueError) as error:
        raise ValueError(f"cannot read {file}: {error}") from error


def _tree(text: str) -> Mapping[object, object]:
    tree = parse_yaml(text)
    if tree is None:
        return {}
    if not isinstance(tree, Mapping):
        raise ValueError("it is not a map of options")
    return tree


def _flat(prefix: str, tree: Mapping[object, object]) -> Iterator[tuple[str, str]]:
    """Yield the options of a tree of maps; their keys have a dot for each step."""
    for name, value in tree.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            yield from _flat(f"{key}.", value)
        elif value is None:
            raise ValueError(f"the option {key} has no value")
        else:
            yield key, option_text(value)


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the options of ``key: value`` lines; other lines say nothing, as for Flink."""
    for line in text.splitlines():
        key, colon, value = line.partition("#")[0].partition(": ")
        if colon and key.strip() and value.strip():
            yield key.strip(), value.strip()


def base_configuration() -> dict[str, str]:
    """Return the configuration of an environment before its program changes it."""
    return dict(_base)


def set_base_configuration(command_line: Mapping[str, str]) -> None:
    """Take over the options of the command line, and of the file in ``FLINK_CONF_DIR``.

    Args:
        command_line: its options win over those of the file.

    Raises:
        ValueError: the file is missing, or cannot be read.
    """
    _base.clear()
    folder = os.environ.get(FOLDER_VARIABLE)
    if folder:
        _base.update(_known(folder, read_configuration_folder(Path(folder))))
    _base.update(command_line)


def _known(folder: str, values: Mapping[str, str]) -> dict[str, str]:
    """Leave out the options of Flink's cluster: its file is full of them."""
    unread = [key for key in sorted(values) if find_option(key) is None and family_reason(key)]
    if unread:
        _log.info("these options in %s have no effect on Spark: %s", folder, ", ".join(unread))
    return {key: value for key, value in values.items() if key not in unread}


@dataclass
class CheckpointRecord:
    """One checkpoint or savepoint; times in ms since the epoch.

    Args:
        number: its number.
        savepoint: whether a user asked for it.
        triggered: when it began.
        path: the URI of its folder; None if it is in memory.
        status: ``IN_PROGRESS``, ``COMPLETED`` or ``FAILED``.
        ended: when it was complete, or aborted.
        size: its state in bytes.
        error: why it was aborted.
    """

    number: int
    savepoint: bool
    triggered: int
    path: str | None
    status: str = IN_PROGRESS
    ended: int | None = None
    size: int = 0
    error: str = ""


@dataclass(frozen=True)
class FailureRecord:
    """A failure of one attempt.

    Args:
        time: when, in ms since the epoch.
        attempt: which attempt has failed, from 0.
        error: the error's text, with the user's traceback.
    """

    time: int
    attempt: int
    error: str

    @property
    def gist(self) -> str:
        """The line that names the exception."""
        return gist_of(self.error)


@dataclass
class CheckpointCounts:
    """The numbers of checkpoints and savepoints, by their end."""

    restored: int = 0
    total: int = 0
    completed: int = 0
    failed: int = 0
    in_progress: int = 0


class JobListener:
    """A listener to the events of a job, in the thread of the job; does nothing by default."""

    def job_begins(self) -> None:
        """Take the beginning of a job, which waits for the processes that run it."""

    def status_changed(self, status: JobStatus, error: BaseException | None) -> None:
        """Take a new status; ``error`` ended a job that did not finish."""

    def attempt_failed(self, failure: FailureRecord, delay_ms: int) -> None:
        """Take a failure after which the job starts again."""

    def checkpoint_ended(self, checkpoint: CheckpointRecord) -> None:
        """Take a checkpoint that is complete or aborted."""


class JobHistory:
    """The events of a job; of checkpoints and failures the latest.

    Args:
        clock: gives the times.
    """

    def __init__(self, clock: Clock | None = None) -> None:
        self._clock = clock or SystemClock()
        self._lock = threading.Lock()
        self._listeners: list[JobListener] = []
        self._checkpoints: deque[CheckpointRecord] = deque(maxlen=_KEPT)
        self._failures: deque[FailureRecord] = deque(maxlen=_KEPT)
        self._times: dict[JobStatus, int] = {JobStatus.CREATED: self._clock.now()}
        self.counts = CheckpointCounts()
        self.restored: CheckpointRecord | None = None
        """The checkpoint that the job began with."""
        self.attempt = 0
        """How often the job has started again."""
        self.waiting: tuple[str, int] | None = None
        """The thing in another system that the driver waits for, and since when (ms)."""
        self.initialized: int | None = None
        """When processes first began to open functions and to restore state (ms)."""

    def listen(self, listener: JobListener) -> None:
        """Notify a listener from now on."""
        self._listeners.append(listener)

    @property
    def times(self) -> dict[JobStatus, int]:
        """The time of the last change to each status (ms since the epoch)."""
        with self._lock:
            return dict(self._times)

    @property
    def checkpoints(self) -> list[CheckpointRecord]:
        """The latest checkpoints and savepoints, the oldest first."""
        with self._lock:
            return list(self._checkpoints)

    @property
    def failures(self) -> list[FailureRecord]:
        """The latest failures, the oldest first."""
        with self._lock:
            return list(self._failures)

    def last_completed(self, savepoint: bool) -> CheckpointRecord | None:
        """Return the last checkpoint, or savepoint, that is complete."""
        found = (c for c in reversed(self.checkpoints) if c.status == COMPLETED)
        return next((c for c in found if c.savepoint == savepoint), None)

    def begins(self) -> None:
        """Note that the job waits for the processes that run it."""
        self._notify("job_begins")

    def waits(self, what: str | None) -> None:
        """Note that the driver waits for something in another system; None for no longer."""
        self.waiting = None if what is None else (what, self._clock.now())

    def initializes(self) -> None:
        """Note that processes open functions and restore state."""
        if self.initialized is None:
            self.initialized = self._clock.now()

    def enter(self, status: JobStatus, error: BaseException | None = None) -> None:
        """Note a new status; ``error`` ended a job that did not finish."""
        with self._lock:
            self._times[status] = self._clock.now()
            if error is not None and status is JobStatus.FAILED:
                self._note_failure(error)
        self._notify("status_changed", status, error)

    def attempt_failed(self, error: BaseException, delay_ms: int) -> None:
        """Note a failure after which the job starts again in so many ms."""
        with self._lock:
            failure = self._note_failure(error)
            self.attempt += 1
        self._notify("attempt_failed", failure, delay_ms)

    def restored_from(self, number: int, path: str, savepoint: bool) -> None:
        """Note the checkpoint that the job begins with."""
        now = self._clock.now()
        self.counts.restored += 1
        self.restored = CheckpointRecord(number, savepoint, now, path, COMPLETED, now)

    @contextlib.contextmanager
    def checkpoint(
        self, number: int, path: str | None, savepoint: bool
    ) -> Iterator[CheckpointRecord]:
        """Note a checkpoint that is made in the block; it has failed if the block raises."""
        record = CheckpointRecord(number, savepoint, self._clock.now(), path)
        with self._lock:
            self._checkpoints.append(record)
            self.counts.total += 1
            self.counts.in_progress += 1
        try:
            yield record
        except BaseException as error:
            record.error = masked_text(str(error) or repr(error))
            self._ended(record, FAILED)
            raise
        self._ended(record, COMPLETED)

    def _ended(self, record: CheckpointRecord, status: str) -> None:
        with self._lock:
            record.ended, record.status = self._clock.now(), status
            self.counts.in_progress -= 1
            self.counts.completed += status == COMPLETED
            self.counts.failed += status == FAILED
        self._notify("checkpoint_ended", record)

    def _note_failure(self, error: BaseException) -> FailureRecord:
        text = masked_text(str(error) or repr(error))
        failure = FailureRecord(self._clock.now(), self.attempt, text)
        self._failures.append(failure)
        return failure

    def _notify(self, event: str, *what: object) -> None:
        for listener in self._listeners:
            try:
                getattr(listener, event)(*what)
            except Exception:  # noqa: BLE001 - a listener must not end the job
                _log.exception("a listener of the job has failed")


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
    printers: Mapping[str, SendItems] = field(default_factory=dict)
    collected: str | None = None
    bounded: bool = True
    attached: bool = False
    graph: StreamGraph | None = field(default=None, repr=False, compare=False)
    listeners: tuple[Callable[[JobProgress], None], ...] = ()
    accumulators: Accumulators = field(default_factory=Accumulators, repr=False, compare=False)
    history: JobHistory = field(default_factory=JobHistory, repr=False, compare=False)

    def __post_init__(self) -> None:
        printers: dict[str, SendItems] = {
            **self.printers,
            METRICS: self.accumulators.add,
            LOGS: DriverLog(self.settings.configuration),
        }
        object.__setattr__(self, "printers", printers)

    def maintain_sources(self, oldest_checkpoint: int | None) -> None:
        """Have the job's sources maintain their resources in the driver.

        Args:
            oldest_checkpoint: the number of the oldest checkpoint that is kept, if there is one.

        Raises:
            BaseException: what ends the attempt.
        """
        for source in self._sources():
            source.maintain(oldest_checkpoint)

    def begins_again(self) -> None:
        """Have the job's sources restart failed resources; before each attempt but the first."""
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

    def collected(self) -> Iterator[object]:
        """Iterate over the collected elements as they arrive; closing the iterator ends the job."""
        ...

    def result(self) -> JobOutcome:
        """Wait for the end, and return the outcome or raise the job's error."""
        ...


class Engine(Protocol):
    """An engine that runs jobs."""

    def submit(self, job: Job) -> JobHandle:
        """Start a job."""
        ...


def install_engine(engine: Engine | None) -> None:
    """Make an engine the one that runs jobs; None for Spark, the default."""
    _installed[:] = [] if engine is None else [engine]


def installed_engine() -> Engine | None:
    """Return the engine that runs jobs, or None if none was chosen or needed so far."""
    return _installed[0] if _installed else None


def runs_nothing() -> bool:
    """True if the engine only inspects jobs, so that sources need not exist."""
    return bool(_installed) and getattr(_installed[0], "runs_nothing", False)


def current_engine() -> Engine:
    """Return the engine that runs jobs; Spark is loaded when it is first needed."""
    if not _installed:
        _installed.append(registry.load("engine"))
    return _installed[0]


class Unexecuted:
    """The place of the first sink in each environment that waits to be executed."""

    def __init__(self) -> None:
        self._sinks: dict[int, CallSite | None] = {}

    def added(self, environment: int, transformation: Transformation) -> None:
        """Note that an operator was added to the environment with that number."""
        if transformation.sink is not None:
            self._sinks.setdefault(environment, transformation.call_site)

    def executed(self, environment: int) -> None:
        """Note that everything in an environment was run or discarded."""
        self._sinks.pop(environment, None)

    def first(self) -> CallSite | None:
        """Return where the first sink was added that no job has run, or None."""
        return next(iter(self._sinks.values()), None)


UNEXECUTED = Unexecuted()


def watermark_rhythm(
    settings: Mapping[str, str], bounded: bool, batch: bool = False
) -> WatermarkRhythm:
    """Return how often watermarks are emitted.

    A job with BATCH semantics has the watermark of the end only. An unbounded job follows the
    clock: a watermark is due after each auto-watermark interval. In a bounded job it is due after a
    number of elements, so that results repeat where input flows without a pause; only where
    elements are slow the clock counts: once the time of a bundle (``python.fn-
    execution.bundle.time``) has passed, or, if bundles are smaller than that number, the auto-
    watermark interval. The watermark of a table also follows a row that takes it further than the
    interval, as Flink's does.

    Args:
        settings: the job's configuration.
        bounded: whether all its sources end.
        batch: whether it has BATCH semantics.

    Raises:
        ValueError: if an option cannot be read.
    """
    if batch:
        return WatermarkRhythm(None, None)
    interval = AUTO_WATERMARK_INTERVAL.read(settings)
    elements = WATERMARK_INTERVAL_ELEMENTS.read(settings)
    if interval <= 0:
        return WatermarkRhythm(None, None, 0)
    if not bounded:
        return WatermarkRhythm(None, interval, interval)
    if BUNDLE_SIZE.is_set(settings) and BUNDLE_SIZE.read(settings) < elements:
        return WatermarkRhythm(elements, interval, interval)
    return WatermarkRhythm(elements, max(interval, BUNDLE_TIME.read(settings)), interval)


def translate(
    transformations: Iterable[Transformation],
    settings: GraphSettings,
    *,
    name: str,
    job_parameters: Mapping[str, str],
    configuration: Mapping[str, str],
    printers: Mapping[str, SendItems],
    collected: str | None = None,
    attached: bool = False,
    listeners: Iterable[Callable[[JobProgress], None]] = (),
    beside: Iterable[Transformation] = (),
) -> Job:
    """Make a job of everything that some transformations need.

    Args:
        transformations: what has to run.
        settings: the environment's.
        name: the job's name.
        job_parameters: the user's global job parameters.
        configuration: the environment's whole configuration.
        printers: for each channel to the driver, what is done with what arrives.
        collected: the channel that the driver's program iterates.
        attached: whether the program waits for the end before it does anything else.
        listeners: called with each report on the job's progress.
        beside: what the program has, too, and what does not run.

    Raises:
        JobTranslationError: if the graph cannot be run, two sinks want what only one may have, or
            an operator has no uid and none may be made up.
        FileNotFoundError: or another error of a source whose input is not there.
    """
    graph = StreamGraph(transformations, settings, beside)
    if not flink.AUTO_GENERATE_UIDS.read(configuration):
        demand_uids(graph)
    bounded = all(node.source.bounded for node in graph.nodes if node.source is not None)
    rhythm = watermark_rhythm(configuration, bounded, settings.batch)
    for node in graph.nodes:
        _configure(node, configuration, rhythm)
    steps = build_physical_graph(graph, rhythm)
    sinks = place_sinks(steps, name)
    return Job(
        name=name,
        settings=JobSettings(
            job_id=uuid.uuid4().hex,
            batch=settings.batch,
            checkpointed=not settings.batch and INTERVAL.read(configuration) is not None,
            checkpoint_elements=CHECKPOINT_ELEMENTS.read(configuration),
            job_parameters=dict(job_parameters),
            configuration=dict(configuration),
            classes=capture_classes(),
        ),
        stages=plan_stages(steps, _no_splits if runs_nothing() else _splits),
        sinks=sinks,
        printers=printers,
        collected=collected,
        bounded=bounded,
        attached=attached,
        listeners=tuple(listeners),
        graph=graph,
    )


def _configure(
    node: Transformation, configuration: Mapping[str, str], rhythm: WatermarkRhythm
) -> None:
    """Pass the job's configuration to sources and sinks."""
    if node.source is not None:
        node.source = node.source.with_configuration(configuration).with_rhythm(rhythm)
    if node.sink is not None:
        node.sink = node.sink.with_configuration(configuration)
        node.operator = SinkOperator(node.sink, node.number)


def _splits(step: PhysicalNode) -> tuple[tuple[object, ...], ...]:
    source = step.origin.source
    assert source is not None
    splits = source.splits(step.parallelism)
    return tuple(tuple(splits[index :: step.parallelism]) for index in range(step.parallelism))


def _no_splits(step: PhysicalNode) -> tuple[tuple[object, ...], ...]:
    return ((),) * step.parallelism
