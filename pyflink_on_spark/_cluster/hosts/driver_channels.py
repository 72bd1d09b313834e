"""A host's channels to the driver: what is printed, collected and logged."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._cluster.hosts.deployment import Deployment
from pyflink_on_spark._cluster.transport.result_sender import (
    ChannelClosed,
    ChannelFailed,
    Sender,
    connect,
)


class DriverChannels:
    """Connects with a channel when something is sent there for the first time.

    Args:
        deployment: what the host runs; it has the addresses of the channels.
    """

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self._senders: dict[tuple[str, int], Sender] = {}
        self._connecting = threading.Lock()

    def of_subtask(self, subtask_id: int) -> Callable[[str], Callable[[list[Any]], None]]:
        """Return a function that returns, for a channel, what sends there."""

        def of_channel(channel: str) -> Callable[[list[Any]], None]:
            return lambda things: self.sender(channel, subtask_id).send(things)

        return of_channel

    def sender(self, channel: str, subtask_id: int) -> Sender:
        """Return the sender of a subtask to a channel."""
        sender = self._senders.get((channel, subtask_id))
        return sender or self._connect(channel, subtask_id)

    def _connect(self, channel: str, subtask_id: int) -> Sender:
        with self._connecting:  # parts of a subtask may come here at the same time
            sender = self._senders.get((channel, subtask_id))
            if sender is not None:
                return sender
            name = self._deployment.channels[channel]
            producer = f"{subtask_id}#{self._deployment.attempt}"
            sender = connect(self._deployment.results, name, producer)
            self._senders[channel, subtask_id] = sender
            return sender

    def flush(self) -> None:
        """Wait until the driver has everything."""
        for sender in self._senders.values():
            sender.flush()

    def close(self, failed: bool) -> None:
        """Close all channels.

        Args:
            failed: whether the job did, so that a channel may be gone.
        """
        expected = (ChannelClosed, ChannelFailed) if failed else (ChannelClosed,)
        for sender in self._senders.values():
            with contextlib.suppress(*expected):
                sender.close()
