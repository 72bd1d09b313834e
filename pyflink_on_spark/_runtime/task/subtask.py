"""One parallel subtask of a region: its segments, fed by sources and by exchanges."""

from __future__ import annotations

import contextlib
import pickle
from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._runtime.bundle import BUNDLE_SIZE, Bundle, EndOfInput
from pyflink_on_spark._runtime.checkpoints.task_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.clock import Clock
from pyflink_on_spark._runtime.connector import SourceReader
from pyflink_on_spark._runtime.cursor import Cursor
from pyflink_on_spark._runtime.metrics.accumulators import METRICS, MetricReport
from pyflink_on_spark._runtime.operators.context import OperatorContext
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.disk.store import DiskStore
from pyflink_on_spark._runtime.state.operator_state import OperatorState
from pyflink_on_spark._runtime.task.chain_progress import ChainProgress
from pyflink_on_spark._runtime.task.exchange import ExchangeWriter, Row, decode
from pyflink_on_spark._runtime.task.finished_readers import FinishedReaders
from pyflink_on_spark._runtime.task.operator_chain import (
    ForkOutput,
    LocalOutput,
    OperatorChain,
    Output,
    SideOutput,
)
from pyflink_on_spark._runtime.task.plan import (
    JobSettings,
    LocalPlan,
    OperatorChainPlan,
    OperatorPlan,
    OutputPlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.task.progress import TaskProgress
from pyflink_on_spark._runtime.task_info import TaskInfo
from pyflink_on_spark._runtime.user_code.failure import Explained, SubtaskFailure, describe_failure
from pyflink_on_spark._runtime.user_code.runtime_context import RuntimeContext
from pyflink_on_spark.common._options import python

Driver = Callable[[str], Callable[[list[Any]], None]]
_SOURCE = "source"
_REPORT_INTERVAL = 1_000


class Subtask:
    """Runs one subtask from ``open`` to ``close``.

    Several sources take turns: first for one element, then for more and more, so that of small
    inputs, too, none is read to its end before another one. Never by the clock: a subtask that is
    run again has to send the same rows.

    Args:
        region: what it runs; its operators are copied, so that no two subtasks share one.
        index: which subtask it is, from 0.
        job: what is the same for the whole job.
        clock: processing time.
        driver: gives, for a channel's name, what sends to the driver.
        attempt: how often the job was restarted.
        restored: its share of a checkpoint; None for a fresh start.
    """

    def __init__(
        self,
        region: VertexPlan,
        index: int,
        job: JobSettings,
        clock: Clock,
        driver: Driver,
        attempt: int = 0,
        restored: TaskStateSnapshot | None = None,
    ) -> None:
        self._plan: VertexPlan = pickle.loads(pickle.dumps(region, 5))
        self._index, self._job, self._attempt = index, job, attempt
        self._clock, self._driver, self._restored = clock, driver, restored
        self._converted = python.STATE_CACHE_SIZE.read(job.configuration) == 0
        self._rows: list[Row] = []
        self._operators: list[tuple[OperatorPlan, Operator]] = []
        self._opened: list[Operator] = []
        self._contexts: list[tuple[OperatorPlan, OperatorContext]] = []
        self._readers: dict[int, SourceReader] = {}
        self._turn = 1
        self.limit = BUNDLE_SIZE
        """How many elements a source hands over at once, at most."""
        self.found = 0
        """How many elements the sources handed over when they were last asked."""
        self._writers: list[ExchangeWriter] = []
        self._ended = FinishedReaders()
        self._stopped = False
        self._next_report = 0
        self._channels = self._incoming()
        with self._explained():
            self._segments = self._build()
        self._progress = [self._watched(index) for index in range(len(self._segments))]

    def open(self) -> None:
        """Open all operators, downstream first as Flink does, and the readers of its sources."""
        with self._explained():
            for plan, context in reversed(self._contexts):
                self._opened.append(plan.operator)
                plan.operator.open(context)
            for index, segment in enumerate(self._plan.segments):
                if segment.source is not None:
                    self._readers[index] = self._reader(segment)
        self._restored = None  # what it was made of is in use now, and need not be held twice

    def run_sources(self) -> Iterator[None]:
        """Read all sources to their end; yields after each turn, so that rows can leave."""
        while self._readers:
            self.poll_sources()
            yield

    def poll_sources(self) -> int:
        """Work off what each source has next; return how many elements and events it was."""
        count = events = 0
        limit = min(self._turn, self.limit) if len(self._readers) > 1 else self.limit
        for index, reader in list(self._readers.items()):
            with self._explained():
                reader.limit = limit
                event = reader.poll()
                if isinstance(event, Bundle):
                    count += len(event.values)
                    self._segments[index].receive(0, event)
                elif event is not None:
                    events += 1
                    self._segments[index].event(_SOURCE, event)
                elif reader.ended:
                    self._end_source(index)
                self._tick()
        self._turn = min(self._turn * 2, BUNDLE_SIZE)
        self.found = count
        return count + events

    def end_sources(self) -> None:
        """Read no further: to those downstream it is as if all sources had ended.

        What a source has taken already is still to be polled, while ``reading`` says so. Another
        call changes nothing.
        """
        if self._stopped:
            return
        self._stopped = True
        with self._explained():
            for index, reader in list(self._readers.items()):
                if not reader.stop():
                    self._end_source(index)

    @property
    def reading(self) -> bool:
        """Whether it has a source that has not ended."""
        return bool(self._readers)

    def progress(self) -> list[TaskProgress]:
        """Return how far each of its segments is."""
        return [each.now(self._readers.get(index)) for index, each in enumerate(self._progress)]

    def receive(self, row: Row) -> None:
        """Work off what came from an exchange."""
        with self._explained():
            segment, port = self._channels[row.channel]
            event = decode(row.payload)
            if isinstance(event, Bundle):
                self._segments[segment].receive(port, event)
            else:
                self._segments[segment].event(row.channel, event)
            self._tick()

    def take_rows(self) -> list[Row]:
        """Return the rows that are ready to leave, once."""
        rows, self._rows = self._rows, []
        return rows

    def snapshot(
        self, checkpoint_id: int, taken: Callable[[KeyedStateBackend], Any] | None = None
    ) -> TaskStateSnapshot:
        """Return all state as it is now; to be pickled before anything else goes on.

        Args:
            checkpoint_id: the checkpoint's number.
            taken: what is taken of keyed state; everything if nothing is said.
        """
        taken = taken or KeyedStateBackend.snapshot
        state = TaskStateSnapshot(checkpoint_id)
        with self._explained():
            for plan, context in self._contexts:
                plan.operator.snapshot_state(checkpoint_id)
                if plan.state_id is not None:
                    keyed = context.keyed_state
                    state.operators[plan.state_id] = OperatorSubtaskState(
                        {} if keyed is None else taken(keyed),
                        context.operator_state.snapshot(),
                        plan.max_parallelism,
                    )
            for index, segment in enumerate(self._plan.segments):
                if segment.source is not None:
                    reader = self._readers.get(index)
                    if reader is None:
                        positions = self._ended.snapshot(index, checkpoint_id)
                    else:
                        reader.prepare_checkpoint(checkpoint_id)
                        positions = reader.snapshot()
                    state.sources[segment.source_id] = positions
            self._report_metrics()
        return state

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Tell all operators and sources that a checkpoint is safe."""
        with self._explained():
            for plan, _ in self._contexts:
                plan.operator.notify_checkpoint_complete(checkpoint_id)
            for reader in self._readers.values():
                reader.notify_checkpoint_complete(checkpoint_id)
            self._ended.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Tell all operators and sources that a checkpoint was given up."""
        with self._explained():
            for plan, _ in self._contexts:
                plan.operator.notify_checkpoint_aborted(checkpoint_id)
            for reader in self._readers.values():
                reader.notify_checkpoint_aborted(checkpoint_id)
            self._ended.notify_checkpoint_aborted(checkpoint_id)

    def tick(self) -> None:
        """Let what is due by processing time fire, without an element."""
        with self._explained():
            self._tick()

    def end_epoch(self) -> None:
        """Fire what is due by processing time, and send all that waits."""
        with self._explained():
            self._tick()
            for segment in self._segments:
                segment.emit_watermark()
            for writer in self._writers:
                writer.flush()
            if self._clock.now() >= self._next_report:
                self._report_metrics()

    def committables(self) -> list[Any]:
        """Return, once, what the driver has to commit with this checkpoint or at the end."""
        return [item for _, operator in self._operators for item in operator.committables()]

    def close(self, failed: bool = False) -> None:
        """Close every operator that was opened; a failure to close does not hide another one."""
        error: SubtaskFailure | None = None
        readers = [*self._readers.values(), *self._ended.take_kept()]
        self._readers.clear()
        for reader in reversed(readers):
            with contextlib.suppress(Exception):
                reader.close()
        while self._opened:
            operator = self._opened.pop()
            try:
                operator.close()
            except BaseException as cause:  # noqa: BLE001 - the others have to be closed as well
                error = error or self._failure(cause)
        for _, context in self._contexts:
            if context.keyed_state is not None:
                context.keyed_state.close()
        if failed:
            return
        if error is not None:
            raise error
        with self._explained():
            self._report_metrics()

    def _report_metrics(self) -> None:
        """Tell the driver what the metrics of the user's functions are worth, if there are any."""
        reports = [
            MetricReport(plan.node, self._index, tuple(metrics.report()))
            for plan, context in self._contexts
            if (metrics := context.runtime_context.metrics) is not None
        ]
        if reports and python.METRICS.read(self._job.configuration):
            self._driver(METRICS)(reports)
        self._next_report = self._clock.now() + _REPORT_INTERVAL

    def _tick(self) -> None:
        now = self._clock.now()
        for segment in self._segments:
            segment.advance_processing_time(now)

    def _watched(self, index: int) -> ChainProgress:
        plans = self._plan.segments[index].operators
        inside = {id(plan) for plan in plans}
        states = [context.keyed_state for plan, context in self._contexts if id(plan) in inside]
        return ChainProgress(
            " -> ".join(dict.fromkeys(plan.name for plan in plans)) or self._plan.name,
            self._segments[index],
            [state for state in states if state is not None],
        )

    def _end_source(self, index: int) -> None:
        reader = self._readers.pop(index)
        if self._stopped or self._job.checkpointed:
            self._ended.keep(index, reader)
        else:
            self._ended.close_now(index, reader)
        self._segments[index].event(_SOURCE, EndOfInput())

    def _reader(self, segment: OperatorChainPlan) -> SourceReader:
        assert segment.source is not None
        restored = self._restored
        positions = None if restored is None else restored.sources.get(segment.source_id)
        context = self._context(None, Cursor(), None)
        return segment.source.reader(segment.splits[self._index], positions, context)

    def _incoming(self) -> dict[int, tuple[int, int]]:
        channels = {}
        for incoming in self._plan.inputs:
            exchange = incoming.exchange
            for sender in range(exchange.senders):
                reached = exchange.partitioner.receivers(
                    sender, exchange.senders, exchange.receivers
                )
                if self._index in reached:
                    channels[exchange.first_channel + sender] = (incoming.segment, incoming.port)
        return channels

    def _build(self) -> list[OperatorChain]:
        segments: dict[int, OperatorChain] = {}
        for index in reversed(range(len(self._plan.segments))):
            segments[index] = self._build_segment(index, segments)
        return [segments[index] for index in range(len(segments))]

    def _build_segment(self, index: int, built: dict[int, OperatorChain]) -> OperatorChain:
        plan = self._plan.segments[index]
        cursor = Cursor()
        main = [self._output(o, built) for o in plan.outputs if o.side_tag is None]
        sides: dict[str, list[Output]] = {}
        for output in plan.outputs:
            if output.side_tag is not None:
                sides.setdefault(output.side_tag, []).append(self._output(output, built))
        timestamped = any(o.edge.timestamped for o in plan.outputs if o.side_tag is None)
        segment = OperatorChain(
            [operator.operator for operator in plan.operators],
            cursor,
            None if not main else main[0] if len(main) == 1 else ForkOutput(main, timestamped),
            {tag: SideOutput(outputs) for tag, outputs in sides.items()},
            self._channel_names(index),
        )
        contexts: list[tuple[OperatorPlan, OperatorContext]] = []
        for operator in plan.operators:
            self._operators.append((operator, operator.operator))
            context = self._context(operator, cursor, segment)
            if operator.chained and contexts:
                before = contexts[-1][1]
                context.head_state = before.head_state or before.keyed_state
            contexts.append((operator, context))
        self._contexts = contexts + self._contexts
        return segment

    def _channel_names(self, index: int) -> list[Any]:
        names: list[Any] = [c for c, (segment, _) in self._channels.items() if segment == index]
        names += [
            output.edge.channel
            for plan in self._plan.segments
            for output in plan.outputs
            if isinstance(output.edge, LocalPlan) and output.edge.segment == index
        ]
        if self._plan.segments[index].source is not None:
            names.append(_SOURCE)
        return names

    def _output(self, plan: OutputPlan, built: dict[int, OperatorChain]) -> Output:
        edge = plan.edge
        if isinstance(edge, LocalPlan):
            return LocalOutput(
                built[edge.segment], edge.port, edge.channel, edge.timestamped, edge.isolate
            )
        self._writers.append(ExchangeWriter(edge, self._index, self._rows_append))
        return self._writers[-1]

    def _rows_append(self, row: Row) -> None:
        self._rows.append(row)

    def _context(
        self, plan: OperatorPlan | None, cursor: Cursor, segment: OperatorChain | None
    ) -> OperatorContext:
        task = TaskInfo(
            plan.task_name if plan else self._plan.name,
            self._index,
            self._plan.parallelism,
            plan.max_parallelism if plan else 128,
            self._attempt,
            self._job.job_id,
            self._job.job_parameters,
            self._job.batch,
        )
        keyed = plan is not None and plan.operator.keyed
        backend = self._keyed_state(task, plan.key_type) if plan is not None and keyed else None
        data = OperatorSubtaskState()
        if self._restored is not None and plan is not None and plan.state_id is not None:
            data = self._restored.operators.get(plan.state_id, data)
        operator_state = OperatorState(self._converted)
        operator_state.restore(data.operator)
        if backend is not None:
            backend.restore(data.keyed.values())
        return OperatorContext(
            task=task,
            cursor=cursor,
            clock=self._clock,
            side_output=_side_output(segment, plan),
            driver=self._driver,
            keyed_state=backend,
            runtime_context=RuntimeContext(task, backend, self._clock),
            operator_state=operator_state,
            restored=None if self._restored is None else self._restored.checkpoint_id,
            checkpointed=self._job.checkpointed,
        )

    def _keyed_state(self, task: TaskInfo, key_type: Any) -> KeyedStateBackend:
        settings = self._job.state
        return KeyedStateBackend(
            self._clock,
            max_parallelism=task.max_parallelism,
            key_type=key_type,
            track_changes=settings.track_changes,
            converted=self._converted,
            disk=None if settings.disk is None else DiskStore(settings.disk, self._index),
        )

    def _failure(self, error: BaseException) -> SubtaskFailure:
        if isinstance(error, SubtaskFailure):
            return error
        name = f"{self._plan.name} ({self._index + 1}/{self._plan.parallelism})"
        return describe_failure(error, self._operators, name)

    def _explained(self) -> Explained:
        return Explained(self._failure)


def _side_output(
    segment: OperatorChain | None, plan: OperatorPlan | None
) -> Callable[[str, Any], None]:
    if segment is None or plan is None:
        return _no_side_output
    node = plan.node
    return lambda tag, value: segment.side_output(f"{node}/{tag}", value)


def _no_side_output(tag: str, _: Any) -> None:
    raise AssertionError(f"no side output {tag} here")
