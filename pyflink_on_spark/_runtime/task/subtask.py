"""One parallel subtask of a vertex: its chains, fed by sources and by exchanges."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from pyflink_on_spark._runtime.bundle import Barrier, Bundle
from pyflink_on_spark._runtime.checkpoints.task_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.connector import SinkWriter, SourceReader
from pyflink_on_spark._runtime.metrics.accumulators import METRICS, MetricReport
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.activity import Activity
from pyflink_on_spark._runtime.task.alignment import BarrierAlignment
from pyflink_on_spark._runtime.task.chain_progress import ChainProgress
from pyflink_on_spark._runtime.task.exchange import ChannelRow, decode
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain
from pyflink_on_spark._runtime.task.plan import chain_name
from pyflink_on_spark._runtime.task.progress import TaskProgress
from pyflink_on_spark._runtime.task.source_input import SourceInput
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskBuilder, SubtaskIdentity
from pyflink_on_spark._runtime.user_code.failure import Explained, SubtaskFailure, describe_failure
from pyflink_on_spark.common._options import python

_REPORT_INTERVAL = 1_000
NEVER = float("inf")


class Subtask:
    """Runs one subtask from ``open`` to ``close``.

    Args:
        identity: which subtask of which job.
        ship: takes each row that leaves.
        now: the time in seconds; any clock that never goes back.
    """

    builder = SubtaskBuilder

    def __init__(
        self,
        identity: SubtaskIdentity,
        ship: Callable[[ChannelRow], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.identity, self._now = identity, now
        self._clock, self._job = identity.clock, identity.job
        self._operators: list[tuple[Any, Operator]] = [
            (plan, plan.operator) for chain in identity.vertex.chains for plan in chain.operators
        ]
        self._opened: list[Operator] = []
        self._explained = Explained(self._failure)
        with self._explained:
            self._builder = self.builder(identity, ship, now)
            parts = self._builder.build()
        self._vertex = self._builder.vertex
        self._chains, self._contexts = parts.chains, parts.contexts
        self._writers, self._channels = parts.writers, parts.channels
        self._operators = [(plan, plan.operator) for plan, _ in parts.contexts]
        downstream = sorted(range(len(parts.chains)), key=lambda i: (-parts.depths[i], i))
        self._downstream_first = [parts.chains[index] for index in downstream]
        self.sources: dict[int, SourceInput] = {}
        """Its sources, by the number of the chain that they feed."""
        self.alignment = BarrierAlignment(self._channels)
        self.fan_out = max((writer.fan_out for writer in self._writers), default=0)
        """How many subtasks the widest of its exchanges sends to."""
        self._next_report = 0
        self.activity = Activity()
        self._clocked = [chain for chain in self._chains if chain.follows_clock]
        self._progress = [self._watched(index) for index in range(len(parts.chains))]

    def open(self) -> None:
        """Open all operators, downstream first as Flink does, and the readers of its sources."""
        with self._explained:
            for plan, context in reversed(self._contexts):
                self._opened.append(plan.operator)
                plan.operator.open(context)
            restored = self.identity.restored
            for index, chain in enumerate(self._vertex.chains):
                if chain.source is not None:
                    positions = None if restored is None else restored.sources.get(chain.source_id)
                    context = self._builder.source_context()
                    splits = chain.splits[self.identity.index]
                    reader = chain.source.reader(splits, positions, context)
                    self.sources[index] = self._source_input(index, reader)
        self.identity = replace(self.identity, restored=None)
        del self._builder  # like the identity it held the state that is in use now

    # -- work ------------------------------------------------------------------------------------

    def receive(self, row: ChannelRow) -> None:
        """Let what came from an exchange wait."""
        with self._explained:
            self._take(row)

    def _take(self, row: ChannelRow) -> None:
        if row.channel in self.alignment.arrived:
            self.alignment.hold(row)
            return
        event = decode(row.payload)
        chain, port = self._channels[row.channel]
        if isinstance(event, Bundle):
            self._chains[chain].receive(port, event)
        elif isinstance(event, Barrier):
            self.alignment.arrive(row.channel, event.checkpoint_id)
        else:
            self._chains[chain].take_event(row.channel, event)

    def poll(self, chain: int) -> tuple[int, bool]:
        """Let what a source has next wait; return what ``SourceInput.poll`` does."""
        with self._explained:
            return self.sources[chain].poll()

    def work(self, deadline: float = NEVER, rows: Iterable[ChannelRow] = ()) -> None:
        """Process what waits, downstream first, until a deadline (s) has passed.

        Args:
            deadline: when to end (s), by ``now``.
            rows: what came from exchanges meanwhile.
        """
        with self._explained:
            for row in rows:
                self._take(row)
            while (chain := self._next()) is not None:
                chain.step(deadline)
                if self._now() >= deadline:
                    return

    @property
    def busy(self) -> bool:
        """Whether something waits to be processed."""
        for chain in self._chains:  # noqa: SIM110 - a generator takes twice as long
            if chain.inbox:
                return True
        return False

    @property
    def reading(self) -> bool:
        """Whether a source has not ended."""
        return any(source.reading for source in self.sources.values())

    @property
    def ended(self) -> bool:
        """Whether all its input has ended and is processed."""
        return all(chain.ended for chain in self._chains)

    @property
    def follows_clock(self) -> bool:
        """Whether a tick may bring something forth."""
        return bool(self._clocked)

    def tick(self) -> None:
        """Let what is due by processing time fire, and emit watermarks that are due."""
        now = self._clock.now()
        if not self._clocked and now < self._next_report:
            return
        with self._explained:
            for chain in self._clocked:
                chain.tick(now)
            if now >= self._next_report:
                self.report_metrics()

    @property
    def channels_out(self) -> int:
        """How many channels begin here."""
        return sum(writer.fan_out for writer in self._writers)

    def flush(self) -> None:
        """Send everything that waits in the buffers of exchanges."""
        if self._writers:
            with self._explained:
                for writer in self._writers:
                    writer.flush()

    def end_sources(self) -> None:
        """Read no further, as if all sources had ended."""
        with self._explained:
            for source in self.sources.values():
                source.stop()

    def _next(self) -> OperatorChain | None:
        for chain in self._downstream_first:
            if chain.inbox:
                return chain
        return None

    # -- checkpoints -----------------------------------------------------------------------------

    def trigger(self, checkpoint_id: int) -> None:
        """Begin a checkpoint here, if no barriers will come from upstream."""
        self.alignment.trigger(checkpoint_id)
        for source in self.sources.values():
            source.checkpoint_ordered(checkpoint_id)

    def prepare_barrier(self) -> None:
        """Emit and process everything that belongs to before the barrier."""
        with self._explained:
            for chain in self._chains:
                chain.prepare_barrier()
                self.work()

    def snapshot(
        self, checkpoint_id: int, taken: Callable[[KeyedStateBackend], Any] | None = None
    ) -> TaskStateSnapshot:
        """Return all state as it is now; to be written before the subtask continues.

        Args:
            checkpoint_id: the checkpoint's number.
            taken: what is taken of keyed state; everything if nothing is said.
        """
        taken = taken or KeyedStateBackend.snapshot
        state = TaskStateSnapshot(checkpoint_id)
        with self._explained:
            for plan, context in self._contexts:
                plan.operator.snapshot_state(checkpoint_id)
                if plan.state_id is not None:
                    keyed = context.keyed_state
                    state.operators[plan.state_id] = OperatorSubtaskState(
                        {} if keyed is None else taken(keyed),
                        context.operator_state.snapshot(),
                        plan.max_parallelism,
                    )
            for index, chain in enumerate(self._vertex.chains):
                if chain.source is not None:
                    positions = self.sources[index].snapshot(checkpoint_id)
                    state.sources[chain.source_id] = positions
            self.report_metrics()
        return state

    def save_time(self) -> list[tuple[Any, ...]]:
        """Return the event time of each chain, which a checkpoint of Flink's does not have."""
        return [chain.save_time() for chain in self._chains]

    def load_time(self, saved: list[tuple[Any, ...]]) -> None:
        """Take over what ``save_time`` returned, after ``open``."""
        with self._explained:
            for chain, state in zip(self._chains, saved, strict=True):
                chain.load_time(state)

    def pass_barrier(self, checkpoint_id: int) -> None:
        """Send the barrier on, and continue with what waited for it."""
        self.send_barrier(checkpoint_id)
        for row in self.alignment.release():
            self.receive(row)

    def send_barrier(self, checkpoint_id: int) -> None:
        """Send the barrier of a checkpoint to all receivers."""
        with self._explained:
            for writer in self._writers:
                writer.event(Barrier(checkpoint_id))
            for source in self.sources.values():
                source.barrier_passed(checkpoint_id)

    @property
    def hears_of_checkpoints(self) -> bool:
        """Whether a source, a writer or a function is notified of complete checkpoints."""
        parts = [part for _, operator in self._operators for part in operator.parts()]
        parts += [source.reader for source in self.sources.values()]
        silent = {SourceReader.notify_checkpoint_complete, SinkWriter.notify_checkpoint_complete}
        told = (getattr(type(part), "notify_checkpoint_complete", None) for part in parts)
        return any(method is not None and method not in silent for method in told)

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify all operators and sources that a checkpoint is complete."""
        with self._explained:
            for listener in self._checkpoint_listeners():
                listener.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify all operators and sources that a checkpoint was aborted."""
        with self._explained:
            for listener in self._checkpoint_listeners():
                listener.notify_checkpoint_aborted(checkpoint_id)

    def _checkpoint_listeners(self) -> Iterator[Any]:
        for plan, _ in self._contexts:
            yield plan.operator
        yield from self.sources.values()

    def committables(self) -> list[Any]:
        """Return, once, what the driver has to commit with this checkpoint or at the end."""
        return [item for _, operator in self._operators for item in operator.committables()]

    # -- the end ---------------------------------------------------------------------------------

    def close(self, failed: bool = False) -> None:
        """Close every operator that was opened; a failure to close does not hide another one."""
        error: SubtaskFailure | None = None
        for source in reversed(self.sources.values()):
            source.close()
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
        with self._explained:
            self.report_metrics()

    # -- what is known of it ---------------------------------------------------------------------

    def progress(self) -> list[TaskProgress]:
        """Return how far each of its chains is."""
        activity, now = self.activity, self._now()
        return [
            each.now(self.sources.get(index), activity.busy, activity.backpressured(now))
            for index, each in enumerate(self._progress)
        ]

    def place_of(self, operator: Operator | None) -> str:
        """Return an operator's name and the subtask's number, for people."""
        vertex, index = self.identity.vertex, self.identity.index
        names = (plan.name for plan, each in self._operators if each is operator)
        return f"{next(names, vertex.name)} ({index + 1}/{vertex.parallelism})"

    def report_metrics(self) -> None:
        """Send the values of the functions' metrics to the driver, if there are any."""
        reports = [
            MetricReport(plan.node, self.identity.index, tuple(metrics.report()))
            for plan, context in self._contexts
            if (metrics := context.runtime_context.metrics) is not None
        ]
        if reports and python.METRICS.read(self._job.configuration):
            self.identity.driver(METRICS)(reports)
        self._next_report = self._clock.now() + _REPORT_INTERVAL

    def keyed_states(self) -> Iterator[KeyedStateBackend]:
        """Iterate over the keyed state of its operators."""
        for _, context in self._contexts:
            if context.keyed_state is not None:
                yield context.keyed_state

    def _source_input(self, chain: int, reader: SourceReader) -> SourceInput:
        job = self._job
        allowance = job.checkpoint_elements if job.checkpointed else None
        number = self.identity.vertex.first_subtask_id + self.identity.index
        ask = partial(self.identity.ask or _ask_nobody, number, chain)
        return SourceInput(self._chains[chain], reader, job.checkpointed, allowance, self._now, ask)

    def _watched(self, index: int) -> ChainProgress:
        plans = self._vertex.chains[index].operators
        inside = {id(plan) for plan in plans}
        states = [
            (plan.name, context.keyed_state)
            for plan, context in self._contexts
            if id(plan) in inside and context.keyed_state is not None
        ]
        return ChainProgress(
            chain_name(self._vertex, index),
            self.identity.index,
            self._chains[index],
            states,
        )

    def _failure(self, error: BaseException) -> SubtaskFailure:
        if isinstance(error, SubtaskFailure):
            return error
        return describe_failure(error, self._operators, self.place_of(None))


def _ask_nobody(*_: int) -> None:
    raise AssertionError("a reader asks for splits, and the driver has none")
