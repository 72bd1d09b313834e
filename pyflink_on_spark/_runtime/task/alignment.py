"""Lets the barriers of a checkpoint arrive on all channels of a subtask."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable

from pyflink_on_spark._runtime.task.exchange import ChannelRow


class BarrierAlignment:
    """What comes after a barrier waits until all channels have brought theirs.

    Args:
        channels: the subtask's input channels.
    """

    def __init__(self, channels: Iterable[Hashable]) -> None:
        self._channels = frozenset(channels)
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
        self.arrived.add(channel)
        if self.arrived == self._channels:
            self._align(checkpoint_id)

    def trigger(self, checkpoint_id: int) -> None:
        """Begin a checkpoint in a subtask without input channels; nothing happens in others.

        If the one before was aborted, but has not been released yet, this one comes after it: each
        receiver has to get all barriers.
        """
        if not self._channels:
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
