"""TCP connections whose ends prove that they know a secret, and notice when the other is gone."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

HANDSHAKE_SECONDS = 20
_PAUSE = 0.05
_IDLE_SECONDS, _PROBE_SECONDS, _PROBES = 20, 10, 4


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


class TimeoutConnection:
    """A connection that waits a limited time for an unknown peer to speak.

    Args:
        connection: open.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.send_bytes = connection.send_bytes

    def recv_bytes(self, limit: int) -> bytes:
        """Return the next frame of at most so many bytes.

        Raises:
            TimeoutError: if none comes.
        """
        if not self._connection.poll(HANDSHAKE_SECONDS):
            raise TimeoutError(f"nothing came within {HANDSHAKE_SECONDS} s")
        return self._connection.recv_bytes(limit)


class Listener:
    """Listens, and lets those in who know the secret, each in a thread of its own.

    Args:
        host: the address to listen on.
        authkey: the secret.
        welcome: takes the connection of one that is let in.
        name: of the threads.
    """

    def __init__(
        self, host: str, authkey: bytes, welcome: Callable[[Connection], None], name: str
    ) -> None:
        self._socket = socket.create_server((host, 0), backlog=128)
        self._socket.settimeout(None)  # a program may have set a default
        self._closed = False
        self.address = Address(host, int(self._socket.getsockname()[1]), authkey)
        self._welcome, self._name = welcome, name
        threading.Thread(target=self._accept, name=name, daemon=True).start()

    def close(self) -> None:
        """Accept no more connections; existing ones stay open."""
        self._closed = True
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while not self._closed:
            try:
                accepted, _ = self._socket.accept()
            except OSError:
                if not self._closed:
                    time.sleep(_PAUSE)  # one that left again, or there are too many open files
                continue
            accepted.settimeout(None)
            connection = Connection(accepted.detach())
            threading.Thread(
                target=self._greet, args=(connection,), name=self._name, daemon=True
            ).start()

    def _greet(self, connection: Connection) -> None:
        try:
            admit(connection, self.address.authkey)
        except (OSError, EOFError, ValueError, AssertionError, AuthenticationError):
            connection.close()
        else:
            self._welcome(connection)


def admit(connection: Connection, authkey: bytes) -> None:
    """Prove and be proved, as the end that was called.

    Raises:
        AuthenticationError: if the other end does not know the secret.
        OSError: if it does not speak, or left.
        EOFError: if it left.
    """
    keep_alive(connection)
    peer: Any = TimeoutConnection(connection)
    deliver_challenge(peer, authkey)
    answer_challenge(peer, authkey)


def dial(host: str, port: int, authkey: bytes) -> Connection:
    """Call a door; prove and be proved.

    Raises:
        AuthenticationError: if it has another secret.
        OSError: if nothing listens there, or does not answer.
        EOFError: if it hangs up.
    """
    called = socket.create_connection((host, port), HANDSHAKE_SECONDS)
    called.settimeout(None)
    connection = Connection(called.detach())
    try:
        keep_alive(connection)
        peer: Any = TimeoutConnection(connection)
        answer_challenge(peer, authkey)
        deliver_challenge(peer, authkey)
    except BaseException:
        connection.close()
        raise
    return connection


def keep_alive(connection: Connection) -> None:
    """Let small frames leave at once, and let a peer whose machine is gone be noticed in a minute.

    Args:
        connection: a TCP connection.
    """
    with options_of(connection) as same:
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        same.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        idle = getattr(socket, "TCP_KEEPIDLE", None) or getattr(socket, "TCP_KEEPALIVE", None)
        if idle is not None:
            same.setsockopt(socket.IPPROTO_TCP, idle, _IDLE_SECONDS)
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, _PROBE_SECONDS)
        same.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, _PROBES)


def set_unacked_timeout(connection: Connection) -> None:
    """Let what is sent and never taken be noticed in a minute, too.

    Only for peers that always read at once: for others, silence may be that they are busy.
    """
    limit = getattr(socket, "TCP_USER_TIMEOUT", None)
    if limit is not None:
        milliseconds = 1000 * (_IDLE_SECONDS + _PROBES * _PROBE_SECONDS)
        with options_of(connection) as same:
            same.setsockopt(socket.IPPROTO_TCP, limit, milliseconds)


def options_of(connection: Connection) -> socket.socket:
    """Return a socket with the same connection, to be closed by itself.

    Not while another thread uses the connection: for a moment it may be one that does not block,
    where a program has set a default timeout.
    """
    same = socket.fromfd(connection.fileno(), socket.AF_INET, socket.SOCK_STREAM)
    same.settimeout(None)
    return same
