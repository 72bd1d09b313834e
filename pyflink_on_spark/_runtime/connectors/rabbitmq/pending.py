"""Which messages a source has handed on, and the broker does not know that yet."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class HandedOn:
    """The part of a checkpoint that is about one subtask: correlation ids of messages.

    Args:
        ids: of those that the checkpoint has, and that may come again.
    """

    ids: frozenset[str]


class PendingMessages:
    """Keeps delivery tags until a checkpoint is complete, and ids until they cannot come again.

    An id from before a restart, or before the connection was lost, is kept until the message has
    come again, or until a message came that is new: those that were handed out before are at the
    queue's head. What comes again is left out, and acknowledged like the others.

    Args:
        restored: the ids of the checkpoint that the job goes on from.
    """

    def __init__(self, restored: Iterable[str] = ()) -> None:
        self._returning = set(restored)
        self._handed_on: set[str] = set()
        self._last_tag = self._acknowledged = 0
        self._saved: dict[int, tuple[int, frozenset[str], bool]] = {}
        self._saw_new = False

    def is_new(self, identity: str) -> bool:
        """Tell whether a message's id was not handed on before, and note it."""
        if identity in self._handed_on:
            return False
        self._handed_on.add(identity)
        if identity in self._returning:
            self._returning.remove(identity)
            return False
        return True

    def note(self, tag: int, *, redelivered: bool) -> None:
        """Note a message that was taken: its delivery tag, and whether it was handed out before."""
        self._last_tag = tag
        self._saw_new = self._saw_new or not redelivered

    def save(self, checkpoint_id: int) -> HandedOn:
        """Return what belongs to a checkpoint."""
        ids = frozenset(self._handed_on)
        self._saved[checkpoint_id] = self._last_tag, ids, self._saw_new
        return HandedOn(ids | self._returning)

    def complete(self, checkpoint_id: int) -> int | None:
        """Return the tag up to which messages can be acknowledged, if there are any."""
        saved = self._saved.get(checkpoint_id)
        for number in [number for number in self._saved if number <= checkpoint_id]:
            del self._saved[number]
        if saved is None:
            return None
        tag, ids, saw_new = saved
        self._handed_on -= ids
        if saw_new:
            self._returning.clear()
        if tag <= self._acknowledged:
            return None
        self._acknowledged = tag
        return tag

    def lost(self) -> None:
        """Learn that the connection was lost: all that is not acknowledged comes again."""
        self._returning |= self._handed_on
        self._handed_on.clear()
        self._saved.clear()
        self._last_tag = self._acknowledged = 0
        self._saw_new = False
