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
        self._arrived: set[Hashable] = set()
        self._held: list[ChannelRow] = []
        self._aligned: deque[int] = deque()

    @property
    def aligned(self) -> int | None:
        """The checkpoint whose barriers have all arrived, until ``release``."""
        return self._aligned[0] if self._aligned else None

    def holds(self, row: ChannelRow) -> bool:
        """Keep a row that belongs to after the checkpoint; tell whether it does."""
        if row.channel not in self._arrived:
            return False
        self._held.append(row)
        return True

    def arrive(self, channel: Hashable, checkpoint_id: int) -> None:
        """Take a channel's barrier."""
        self._arrived.add(channel)
        if self._arrived == self._channels:
            self._aligned.append(checkpoint_id)

    def trigger(self, checkpoint_id: int) -> None:
        """Begin a checkpoint in a subtask without input channels; nothing happens in others.

        If the one before was aborted, but has not been released yet, this one comes after it: each
        receiver has to get all barriers.
        """
        if not self._channels:
            self._aligned.append(checkpoint_id)

    def release(self) -> list[ChannelRow]:
        """End the alignment; return what waited, in the order in which it came."""
        self._arrived.clear()
        self._aligned.popleft()
        held, self._held = self._held, []
        return held
