"""Whole messages over an authenticated connection."""

from __future__ import annotations

import select
import struct
import threading

from pyflink_on_spark._cluster.transport.stream import TAG_BYTES, BadSeal, Seal, SocketStream

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
