"""Streams of bytes over sockets, sealed or encrypted, and whole messages over them."""

from __future__ import annotations

import contextlib
import hmac
import select
import socket
import ssl
import struct
import threading
from collections.abc import Sequence
from typing import Protocol

_TCP_INFO = getattr(socket, "TCP_INFO", None)  # Linux only
_FIELDS = struct.Struct("8B13I")
_UNACKNOWLEDGED, _LAST_ACKNOWLEDGEMENT = 12, 20
_LONGEST_SLICE = 2.0


def unanswered(connection: socket.socket) -> float:
    """Return how long (s) sent bytes have had no answer; 0 if no answer is due.

    The system acknowledges what arrives, however busy the process is that it is for. A receiver
    whose buffers are full owes nothing. Where the system does not say, the result is always 0.
    """
    if _TCP_INFO is None:
        return 0.0
    info = connection.getsockopt(socket.IPPROTO_TCP, _TCP_INFO, _FIELDS.size)
    if len(info) < _FIELDS.size:
        return 0.0
    fields = _FIELDS.unpack(info)
    milliseconds: int = fields[_LAST_ACKNOWLEDGEMENT] if fields[_UNACKNOWLEDGED] else 0
    return milliseconds / 1000


class Silence:
    """The time for which a peer has owed an answer, from looks that may be far apart.

    Without data under way a connection that is cut off looks like one that is quiet. TCP itself
    closes the connection only a quarter of an hour after something was sent.
    """

    def __init__(self) -> None:
        self._owed, self._last = 0.0, 0.0

    def look(self, unanswered: float, now: float) -> float:
        """Take what TCP says, and return how long the silence is that is certain, in s.

        A process that was suspended has waited for no longer than a slice of the time: what is due
        now may have been sent a moment ago.

        Args:
            unanswered: see the function of this name.
            now: the time, in s.
        """
        passed, self._last = now - self._last, now
        if unanswered < passed:
            self._owed = 0.0
            return 0.0
        self._owed += min(passed, _LONGEST_SLICE)
        return min(self._owed, unanswered)


_RECORD_BYTES = 16 * 1024
_MOST_AT_ONCE = 256 * 1024


class SocketStream(Protocol):
    """A connection; its methods raise BlockingIOError instead of waiting."""

    def send(self, parts: Sequence[memoryview]) -> int:
        """Send what fits of some parts, and return the number of bytes."""
        ...

    def receive(self, most: int) -> bytes:
        """Return the bytes that have arrived; none if the peer has closed the connection."""
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
    """The common part of both kinds of connections: the socket."""

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
        """Return the bytes that have arrived; none if the peer has closed the connection."""
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
        """Return the bytes that have arrived; none if the peer has closed the connection."""
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


def stream_of(connection: socket.socket) -> SocketStream:
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


TAG_BYTES = 16
_COUNT = struct.Struct(">Q")


class BadSeal(OSError):
    """A frame is not as the peer has sent it; the connection is unusable."""


class Seal:
    """Authenticates the frames of one direction of a connection, in their order.

    Args:
        key: secret, and of this direction of this connection only.
    """

    def __init__(self, key: bytes) -> None:
        self._start = hmac.new(key, digestmod="sha256")
        self._frames = 0

    def tag(self, head: bytes, content: bytes) -> bytes:
        """Return the tag of the next frame.

        Args:
            head: the beginning of the frame, of a fixed length.
            content: the rest.
        """
        found = self._start.copy()
        found.update(_COUNT.pack(self._frames) + head)
        found.update(content)
        self._frames += 1
        return found.digest()[:TAG_BYTES]

    def check(self, tag: bytes, head: bytes, content: bytes) -> None:
        """Check the next frame.

        Raises:
            BadSeal: its tag is another one.
        """
        if not hmac.compare_digest(tag, self.tag(head, content)):
            raise BadSeal("a frame was changed on its way")


_HEAD = struct.Struct(">Q")
_READ_BYTES = 1024 * 1024
_SLICE_SECONDS = 5.0


class MessageConnection:
    """One end of a connection. One thread may receive while others send.

    Args:
        stream: the connection.
        outgoing: seals what is sent; None where the stream itself protects it.
        incoming: checks what arrives; None likewise.
    """

    def __init__(self, stream: SocketStream, outgoing: Seal | None, incoming: Seal | None) -> None:
        self.stream, self.outgoing, self.incoming = stream, outgoing, incoming
        self.inbox = bytearray()
        """The bytes that have arrived and were not received yet."""
        self._ended = False
        self._sending = threading.Lock()
        self.own_address, self.hang_up = stream.own_address, stream.hang_up

    def send_bytes(self, content: bytes) -> None:
        """Send a message.

        Raises:
            OSError: the connection is gone.
        """
        head = _HEAD.pack(len(content))
        with self._sending:
            tag = b"" if self.outgoing is None else self.outgoing.tag(head, content)
            parts = [memoryview(head + tag), memoryview(content)]
            while parts:
                try:
                    sent = self.stream.send(parts)
                except BlockingIOError:
                    self._wait(select.POLLOUT, None)
                    continue
                while parts and sent >= len(parts[0]):
                    sent -= len(parts.pop(0))
                if parts:
                    parts[0] = parts[0][sent:]

    def recv_bytes(self, timeout: float | None = None) -> bytes:
        """Wait for a message and return it.

        Args:
            timeout: how many seconds the peer may be silent.

        Raises:
            EOFError: the peer has hung up.
            OSError: the connection is gone, or somebody has changed the message.
            TimeoutError: the peer was silent for too long.
        """
        while (size := self._whole()) is None:
            if self._ended:
                raise EOFError
            if not self._fill():
                self._wait(select.POLLIN, timeout)
        return self._take(size)

    def poll(self) -> bool:
        """Return whether there is a message, or the peer has hung up."""
        while self._whole() is None and not self._ended:
            if not self._fill():
                return False
        return True

    def close(self) -> None:
        """Hang up."""
        self.hang_up()  # which wakes a thread that receives
        self.stream.close()

    def _whole(self) -> int | None:
        """Return the size of the first message, if all of it is here."""
        if len(self.inbox) < _HEAD.size:
            return None
        size: int = _HEAD.unpack_from(self.inbox)[0]
        return size if len(self.inbox) >= _HEAD.size + self._tag_bytes + size else None

    def _take(self, size: int) -> bytes:
        start = _HEAD.size + self._tag_bytes
        content = bytes(self.inbox[start : start + size])
        if self.incoming is not None:
            head, tag = bytes(self.inbox[: _HEAD.size]), bytes(self.inbox[_HEAD.size : start])
            try:
                self.incoming.check(tag, head, content)
            except BadSeal:
                self.hang_up()
                raise
        del self.inbox[: start + size]
        return content

    @property
    def _tag_bytes(self) -> int:
        return 0 if self.incoming is None else TAG_BYTES

    def _fill(self) -> bool:
        """Receive bytes; return whether there were any."""
        try:
            content = self.stream.receive(_READ_BYTES)
        except BlockingIOError:
            return False
        self._ended = not content
        self.inbox += content
        return True

    def _wait(self, event: int, timeout: float | None) -> None:
        """Wait until the connection can be used.

        A process that was suspended itself has waited for no longer than a slice of the time.
        """
        descriptor = self.stream.fileno()
        if descriptor < 0:
            raise OSError("the connection is closed")
        poller = select.poll()
        poller.register(descriptor, event)
        left = timeout
        while left is None or left > 0:
            seconds = _SLICE_SECONDS if left is None else min(left, _SLICE_SECONDS)
            if poller.poll(seconds * 1000):
                return
            left = None if left is None else left - seconds
        raise TimeoutError(f"nothing has come for {timeout:g} s")
