"""Connections between the driver, Spark's tasks and slot hosts: whole pickled messages over TCP."""

from __future__ import annotations

import pickle
import socket
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection
from typing import Any

from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.isolation import seal
from pyflink_on_spark._spark.result_sender import send_without_delay


class HostLost(PyFlinkOnSparkError, ConnectionError):
    """A slot host, or the way to it, is gone."""


@dataclass(frozen=True)
class Address:
    """Where something listens.

    Args:
        host: its address.
        port: its TCP port.
        authkey: the secret that both ends prove to know; never shown.
    """

    host: str
    port: int
    authkey: bytes = field(repr=False)


class Wire:
    """One connection.

    Args:
        connection: open, and of a peer that knows the key.
        peer: what is at the other end, for people.
    """

    def __init__(self, connection: Connection, peer: str) -> None:
        self._connection, self._peer = connection, peer
        send_without_delay(connection)

    def send(self, *message: Any) -> None:
        """Send a message.

        Raises:
            HostLost: if nobody is there any more.
        """
        try:
            self._connection.send_bytes(seal(message))
        except OSError as error:
            raise HostLost(f"{self._peer} is gone ({error!r})") from error

    def receive(self, timeout: float | None = None) -> Any:
        """Wait for a message and return it.

        Args:
            timeout: how many seconds to wait at most.

        Raises:
            HostLost: if nobody is there any more.
            TimeoutError: if nothing came in time.
        """
        try:
            if not self._connection.poll(timeout):
                raise TimeoutError(f"{self._peer} has not answered within {timeout} s")
            return pickle.loads(self._connection.recv_bytes())
        except (EOFError, ConnectionError, BrokenPipeError) as error:
            raise HostLost(f"{self._peer} is gone ({error!r})") from error

    def own_address(self) -> str:
        """Return the address of this end, as the other one can reach it."""
        descriptor = self._connection.fileno()
        with socket.fromfd(descriptor, socket.AF_INET, socket.SOCK_STREAM) as same:
            return str(same.getsockname()[0])

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


def connect(address: Address, peer: str) -> Wire:
    """Open a connection.

    Raises:
        HostLost: if nobody listens there.
    """
    try:
        connection = Client((address.host, address.port), "AF_INET", authkey=address.authkey)
    except (OSError, EOFError) as error:
        raise HostLost(f"{peer} cannot be reached ({error!r})") from error
    return Wire(connection, peer)
