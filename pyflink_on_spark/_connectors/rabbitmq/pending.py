"""The messages that a source has emitted and the broker still counts as unacknowledged."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class EmittedIds:
    """What a checkpoint contains of one subtask.

    Args:
        ids: the correlation ids of emitted messages that the broker may deliver again.
    """

    ids: frozenset[str]


class PendingMessages:
    """Keeps delivery tags until their checkpoint is complete, and ids until they cannot return.

    After a restart the broker delivers unacknowledged messages again, before all new messages of
    the queue. The source drops them by their ids, and acknowledges them like others. An id from
    before the restart is forgotten when its message has returned, or when a new message has
    arrived.

    Args:
        restored: the ids of the restored checkpoint.
    """

    def __init__(self, restored: Iterable[str] = ()) -> None:
        self._returning = set(restored)
        self._emitted: set[str] = set()
        self._last_tag = self._acknowledged = 0
        self._saved: dict[int, tuple[int, frozenset[str], bool]] = {}
        self._saw_new = False

    def is_new(self, identity: str) -> bool:
        """Note a message's id; return whether no message with this id was emitted before."""
        if identity in self._emitted:
            return False
        self._emitted.add(identity)
        if identity in self._returning:
            self._returning.remove(identity)
            return False
        return True

    def note(self, tag: int, *, redelivered: bool) -> None:
        """Note a message: its delivery tag, and whether the broker has delivered it before."""
        self._last_tag = tag
        self._saw_new = self._saw_new or not redelivered

    def save(self, checkpoint_id: int) -> EmittedIds:
        """Return what a checkpoint contains."""
        ids = frozenset(self._emitted)
        self._saved[checkpoint_id] = self._last_tag, ids, self._saw_new
        return EmittedIds(ids | self._returning)

    def tag_of(self, checkpoint_id: int) -> int | None:
        """Return the last delivery tag of a checkpoint; None if it is acknowledged already."""
        tag = self._saved[checkpoint_id][0] if checkpoint_id in self._saved else 0
        return tag if tag > self._acknowledged else None

    def complete(self, checkpoint_id: int, *, all_returned: bool = True) -> None:
        """Forget the messages of a checkpoint, after they were acknowledged.

        Args:
            checkpoint_id: the complete checkpoint.
            all_returned: whether the broker has noticed by now that the connections of the
                previous attempt are lost, so that their messages are in the queue again.
        """
        saved = self._saved.get(checkpoint_id)
        for number in [number for number in self._saved if number <= checkpoint_id]:
            del self._saved[number]
        if saved is None:
            return
        tag, ids, saw_new = saved
        self._emitted -= ids
        if saw_new and all_returned:
            self._returning.clear()
        self._acknowledged = max(tag, self._acknowledged)

    @property
    def unacknowledged(self) -> bool:
        """Whether messages with ids are emitted and not acknowledged."""
        return bool(self._emitted)

    def lost(self) -> None:
        """Forget the delivery tags, which belong to a connection that is lost."""
        self._saved.clear()
        self._last_tag = self._acknowledged = 0
        self._saw_new = False
