"""Barriers and event time of several channels, and the checkpoints of a group."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, MutableMapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.slot_state import TaskStateSnapshot
from pyflink_on_spark._runtime.contract.plan import VertexPlan
from pyflink_on_spark._runtime.elements.bundle import (
    Barrier,
    CombinedTime,
)
from pyflink_on_spark._runtime.elements.time import TimeEvent, WatermarkValve
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.exchange_writer import (
    AlignedBarriers,
    ChannelRow,
    FanOut,
    decode,
)
from pyflink_on_spark._runtime.task.schedule import RunQueueEntry, Schedule
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskContext


class BarrierAlignment:
    """The alignment of barriers: rows after a barrier wait for the barriers of all channels.

    Args:
        channels: the subtask's input channels.
    """

    def __init__(self, channels: Collection[Hashable]) -> None:
        self._count = len(channels)
        self.arrived: set[Hashable] = set()
        """The channels whose barriers have arrived: what follows there belongs to after it."""
        self._held: list[ChannelRow] = []
        self._aligned: deque[int] = deque()
        self.aligned: int | None = None
        """The checkpoint whose barriers have all arrived, until ``release``."""

    def hold(self, row: ChannelRow) -> None:
        """Keep a row of a channel whose barrier has arrived."""
        self._held.append(row)

    def arrive(self, channel: Hashable, checkpoint_id: int) -> None:
        """Take a channel's barrier."""
        self.arrive_together((channel,), checkpoint_id)

    def arrive_together(self, channels: Iterable[Hashable], checkpoint_id: int) -> None:
        """Take the barriers of several channels, between which nothing came."""
        self.arrived.update(channels)
        if len(self.arrived) == self._count:
            self._align(checkpoint_id)

    def begin_checkpoint(self, checkpoint_id: int) -> None:
        """Begin a checkpoint in a subtask without input channels; nothing happens in others.

        If the one before was aborted, but has not been released yet, this one comes after it: each
        receiver has to get all barriers.
        """
        if not self._count:
            self._align(checkpoint_id)

    def release(self) -> list[ChannelRow]:
        """End the alignment; return what waited, in the order in which it came."""
        self.arrived.clear()
        self._aligned.popleft()
        self.aligned = self._aligned[0] if self._aligned else None
        held, self._held = self._held, []
        return held

    def _align(self, checkpoint_id: int) -> None:
        self._aligned.append(checkpoint_id)
        self.aligned = self._aligned[0]


class SharedInput:
    """The channels that end in each of several parts of a process.

    Each of their senders reaches all these parts. An event of a sender comes once, before the rows
    that follow it, and counts for all parts: barriers are aligned here, and watermarks, idleness
    and ends of an input are combined. So a part gets one event in place of one for each channel.

    Args:
        channel: the channel that stands for all of them in a checkpoint.
        unit: those events that come at a later virtual time than the present wait here.
    """

    def __init__(self, channel: int, unit: RunQueueEntry) -> None:
        self.channel, self.unit = channel, unit
        self.parts: list[int] = []
        """The numbers of the parts."""
        self.arrived: set[int] = set()
        """The channels whose barriers have arrived: what follows there belongs to after it."""
        self._channels = frozenset[int]()
        self._held: list[tuple[ChannelRow | FanOut, float]] = []
        self._latest = 0.0
        self._ahead: dict[int, float] = {}
        self._of_port: dict[int, list[int]] = {}
        self._valves: dict[int, tuple[int, WatermarkValve]] = {}

    def add_channels(self, channels: Iterable[int], port: int) -> None:
        """Take in channels, which end in an input (its number) of each of the parts."""
        self._channels = self._channels.union(channels)
        together = self._of_port.setdefault(port, [])
        together += channels
        self._valves |= dict.fromkeys(together, (together[0], WatermarkValve(together)))

    def add_part(self, part: int) -> None:
        """Take in a part; the last one may come again."""
        if self.parts[-1:] != [part]:
            self.parts.append(part)

    def arrival(self, channel: int, arrival: float, now: float) -> float:
        """Return when something comes on a channel: not before what came there so far.

        Args:
            channel: the channel.
            arrival: the virtual time (s) at which it was sent.
            now: the present virtual time (s).
        """
        if self._ahead:
            arrival = max(arrival, self._ahead.pop(channel, arrival))
        if arrival > now:
            self._ahead[channel] = arrival
        return arrival

    def combine(self, channel: int, event: TimeEvent) -> tuple[int, CombinedTime] | None:
        """Take a channel's event.

        Returns:
            The time of the channel's input, and the channel that stands for the input, if the time
            is another one now.
        """
        stands, valve = self._valves[channel]
        idle, ended = valve.idle, valve.ended
        advanced = valve.take(channel, event)
        if advanced is None and valve.idle == idle and valve.ended == ended:
            return None
        return stands, valve.time

    def hold(self, row: ChannelRow | FanOut, arrival: float) -> None:
        """Keep a row of a channel whose barrier has arrived, with its virtual time (s)."""
        self._held.append((row, arrival))

    def align(self, channel: int, arrival: float) -> bool:
        """Take a channel's barrier; return whether it was the last one."""
        self.arrived.add(channel)
        self._latest = max(self._latest, arrival)
        return len(self.arrived) == len(self._channels)

    def release(
        self, checkpoint_id: int
    ) -> tuple[AlignedBarriers, float, list[tuple[ChannelRow | FanOut, float]]]:
        """End the alignment.

        Returns:
            The event for the parts, its virtual time (s), and what waited, as it came.
        """
        held, self._held = self._held, []
        self.arrived.clear()
        return AlignedBarriers(checkpoint_id, self._channels), self._latest, held


class SharedInputs:
    """All shared inputs of a process.

    An event that comes at a later virtual time than the present, as a slow function has sent it,
    is not combined before its time. It would hold up what others send meanwhile.

    Args:
        schedule: says which part works next.
        units: the parts and the inputs, by their numbers.
        numbers: those of the inputs.
        deliver: lets a row arrive at its part at a virtual time (s).
        delivered: notes that something waits at a part.
    """

    def __init__(
        self,
        schedule: Schedule,
        units: MutableMapping[int, RunQueueEntry],
        numbers: Iterator[int],
        deliver: Callable[[ChannelRow, float], None],
        delivered: Callable[[RunQueueEntry], None],
    ) -> None:
        self._schedule, self._units, self._numbers = schedule, units, numbers
        self._deliver, self._delivered = deliver, delivered
        self._of_channel: dict[int, SharedInput] = {}
        self._of_number: dict[int, SharedInput] = {}

    def __contains__(self, channel: int) -> bool:
        """True if barriers on a channel come for all its receivers at once."""
        return channel in self._of_channel

    def share(self, vertex: VertexPlan, part_of: Callable[[int], int]) -> None:
        """Share the channels whose senders reach each subtask of a vertex.

        Args:
            vertex: the vertex.
            part_of: returns the number of the part of a subtask in which a channel ends.
        """
        shared: dict[int, SharedInput] = {}
        for incoming in vertex.inputs:
            channels = incoming.exchange.channels
            if incoming.exchange.reaches_all:
                one = self._of_channel.get(channels[0])
                if one is None:
                    one = shared.get(incoming.chain) or self._new(channels[0])
                    shared[incoming.chain] = one
                    one.add_channels(channels, incoming.port)
                    self._of_channel.update(dict.fromkeys(channels, one))
                one.add_part(part_of(channels[0]))

    def _new(self, channel: int) -> SharedInput:
        number = next(self._numbers)
        unit = self._units[number] = RunQueueEntry(number, math.inf)  # before what it is for
        shared = self._of_number[number] = SharedInput(channel, unit)
        return shared

    def admit(self, row: ChannelRow, arrival: float) -> float | None:
        """Return the virtual time (s) at which a row arrives; None if it waits for barriers.

        Args:
            row: a row for one of the parts.
            arrival: the virtual time (s) at which it was sent.
        """
        shared = self._of_channel.get(row.channel)
        if shared is None:
            return arrival
        if row.channel in shared.arrived:
            shared.hold(row, arrival)
            return None
        return shared.arrival(row.channel, arrival, self._schedule.now)

    def part_of(self, channel: int) -> int:
        """Return the number of one of the parts in which a channel ends."""
        return self._of_channel[channel].parts[0]

    def take(self, event: FanOut, arrival: float) -> ChannelRow | None:
        """Take an event for all its receivers here, if there are any.

        Args:
            event: the event.
            arrival: the virtual time (s) at which it was sent.

        Returns:
            The row that the part with most to do has got for it, or None.
        """
        shared = self._of_channel.get(event.channel)
        if shared is None:
            return None
        channel, payload, now = event.channel, decode(event.payload), self._schedule.now
        if channel in shared.arrived:
            shared.hold(event, arrival)
            return None
        if isinstance(payload, Barrier):
            self.combine(shared.unit, math.inf)
            if shared.align(channel, arrival):
                self._release(shared, payload.checkpoint_id)
            return None
        arrival = shared.arrival(channel, arrival, now)
        if arrival > now:
            row = ChannelRow(shared.unit.subtask_id, channel, event.seq, payload)
            self._schedule.deliver(shared.unit, row, arrival)
            self._delivered(shared.unit)
            return None
        return self._combine(shared, channel, payload, now, None)

    def _release(self, shared: SharedInput, checkpoint_id: int) -> None:
        aligned, arrival, held = shared.release(checkpoint_id)
        for number in shared.parts:
            unit = self._units[number]
            self._schedule.separate(unit, ChannelRow(number, shared.channel, 0, aligned), arrival)
            self._delivered(unit)
        for after, arrival in held:
            if isinstance(after, FanOut):
                self.take(after, arrival)
            elif (admitted := self.admit(after, arrival)) is not None:
                self._deliver(after, admitted)

    def combine(self, unit: RunQueueEntry, until: float) -> None:
        """Combine the events that have waited for their time.

        Args:
            unit: where they wait.
            until: the virtual time (s) that has come.
        """
        shared = self._of_number[unit.subtask_id]
        for arrival, place, row in unit.rows.take_with_times(until):
            self._combine(shared, row.channel, row.payload, arrival, place)

    def _combine(
        self, shared: SharedInput, channel: int, event: object, arrival: float, place: int | None
    ) -> ChannelRow | None:
        """Take an event of a channel; tell all parts if that has an effect."""
        assert isinstance(event, TimeEvent)
        combined = shared.combine(channel, event)
        if combined is None:
            return None
        stands, time = combined
        slowest, most = None, -1
        for number in shared.parts:
            unit, row = self._units[number], ChannelRow(number, stands, 0, time)
            waiting = unit.rows.events
            self._schedule.deliver_combined(unit, row, channel, arrival, place)
            self._delivered(unit)
            if waiting > most:
                slowest, most = row, waiting
        return slowest


@dataclass
class SnapshotRequest:
    """A checkpoint that a group takes part in.

    Args:
        checkpoint_id: its number.
        write: writes the state of a subtask, given its index, before the subtask continues.
        taken: what is taken of keyed state; None for everything.
        halt: whether nothing is read after the checkpoint.
        remaining: how many subtasks are still to write their state.
        aborted: whether nothing is to be written any more.
        error: why it cannot be written, if that is so.
    """

    checkpoint_id: int
    write: Callable[[int, TaskStateSnapshot], None]
    taken: Callable[[KeyedStateBackend], object] | None = None
    halt: bool = False
    remaining: int = field(default=0, init=False)
    aborted: bool = field(default=False, init=False)
    error: CheckpointError | None = field(default=None, init=False)

    @property
    def done(self) -> bool:
        """True once all subtasks of the group have taken their part of the checkpoint."""
        return self.remaining == 0

    def fail(self, error: CheckpointError) -> None:
        """Write nothing more, since that cannot be done; the subtasks continue."""
        self.aborted, self.error = True, self.error or error


class Participant(Protocol):
    """The part of a subtask, as far as its checkpoints go."""

    alignment: BarrierAlignment
    identity: SubtaskContext
    run: Callable[[Callable[[], object]], Any]

    @property
    def busy(self) -> bool:
        """True if elements wait that belong to before the barrier."""
        ...

    def prepare_barrier(self) -> None:
        """Emit and process everything that belongs to before the barrier."""
        ...

    def snapshot(
        self, checkpoint_id: int, taken: Callable[[KeyedStateBackend], Any] | None = None
    ) -> TaskStateSnapshot:
        """Return the state."""
        ...

    def pass_barrier(self, checkpoint_id: int) -> None:
        """Send the barrier on, and continue with what waited for it."""
        ...

    def committables(self) -> list[object]:
        """Return, once, the committables of the checkpoint."""
        ...


class GroupCheckpoints:
    """Lets barriers pass the subtasks of a group, and takes a snapshot at each."""

    def __init__(self) -> None:
        self._requests: dict[int, SnapshotRequest] = {}
        self.halted = False
        """True once no source is read any more, since the job ends with a savepoint."""
        self.prepared: list[object] = []
        """The committables of all checkpoints since the last complete one, for the driver."""

    @property
    def pending(self) -> bool:
        """True while a subtask has yet to take its part of a checkpoint."""
        return bool(self._requests)

    def begin(self, request: SnapshotRequest, subtasks: int) -> None:
        """Take part in a checkpoint, with so many subtasks."""
        request.remaining = subtasks
        self._requests[request.checkpoint_id] = request

    def abort(self, checkpoint_id: int) -> None:
        """Write nothing more of a checkpoint; barriers that are under way pass."""
        request = self._requests.get(checkpoint_id)
        if request is not None:
            request.aborted = True
        self.halted = False

    def take_prepared(self) -> list[object]:
        """Return, once, the committables for the driver."""
        prepared, self.prepared = self.prepared, []
        return prepared

    def pass_barriers(self, subtask: Participant) -> bool:
        """Let the barriers pass that a subtask has aligned; return whether one did."""
        passed = False
        while (checkpoint_id := subtask.alignment.aligned) is not None and not subtask.busy:
            request = self._requests.get(checkpoint_id)
            if request is None:
                break  # the driver's word of this checkpoint is still under way
            subtask.run(subtask.prepare_barrier)
            if not request.aborted:
                self._save(subtask, request)
            subtask.pass_barrier(checkpoint_id)
            request.remaining -= 1
            if request.done:
                del self._requests[checkpoint_id]
            passed = True
        return passed

    def _save(self, subtask: Participant, request: SnapshotRequest) -> None:
        state = subtask.run(partial(subtask.snapshot, request.checkpoint_id, request.taken))
        try:
            request.write(subtask.identity.index, state)
        except CheckpointError as error:
            request.fail(error)
        else:
            self.halted = self.halted or request.halt
        self.prepared += subtask.run(subtask.committables)
