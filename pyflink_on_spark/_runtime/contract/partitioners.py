"""Partitioners: the distribution of elements over the receivers of an exchange."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any, ClassVar


@dataclass(frozen=True)
class Partitioner:
    """The receivers that one sender can reach, and the choice among them.

    ``strategy`` is the name of it in an execution plan.
    """

    strategy: ClassVar[str] = ""

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the indices of the subtasks that a sending subtask can reach."""
        return range(receivers)


@dataclass(frozen=True)
class ForwardPartitioner(Partitioner):
    """Subtask i sends to subtask i."""

    strategy: ClassVar[str] = "FORWARD"

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the range of the one subtask that has the sender's index."""
        return range(sender, sender + 1)


@dataclass(frozen=True)
class RebalancePartitioner(Partitioner):
    """Round robin over all subtasks."""

    strategy: ClassVar[str] = "REBALANCE"


@dataclass(frozen=True)
class RescalePartitioner(Partitioner):
    """Round robin over the sender's share of the subtasks."""

    strategy: ClassVar[str] = "RESCALE"

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the sender's share: neighbours, as even as possible."""
        if senders >= receivers:
            only = sender * receivers // senders
            return range(only, only + 1)
        first = -(-sender * receivers // senders)
        last = -(-(sender + 1) * receivers // senders)
        return range(first, last)


@dataclass(frozen=True)
class ShufflePartitioner(Partitioner):
    """A random subtask for each element; the same ones when a task is run again."""

    strategy: ClassVar[str] = "SHUFFLE"

    def generator(self, sender: int) -> random.Random:
        """Return the sender's random numbers."""
        return random.Random(sender)


@dataclass(frozen=True)
class BroadcastPartitioner(Partitioner):
    """Every element to every subtask."""

    strategy: ClassVar[str] = "BROADCAST"


@dataclass(frozen=True)
class GlobalPartitioner(Partitioner):
    """Everything to the first subtask."""

    strategy: ClassVar[str] = "GLOBAL"

    def receivers(self, sender: int, senders: int, receivers: int) -> range:
        """Return the first subtask."""
        return range(1)


@dataclass(frozen=True)
class HashPartitioner(Partitioner):
    """By the key group of the element's key; elements are pairs of key and value.

    ``key_type`` is the declared type of the keys, or None.
    """

    strategy: ClassVar[str] = "HASH"
    key_type: Any = None


@dataclass(frozen=True)
class CustomPartitioner(Partitioner):
    """To the subtask that the user has chosen; elements are pairs of its index and the value."""

    strategy: ClassVar[str] = "CUSTOM"
