"""One parallel subtask of a vertex: its chains, fed by sources and by exchanges."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pyflink_on_spark._options import python
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorSubtaskState, TaskStateSnapshot
from pyflink_on_spark._runtime.contract.connector import SinkWriter, SourceReader
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import chain_name
from pyflink_on_spark._runtime.diagnosis import (
    Explained,
    LogPlace,
    SubtaskFailure,
    describe_failure,
)
from pyflink_on_spark._runtime.elements.bundle import Barrier, Bundle, Event
from pyflink_on_spark._runtime.metrics import METRICS, MetricReport
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.barriers import BarrierAlignment
from pyflink_on_spark._runtime.task.exchange_writer import (
    AlignedBarriers,
    ChannelRow,
    EventBatch,
    FanOut,
    LocalOutput,
    decode,
)
from pyflink_on_spark._runtime.task.operator_chain import OperatorChain
from pyflink_on_spark._runtime.task.schedule import SourceInput
from pyflink_on_spark._runtime.task.subtask_builder import (
    SubtaskBuilder,
    SubtaskContext,
)
from pyflink_on_spark._runtime.task.subtask_threads import StateEntries, TaskProgress, event_time

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.plan import OperatorPlan


T = TypeVar("T")
_SHARE = 0.01
_REPORT_INTERVAL = 1_000
_FIRST_CUT = -(1 << 31)
"""Below are the channels between parts of what was one chain."""
NEVER = float("inf")
Run = Callable[[Callable[[], T]], T]
"""Calls something in a thread, and returns what it returns."""


class BusyTime:
    """The time for which a subtask has worked, and for which backpressure has stopped it, in s.

    In the rest of the time it was idle, or another subtask of its host worked.
    """

    __slots__ = ("_backpressured", "busy", "held_since", "working_since")

    def __init__(self) -> None:
        self.busy = 0.0
        self.working_since: float | None = None
        """The time since which a thread of the subtask works; None if none does."""
        self._backpressured = 0.0
        self.held_since: float | None = None

    def worked(self, now: float) -> float:
        """The time for which the subtask has worked, also in the call that its thread is in."""
        since = self.working_since
        return self.busy + (0.0 if since is None else max(0.0, now - since))

    def released(self, now: float) -> None:
        """Note that the subtask can work again."""
        self._backpressured = self.backpressured(now)
        self.held_since = None

    def held_up(self, now: float) -> None:
        """Note that the subtask could not work since those downstream have too much to do."""
        if self.held_since is None:
            self.held_since = now

    def backpressured(self, now: float) -> float:
        """Return for how long backpressure has held the subtask up."""
        since = self.held_since
        return self._backpressured + (0.0 if since is None else now - since)


class ThrottledGauge(Generic[T]):
    """Computes a figure again when that takes less than a hundredth of the time since the last one.

    Args:
        find: finds the figure.
        clock: seconds.
    """

    __slots__ = ("_clock", "_due", "_figure", "_find")

    def __init__(
        self, find: Callable[[], T], clock: Callable[[], float] = time.perf_counter
    ) -> None:
        self._find, self._clock = find, clock
        self._figure: T | None = None
        self._due = float("-inf")

    def __call__(self) -> T:
        """Return the figure, as it was when it was last found."""
        begun, figure = self._clock(), self._figure
        if figure is None or begun >= self._due:
            figure = self._figure = self._find()
            ended = self._clock()
            self._due = ended + (ended - begun) / _SHARE
        return figure


class ChainProgress:
    """Reports the progress of a chain.

    Args:
        name: the names of its operators.
        subtask: which subtask, from 0.
        chain: the chain.
        states: the keyed state of its operators, with the name of each. To count it is to visit
            each namespace, and there may be a million of them: it is done seldom.
    """

    __slots__ = ("_chain", "_entries", "_name", "_subtask")

    def __init__(
        self,
        name: str,
        subtask: int,
        chain: OperatorChain,
        states: Sequence[tuple[str, KeyedStateBackend]],
    ) -> None:
        self._name, self._subtask, self._chain = name, subtask, chain
        self._entries = ThrottledGauge(
            lambda: tuple(
                StateEntries(operator, name, entries)
                for operator, state in states
                for name, entries in state.sizes().items()
            )
        )

    def now(self, source: SourceInput | None, busy: float, backpressured: float) -> TaskProgress:
        """Return the progress.

        Args:
            source: what feeds the chain, if a source does.
            busy: how long the subtask has worked, in s.
            backpressured: how long backpressure has held the subtask up, in s.
        """
        states = self._entries()
        return TaskProgress(
            name=self._name,
            subtasks=1,
            records=self._chain.records,
            watermark=event_time(self._chain.watermark),
            state_entries=sum(state.entries for state in states),
            backlog=None if source is None else source.backlog,
            subtask=self._subtask,
            busy=busy,
            backpressured=backpressured,
            states=states,
        )


def at_once(call: Callable[[], T]) -> T:
    """Call something in this thread."""
    return call()


class Subtask(LogPlace):
    """Runs one subtask from ``open`` to ``close``.

    A subtask can be divided into parts, which work as if each was a subtask of its own: rows go
    from one part to another. The subtask itself then only opens and closes.

    Args:
        identity: which subtask of which job.
        ship: takes each row that leaves.
        now: the time in seconds; any clock that never goes back.
    """

    builder = SubtaskBuilder

    def __init__(
        self,
        identity: SubtaskContext,
        ship: Callable[[ChannelRow | FanOut], None],
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.identity, self._now = identity, now
        self._clock, self._job = identity.clock, identity.job
        self._operators: list[tuple[OperatorPlan, Operator]] = [
            (plan, plan.operator) for chain in identity.vertex.chains for plan in chain.operators
        ]
        self._opened: list[Operator] = []
        self._explained = Explained(self._failure)
        with self._explained:
            self._builder = self.builder(identity, ship, now)
            parts = self._builder.build()
        self._vertex = self._builder.vertex
        self._chains, self._contexts = parts.chains, parts.contexts
        self._writers = [writer for _, writer in parts.writers]
        self._links, self._channels = parts.links, parts.channels
        self._writers_of = parts.writers
        self._hops: list[tuple[LocalOutput, int, int]] = []
        self._batches: dict[int, EventBatch] = {}
        self._lanes: dict[int, int] = {}
        """The channel of all rows to a part, so that none of them overtakes another one."""
        self._ship = ship
        self._parts: list[Subtask] = []
        self._places: tuple[int, ...] = tuple(range(len(parts.chains)))
        self._runs: dict[int, Run[object]] = {}
        self.run: Run[Any] = at_once
        """Calls something where its functions run."""
        self.depths = parts.depths
        """How many chains lie before each of its chains, at most."""
        self._operators = [(plan, plan.operator) for plan, _ in parts.contexts]
        downstream = sorted(range(len(parts.chains)), key=lambda i: (-parts.depths[i], i))
        self._downstream_first = [parts.chains[index] for index in downstream]
        self.sources: dict[int, SourceInput] = {}
        """Its sources, by the number of the chain that they feed."""
        self.alignment = BarrierAlignment(self._channels)
        self._next_report = 0
        self._note_chains()
        self._progress = [(index, self._watched(index)) for index in range(len(parts.chains))]

    def open(self) -> None:
        """Open all operators, downstream first as Flink does, and the readers of its sources."""
        with self._explained:
            for plan, context in reversed(self._contexts):
                self._opened.append(plan.operator)
                self._run_of(plan.operator)(partial(plan.operator.open, context))
            restored = self.identity.restored
            for index, chain in enumerate(self._vertex.chains):
                if chain.source is not None:
                    positions = None if restored is None else restored.sources.get(chain.source_id)
                    context = self._builder.source_context()
                    (splits,) = chain.splits
                    reader = chain.source.reader(splits, positions, context)
                    self.sources[index] = self._source_input(index, reader)
        self.identity = replace(self.identity, restored=None)
        del self._builder  # like the identity it held the state that is in use now
        self._opened_for(self._parts)

    def _opened_for(self, parts: list[Subtask]) -> None:
        for part in parts:
            part.opened_as(self, parts)

    def opened_as(self, whole: Subtask, beside: list[Subtask]) -> None:
        """Take the identity and the sources of an open subtask, and release the builder.

        Args:
            whole: the subtask, of which this is a part.
            beside: all its parts.
        """
        self.identity = whole.identity
        self.sources = {i: source for i, source in whole.sources.items() if i in self._places}
        if hasattr(self, "_builder"):
            del self._builder
        if self._parts is not beside:
            whole._opened_for(self._parts)

    # -- work ------------------------------------------------------------------------------------

    def receive(self, row: ChannelRow) -> None:
        """Queue a row from an exchange."""
        with self._explained:
            self._take(row)

    def _take(self, row: ChannelRow) -> None:
        payload, arrived = row.payload, self.alignment.arrived
        if type(payload) is EventBatch:
            chains, channels = self._chains, self._channels
            for channel, event in payload.take():
                if channel in arrived:
                    self.alignment.hold(row._replace(channel=channel, payload=event))
                elif type(event) is Bundle:  # most are, and calls add up
                    chain, port = channels[channel]
                    chains[chain].receive(port, event)
                else:
                    self._take_event(channel, event)
        elif row.channel in arrived:
            self.alignment.hold(row)
        elif isinstance(payload, AlignedBarriers):
            self.alignment.arrive_together(payload.channels, payload.checkpoint_id)
        else:
            assert not isinstance(payload, EventBatch)
            self._take_event(row.channel, decode(payload))

    def _take_event(self, channel: int, event: Event) -> None:
        chain, port = self._channels[channel]
        if type(event) is Bundle:
            self._chains[chain].receive(port, event)
        elif isinstance(event, Barrier):
            self.alignment.arrive(channel, event.checkpoint_id)
        else:
            assert not isinstance(event, Bundle)
            self._chains[chain].take_event(channel, event)

    def poll(self, chain: int) -> tuple[int, bool]:
        """Queue the next elements of a source; return the result of ``SourceInput.poll``."""
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
        """True if an inbox has elements."""
        for chain in self._chains:  # noqa: SIM110 - a generator takes twice as long
            if chain.inbox:
                return True
        return False

    @property
    def reading(self) -> bool:
        """True if a source has not ended."""
        return any(source.reading for source in self.sources.values())

    @property
    def ended(self) -> bool:
        """True once all input has ended and is processed."""
        return all(chain.ended for chain in self._chains)

    @property
    def follows_clock(self) -> bool:
        """True if an advance of processing time may emit elements."""
        return bool(self._clocked)

    def piece(self, rows: Iterable[ChannelRow], seconds: float) -> None:
        """Do some work, in a thread of its own.

        Args:
            rows: what came from exchanges.
            seconds: after how long to end; a slow function may take longer.
        """
        begun = self.activity.working_since = self._now()
        self.tick()
        self.work(begun + seconds, rows)
        self.activity.working_since = None
        self.activity.busy += self._now() - begun

    def tick(self) -> None:
        """Fire timers due by processing time, and emit due watermarks."""
        now = self._clock.now()
        if not self._clocked and now < self._next_report:
            return
        with self._explained:
            for chain in self._clocked:
                chain.tick(now)
            if now >= self._next_report:
                self.report_metrics()

    def next_processing_time(self) -> int | None:
        """Return when (ms) the clock may have an effect next, unless an element comes before."""
        times = [chain.next_processing_time() for chain in self._clocked]
        return min((time for time in times if time is not None), default=None)

    @property
    def channels_out(self) -> int:
        """The number of channels that begin here."""
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

    # -- parts -----------------------------------------------------------------------------------

    def divide(self, numbers: Callable[[int], int]) -> dict[int, Subtask]:
        """Return a part for each chain, by its number; the only part may be the subtask itself.

        Args:
            numbers: gives the number of the part of a chain.
        """
        if len(self._chains) == 1:
            return {numbers(0): self}
        found = {index: self._part(index) for index in range(len(self._chains))}
        for link in self._links:
            found[link.receiver].receive_over(link.channel, link.port)
            found[link.sender].send_over(link.output, numbers(link.receiver), link.channel)
        self._parts = list(found.values())
        return {numbers(index): part for index, part in found.items()}

    def _part(self, index: int) -> Subtask:
        """Return a part with one chain; outputs of other chains are to be connected."""
        first = sum(len(chain.operators) for chain in self._vertex.chains[:index])
        part: Subtask = copy.copy(self)
        chain = self._chains[index]
        part._chains = part._downstream_first = [chain]
        part._contexts = self._contexts[first : first + len(self._vertex.chains[index].operators)]
        part._writers = [writer for sender, writer in self._writers_of if sender == index]
        part._hops, part._places, part._parts = [], (index,), []
        part._batches, part._lanes = {}, {}
        part._channels = {
            channel: (0, port)
            for channel, (receiver, port) in self._channels.items()
            if receiver == index
        }
        part.alignment = BarrierAlignment(part._channels)
        part._progress = [each for each in self._progress if each[0] == index]
        part._note_chains()
        return part

    def receive_over(self, channel: int, port: int) -> None:
        """Receive the elements of another part."""
        self._channels[channel] = 0, port
        self.alignment = BarrierAlignment(self._channels)

    def send_over(self, output: LocalOutput, receiver: int, channel: int) -> None:
        """Send the elements of an output to another part."""
        batches, first = self._batches, self._lanes.setdefault(receiver, channel)

        def send(event: Event) -> None:
            # In one row with what is on its way there already.
            batch = batches.get(receiver)
            if batch is None or batch.sent:
                batch = batches[receiver] = EventBatch()
                self._ship(ChannelRow(receiver, first, 0, batch))
            batch.events.append((channel, event))

        output.write_bundle = output.event = send
        self._hops.append((output, receiver, channel))

    def cut(self, numbers: Iterator[int]) -> dict[int, Subtask]:
        """Return parts for the tasks that Flink would have in place of this part, by their numbers.

        Args:
            numbers: the number of this part, which the first of them keeps, and more numbers.
        """
        plans = [plan for plan, _ in self._contexts]
        places = [i for i in range(1, len(plans)) if plans[i].task != plans[i - 1].task]
        if len(self._chains) != 1 or self._chains[0].ending:
            places = []
        found, rest, number = {}, self, next(numbers)
        for before, place in zip((0, *places), places):
            after = next(numbers)
            found[number], rest = rest.cut_at(place - before, after)
            number = after
        return found | {number: rest}

    def cut_at(self, place: int, number: int) -> tuple[Subtask, Subtask]:
        """Return two parts: of the operators before a place, and of those from there on.

        Args:
            place: the index of an operator.
            number: that of the second part.
        """
        head: Subtask = copy.copy(self)
        tail: Subtask = copy.copy(self)
        (chain,) = self._chains
        channel = _FIRST_CUT - number
        nodes = {plan.node for plan, _ in self._contexts[:place]}
        output, rest = chain.cut(place, channel, nodes, self._now)
        tail._chains = tail._downstream_first = [rest]
        head._contexts, tail._contexts = self._contexts[:place], self._contexts[place:]
        ends = {id(end) for end in chain.ends()}
        head._writers = [writer for writer in self._writers if id(writer) in ends]
        tail._writers = [writer for writer in self._writers if id(writer) not in ends]
        head._hops, head._batches, head._lanes = [], {}, {}
        tail._hops, tail._batches, tail._lanes = [], {}, {}
        for hop in self._hops:
            (head if id(hop[0]) in ends else tail).send_over(*hop)
        head.send_over(output, number, channel)
        tail._channels, tail.sources, tail._progress = {channel: (0, 0)}, {}, []
        tail._places = ()
        tail.alignment = BarrierAlignment(tail._channels)
        self._parts = [head, tail]  # which get what opening this one finds
        head._note_chains()
        tail._note_chains()
        return head, tail

    def _note_chains(self) -> None:
        self._clocked = [chain for chain in self._chains if chain.follows_clock]
        self.fan_out = max((writer.fan_out for writer in self._writers), default=0)
        """How many subtasks the widest of its exchanges sends to."""
        self.activity = BusyTime()

    @property
    def channels_in(self) -> Iterable[int]:
        """The channels that end here."""
        return self._channels

    def ship_to(self, ship: Callable[[ChannelRow | FanOut], None]) -> None:
        """Let what leaves go elsewhere from now on."""
        self._ship = ship
        self._batches.clear()
        for writer in self._writers:
            writer.ship_to(ship)

    def run_in(self, run: Run[object]) -> None:
        """Call all functions by something that calls them in a thread."""
        self.run = run
        self._runs.update(dict.fromkeys((id(plan.operator) for plan, _ in self._contexts), run))

    @property
    def divisible(self) -> bool:
        """True if ``cut`` would find more than one task now."""
        tasks = {plan.task for plan, _ in self._contexts}
        return len(tasks) > 1 and len(self._chains) == 1 and not self._chains[0].ending

    def functions(self) -> list[Operator]:
        """Return its operators."""
        return [plan.operator for plan, _ in self._contexts]

    def _run_of(self, operator: Operator) -> Run[object]:
        return self._runs.get(id(operator), at_once)

    # -- checkpoints -----------------------------------------------------------------------------

    def begin_checkpoint(self, checkpoint_id: int) -> None:
        """Begin a checkpoint here, if no barriers will come from upstream."""
        self.alignment.begin_checkpoint(checkpoint_id)
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
            for index, source in self.sources.items():
                source_id = self._vertex.chains[index].source_id
                state.sources[source_id] = source.snapshot(checkpoint_id)
            self.report_metrics()
        return state

    def save_time(self) -> list[tuple[object, ...]]:
        """Return the event time of each chain, which a checkpoint of Flink's does not have."""
        return [chain.save_time() for chain in self._chains]

    def load_time(self, saved: list[tuple[object, ...]]) -> None:
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
            for output, _, _ in self._hops:
                output.event(Barrier(checkpoint_id))  # type: ignore[arg-type]
            for source in self.sources.values():
                source.barrier_passed(checkpoint_id)

    @property
    def hears_of_checkpoints(self) -> bool:
        """True if a source, a writer or a function is notified of complete checkpoints."""
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

    def committables(self) -> list[object]:
        """Return, once, the committables of this checkpoint, or of the end, for the driver."""
        return [item for plan, _ in self._contexts for item in plan.operator.committables()]

    # -- the end ---------------------------------------------------------------------------------

    def close(self, failed: bool = False) -> None:
        """Close every operator that was opened; a failure to close does not hide another one."""
        error: SubtaskFailure | None = None
        for source in reversed(self.sources.values()):
            source.close()
        while self._opened:
            operator = self._opened.pop()
            try:
                self._run_of(operator)(operator.close)
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

    def release(self) -> None:
        """Free its state, after ``close``; without this, that is left to a search for cycles."""
        for _, context in self._contexts:
            if context.keyed_state is not None:
                context.keyed_state.release()

    # -- what is known of it ---------------------------------------------------------------------

    def progress(self) -> list[TaskProgress]:
        """Return how far each of its chains is."""
        activity, now = self.activity, self._now()
        return [
            each.now(self.sources.get(index), activity.busy, activity.backpressured(now))
            for index, each in self._progress
        ]

    def place_of(self, operator: Operator | None) -> str:
        """Return an operator's name and the subtask's number, for people."""
        vertex, index = self.identity.vertex, self.identity.index
        names = (plan.name for plan, each in self._operators if each is operator)
        return f"{next(names, vertex.name)} ({index + 1}/{vertex.parallelism})"

    @property
    def operators(self) -> list[tuple[OperatorPlan, Operator]]:
        """The operators with their plans."""
        return self._operators

    @property
    def part_name(self) -> str:
        """The name under which it reports its progress."""
        names = [chain_name(self._vertex, index) for index, _ in self._progress]
        return names[0] if names else self.identity.vertex.name

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
