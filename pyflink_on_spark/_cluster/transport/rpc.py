"""Connections between the driver and hosts: whole pickled messages over TCP."""

from __future__ import annotations

import pickle
from typing import Any

from pyflink_on_spark._cluster.transport.handshake import Address, dial
from pyflink_on_spark._cluster.transport.message_connection import MessageConnection
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.elements.immutability import serialize

HEARTBEAT = "heartbeat"
"""The name of the message that asks whether the peer is alive, and of the answer."""

SAMPLE = "sample"
"""The name of the order that asks a host for samples of its threads."""


class HostLost(PyFlinkOnSparkError, ConnectionError):
    """A host, or the connection to it, is lost."""


class RpcConnection:
    """One connection. Any thread may send, and one may receive.

    Args:
        wire: the connection to a peer that knows the secret.
        peer: what is at the other end, for people.
    """

    def __init__(self, wire: MessageConnection, peer: str) -> None:
        self._wire, self.peer = wire, peer
        self.own_address, self.close = wire.own_address, wire.close

    def send(self, *message: Any) -> None:
        """Send a message.

        Raises:
            HostLost: the peer is gone.
        """
        try:
            self._wire.send_bytes(serialize(message))
        except OSError as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error

    def receive(self, timeout: float | None = None) -> Any:
        """Wait for a message and return it.

        Args:
            timeout: how many seconds the peer may be silent.

        Raises:
            HostLost: the peer is gone.
            TimeoutError: the peer was silent for too long.
        """
        try:
            return pickle.loads(self._wire.recv_bytes(timeout))
        except TimeoutError as error:
            raise TimeoutError(f"{self.peer} was silent for {timeout:g} s") from error
        except (EOFError, OSError) as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error


def connect(address: Address, peer: str) -> RpcConnection:
    """Open a connection.

    Raises:
        HostLost: if nothing listens there, or does not answer.
    """
    try:
        return RpcConnection(dial(address), peer)
    except (OSError, EOFError) as error:
        raise HostLost(f"{peer} cannot be reached ({error!r})") from error
