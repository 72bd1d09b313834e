"""Exchanges: what connects the subtasks of two vertices, and the rows that travel there.

A row is a bundle of up to a few thousand elements, or an event. Nothing outside of the subtasks
touches single elements.
"""

from __future__ import annotations

import pickle
from typing import NamedTuple, Protocol

from pyflink_on_spark._runtime.elements.bundle import (
    Barrier,
    Bundle,
    Event,
)
from pyflink_on_spark._runtime.elements.immutability import (
    deserialize_all,
)


class ChannelRow(NamedTuple):
    """A row from one subtask to another one.

    Args:
        subtask_id: the number of the receiver in the whole job.
        channel: the number of the channel, which has one sender and one receiver.
        seq: the row's number on its channel.
        payload: what ``encode`` made of the event, or the event itself for a receiver in the same
            process.
    """

    subtask_id: int
    channel: int
    seq: int
    payload: bytes | Event


class Outlet(Protocol):
    """The transport of rows to receivers in other processes."""

    def send(self, row: ChannelRow, stage: int) -> None:
        """Take a row for a subtask of a stage; never waits."""
        ...

    def flush(self) -> None:
        """Let the rows leave that were sent."""
        ...

    def congested(self, stage: int) -> bool:
        """True if too many rows are on their way to a stage; senders then slow down."""
        ...

    def consumed(self, row: ChannelRow, stage: int) -> None:
        """Note that a row that came from another process is processed."""
        ...


_SMALL_BYTES = 128
_barriers: dict[bytes, Barrier] = {}
"""The last barrier by its payload: a subtask gets it from each of its channels."""


def encode(event: Event, sealed: bool = False) -> bytes:
    """Serialise an event for its channel."""
    if isinstance(event, Bundle):
        return pickle.dumps((event.values, event.timestamps, event.keys, sealed), 5)
    return pickle.dumps(event, 5)


def decode(payload: bytes | Event) -> Event:
    """Return the event that travelled; sealed elements come as new copies."""
    if type(payload) is not bytes:
        return payload  # type: ignore[return-value]
    small = len(payload) <= _SMALL_BYTES
    if small and (known := _barriers.get(payload)) is not None:
        return known
    thing = pickle.loads(payload)
    if type(thing) is Barrier and small:
        _barriers.clear()
        _barriers[payload] = thing
    if type(thing) is not tuple:
        return thing  # type: ignore[no-any-return]
    values, timestamps, keys, sealed = thing
    return Bundle(deserialize_all(values) if sealed else values, timestamps, keys)
