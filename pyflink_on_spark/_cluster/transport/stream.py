"""Byte streams that do not block, encrypted or not."""

from __future__ import annotations

import contextlib
import socket
import ssl
import threading
from collections.abc import Sequence
from typing import Protocol

from pyflink_on_spark._cluster.transport.silence import unanswered

_RECORD_BYTES = 16 * 1024
_MOST_AT_ONCE = 256 * 1024


class Stream(Protocol):
    """A connection; its methods raise BlockingIOError instead of waiting."""

    def send(self, parts: Sequence[memoryview]) -> int:
        """Send what fits of some parts, and return the number of bytes."""
        ...

    def receive(self, most: int) -> bytes:
        """Return what has arrived, or nothing if the peer has closed the connection."""
        ...

    def fileno(self) -> int:
        """Return the descriptor."""
        ...

    def own_address(self) -> str:
        """Return the address of this end, as the peer reaches it."""
        ...

    def unanswered(self) -> float:
        """Return for how long the peer's system has not answered, in s; 0 if it owes nothing."""
        ...

    def hang_up(self) -> None:
        """End both directions; a thread that waits for the peer notices."""
        ...

    def close(self) -> None:
        """Give the descriptor back."""
        ...


class _OpenConnection:
    """What both kinds have from their socket."""

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self._connection = connection
        self.fileno, self.close = connection.fileno, connection.close

    def own_address(self) -> str:
        """Return the address of this end, as the peer reaches it."""
        return str(self._connection.getsockname()[0])

    def unanswered(self) -> float:
        """Return for how long the peer's system has not answered, in s; 0 if it owes nothing."""
        return unanswered(self._connection)


class PlainStream(_OpenConnection):
    """A TCP connection as it is.

    Args:
        connection: open.
    """

    def __init__(self, connection: socket.socket) -> None:
        super().__init__(connection)
        self._socket = connection

    def send(self, parts: Sequence[memoryview]) -> int:
        """Send what fits of some parts, and return the number of bytes."""
        return self._socket.sendmsg(parts)

    def receive(self, most: int) -> bytes:
        """Return what has arrived, or nothing if the peer has closed the connection."""
        return self._socket.recv(most)

    def hang_up(self) -> None:
        """End both directions; a thread that waits for the peer notices."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)


class EncryptedStream(_OpenConnection):
    """A TLS connection. Threads may send and receive at the same time.

    Args:
        connection: open, after TLS's handshake.
    """

    def __init__(self, connection: ssl.SSLSocket) -> None:
        super().__init__(connection)
        self._socket = connection
        self._lock = threading.Lock()  # OpenSSL's connections are for one thread at a time
        self._refused = b""

    def send(self, parts: Sequence[memoryview]) -> int:
        """Send some of the parts, and return the number of bytes."""
        # OpenSSL wants to be given again what it could not send.
        content = self._refused or _joined(parts)
        try:
            with self._lock:
                sent = self._socket.send(content)
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError) as error:
            self._refused = content
            raise BlockingIOError from error
        self._refused = b""
        return sent

    def receive(self, most: int) -> bytes:
        """Return what has arrived, or nothing if the peer has closed the connection."""
        content = bytearray()
        while len(content) < most:
            try:
                with self._lock:
                    record = self._socket.recv(_RECORD_BYTES)
            except (ssl.SSLWantReadError, ssl.SSLWantWriteError) as error:
                if not content:
                    raise BlockingIOError from error
                break
            if not record:
                break
            content += record
        return bytes(content)

    def hang_up(self) -> None:
        """End both directions; a thread that waits for the peer notices."""
        with contextlib.suppress(OSError):
            # Not SSLSocket.shutdown, after which another thread would receive encrypted bytes.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def stream_of(connection: socket.socket) -> Stream:
    """Return the stream of an open connection."""
    if isinstance(connection, ssl.SSLSocket):
        return EncryptedStream(connection)
    return PlainStream(connection)


def _joined(parts: Sequence[memoryview]) -> bytes:
    content = bytearray()
    for part in parts:
        content += part[: _MOST_AT_ONCE - len(content)]
        if len(content) >= _MOST_AT_ONCE:
            break
    return bytes(content)
