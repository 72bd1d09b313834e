"""Barriers: their alignment, and the checkpoints of a group that follow from it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Protocol

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.slot_state import TaskStateSnapshot
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.exchange_writer import (
    AlignedBarriers,
    BarrierFanOut,
    ChannelRow,
)
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


class SharedAlignment:
    """The alignment of the channels that end in each of several parts of a process.

    Each of their senders reaches all these parts. Its barrier comes once, before the rows that
    follow it, and counts for all parts. So a part gets one event in place of one for each channel.
    """

    def __init__(self) -> None:
        self.parts: list[int] = []
        """The numbers of the parts."""
        self.arrived: set[int] = set()
        """The channels whose barriers have arrived: what follows there belongs to after it."""
        self._channels = frozenset[int]()
        self._held: list[tuple[ChannelRow | BarrierFanOut, float]] = []
        self._latest = 0.0

    def add_channels(self, channels: Iterable[int]) -> None:
        """Take in channels, which end in each of the parts."""
        self._channels = self._channels.union(channels)

    def add_part(self, part: int) -> None:
        """Take in a part; the last one may come again."""
        if self.parts[-1:] != [part]:
            self.parts.append(part)

    def hold(self, row: ChannelRow | BarrierFanOut, arrival: float) -> None:
        """Keep a row of a channel whose barrier has arrived, with its virtual time (s)."""
        self._held.append((row, arrival))

    def arrive(self, barrier: BarrierFanOut, arrival: float) -> bool:
        """Take a channel's barrier; return whether it was the last one."""
        self.arrived.add(barrier.channel)
        self._latest = max(self._latest, arrival)
        return len(self.arrived) == len(self._channels)

    def release(
        self, checkpoint_id: int
    ) -> tuple[AlignedBarriers, float, list[tuple[ChannelRow | BarrierFanOut, float]]]:
        """End the alignment.

        Returns:
            The event for the parts, its virtual time (s), and what waited, as it came.
        """
        held, self._held = self._held, []
        self.arrived.clear()
        return AlignedBarriers(checkpoint_id, self._channels), self._latest, held


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
    run: Callable[[Callable[[], Any]], Any]

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

    def committables(self) -> list[Any]:
        """Return, once, the committables of the checkpoint."""
        ...


class GroupCheckpoints:
    """Lets barriers pass the subtasks of a group, and takes a snapshot at each."""

    def __init__(self) -> None:
        self._requests: dict[int, SnapshotRequest] = {}
        self.halted = False
        """True once no source is read any more, since the job ends with a savepoint."""
        self.prepared: list[Any] = []
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
