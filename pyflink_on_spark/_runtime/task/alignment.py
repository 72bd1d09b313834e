"""Lets the barriers of a checkpoint arrive on all channels of a subtask."""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from pyflink_on_spark._runtime.task.exchange import Row


class BarrierAlignment:
    """What comes after a barrier waits until all channels have brought theirs.

    Args:
        channels: the subtask's input channels.
    """

    def __init__(self, channels: Iterable[Hashable]) -> None:
        self._channels = frozenset(channels)
        self._arrived: set[Hashable] = set()
        self._held: list[Row] = []
        self.aligned: int | None = None
        """The checkpoint whose barriers have all arrived, until ``release``."""

    def holds(self, row: Row) -> bool:
        """Keep a row that belongs to after the checkpoint; tell whether it does."""
        if row.channel not in self._arrived:
            return False
        self._held.append(row)
        return True

    def arrive(self, channel: Hashable, checkpoint_id: int) -> None:
        """Take a channel's barrier."""
        self._arrived.add(channel)
        if self._arrived == self._channels:
            self.aligned = checkpoint_id

    def trigger(self, checkpoint_id: int) -> None:
        """Begin a checkpoint in a subtask without input channels; nothing happens in others."""
        if not self._channels:
            self.aligned = checkpoint_id

    def release(self) -> list[Row]:
        """End the alignment; return what waited, in the order in which it came."""
        self._arrived.clear()
        self.aligned = None
        held, self._held = self._held, []
        return held
