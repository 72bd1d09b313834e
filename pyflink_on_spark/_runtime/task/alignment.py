"""The alignment of barriers: where they separate the elements before and after a checkpoint."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Hashable, Iterable

from pyflink_on_spark._runtime.task.exchange_writer import (
    AlignedBarriers,
    BarrierFanOut,
    ChannelRow,
)


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
