"""Connections between the driver and hosts: whole pickled messages over TCP."""

from __future__ import annotations

import contextlib
import pickle
import socket
from multiprocessing.connection import Connection
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.immutability import serialize
from pyflink_on_spark._spark.transport.handshake import (
    Address,
    dial,
    options_of,
    set_unacked_timeout,
)


class HostLost(PyFlinkOnSparkError, ConnectionError):
    """A host, or the connection to it, is lost."""


class RpcConnection:
    """One connection.

    Args:
        connection: open, and of a peer that knows the key.
        peer: what is at the other end, for people.
    """

    def __init__(self, connection: Connection, peer: str) -> None:
        self._connection, self.peer = connection, peer
        self._socket = options_of(connection)

    def send(self, *message: Any) -> None:
        """Send a message.

        Raises:
            HostLost: if the connection is lost.
        """
        try:
            self._connection.send_bytes(serialize(message))
        except OSError as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error

    def receive(self, timeout: float | None = None) -> Any:
        """Wait for a message and return it.

        Args:
            timeout: how many seconds to wait at most.

        Raises:
            HostLost: if the connection is lost.
            TimeoutError: if nothing came in time.
        """
        try:
            if self._connection.poll(timeout):
                message = self._connection.recv_bytes()
            else:
                message = None
        except (EOFError, OSError) as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error
        if message is None:
            raise TimeoutError(f"{self.peer} has not answered within {timeout} s")
        return pickle.loads(message)

    def check(self) -> None:
        """See whether the peer is there still; takes nothing of what it has sent.

        Raises:
            HostLost: if the connection is lost.
        """
        try:
            left = not self._socket.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
        except BlockingIOError:
            return
        except OSError as error:
            raise HostLost(f"{self.peer} is gone ({error!r})") from error
        if left:
            raise HostLost(f"{self.peer} is gone")

    def set_unacked_timeout(self) -> None:
        """Treat a peer that takes nothing for a minute as lost: it always reads at once."""
        set_unacked_timeout(self._connection)

    def own_address(self) -> str:
        """Return the address of this end, as the other one can reach it."""
        return str(self._socket.getsockname()[0])

    def close(self) -> None:
        """Hang up."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)  # which wakes a thread that reads
        self._socket.close()
        self._connection.close()


def connect(address: Address, peer: str) -> RpcConnection:
    """Open a connection.

    Raises:
        HostLost: if nothing listens there, or does not answer.
    """
    try:
        connection = dial(address.host, address.port, address.authkey)
    except (OSError, EOFError) as error:
        raise HostLost(f"{peer} cannot be reached ({error!r})") from error
    return RpcConnection(connection, peer)
