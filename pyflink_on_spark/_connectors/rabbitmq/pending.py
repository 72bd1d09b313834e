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

    An id from before a restart is kept until the message has come again, or until a message came
    that is new: those that were handed out before are at the queue's head. What comes again is
    left out, and acknowledged like the others.

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

    def tag_of(self, checkpoint_id: int) -> int | None:
        """Return the tag up to which a checkpoint has messages, if it has any more of them."""
        tag = self._saved[checkpoint_id][0] if checkpoint_id in self._saved else 0
        return tag if tag > self._acknowledged else None

    def complete(self, checkpoint_id: int, *, all_came: bool = True) -> None:
        """Forget what the broker knows now: that a checkpoint's messages are done with.

        Args:
            checkpoint_id: the checkpoint, which is complete.
            all_came: whether the broker has found out by now that the connections of the attempt
                before are gone, and has put their messages back into the queue.
        """
        saved = self._saved.get(checkpoint_id)
        for number in [number for number in self._saved if number <= checkpoint_id]:
            del self._saved[number]
        if saved is None:
            return
        tag, ids, saw_new = saved
        self._handed_on -= ids
        if saw_new and all_came:
            self._returning.clear()
        self._acknowledged = max(tag, self._acknowledged)

    @property
    def unacknowledged(self) -> bool:
        """Whether messages with ids were handed on that the broker still counts as under way."""
        return bool(self._handed_on)

    def lost(self) -> None:
        """Learn that the connection was lost, and with it the tags."""
        self._saved.clear()
        self._last_tag = self._acknowledged = 0
        self._saw_new = False
