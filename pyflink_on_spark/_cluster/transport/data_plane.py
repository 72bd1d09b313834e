"""The connections between the hosts of an attempt: rows go straight from host to host."""

from __future__ import annotations

import itertools
import selectors
import socket
import struct
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence

from pyflink_on_spark._cluster.transport.stream import (
    TAG_BYTES,
    BadSeal,
    MessageConnection,
    Silence,
)
from pyflink_on_spark._compat.errors import PyFlinkOnSparkError
from pyflink_on_spark._runtime.task.exchange_writer import ChannelRow, FanOut, encode

MOST_IN_FLIGHT = 8 * 1024 * 1024
"""How many bytes may be under way to one host for one stage before less is sent there."""

_FRAME = struct.Struct("<IIQI")  # subtask or stage, channel, number of the row or bytes, size
_RECEIVER = struct.Struct("<IQ")  # subtask, number of the row
_ACKNOWLEDGEMENT = 0xFFFFFFFF
_FAN_OUT = 0xFFFFFFFE
"""The channel of frames with a row for several subtasks: where and number are channel and count."""
_EVENT = 0xFFFFFFFD
"""The channel of frames with an event for all receivers of a channel, which is where."""
_ACKNOWLEDGE_BYTES = 256 * 1024
_READ_BYTES = 1024 * 1024
_MOST_UNSENT = 128
_LARGE_BYTES = 64 * 1024


class PeerLost(PyFlinkOnSparkError, ConnectionError):
    """The connection to another host is gone.

    Args:
        host: the number of the other host.
    """

    def __init__(self, host: int) -> None:
        super().__init__(f"the connection to host {host} is gone")
        self.host = host


class _Peer:
    """One other host.

    Args:
        number: its number.
        wire: the connection.
    """

    def __init__(self, number: int, wire: MessageConnection) -> None:
        self.number, self.stream = number, wire.stream
        self.outgoing, self.incoming = wire.outgoing, wire.incoming
        self.outbox: deque[memoryview] = deque()
        self.channel, self.payload = 0, b""
        """The last row, which the next ones may be copies of for other subtasks."""
        self.receivers: list[tuple[int, int]] = []
        self.blocked = False
        """True while the connection has no room; the selector tells when it has."""
        self.inbox = wire.inbox
        self.in_flight: dict[int, int] = {}
        self.consumed: dict[int, int] = {}
        self.silence = Silence()


class DataPlane:
    """Sends rows to other hosts, and takes theirs; never waits but in ``wait``.

    A host reads what arrives at once, so that rows of one stage never hold up those of another.
    What limits how much is under way are acknowledgements: a sender counts the bytes for each stage
    of each host that are not processed yet.

    Args:
        receive: takes what has arrived: a row, or an event for all its receivers.
    """

    def __init__(self, receive: Callable[[ChannelRow | FanOut], None]) -> None:
        self._receive = receive
        self._peers: dict[int, _Peer] = {}
        self._hosts: Mapping[int, int] = {}
        self._reached: dict[Sequence[int], list[_Peer]] = {}
        self._senders: Mapping[int, int] = {}
        self._full: set[tuple[int, int]] = set()
        self._fullest = -1
        self._selector = selectors.DefaultSelector()
        self._waker, self._wakes = socket.socketpair()
        self._waker.setblocking(False)
        self._wakes.setblocking(False)
        self._selector.register(self._wakes, selectors.EVENT_READ)

    def connect(
        self,
        peers: Mapping[int, MessageConnection],
        hosts: Mapping[int, int],
        senders: Mapping[int, int],
    ) -> None:
        """Begin to exchange rows.

        Args:
            peers: the connections to all other hosts.
            hosts: the host of each subtask.
            senders: the host that sends on each channel.
        """
        self._hosts, self._senders = hosts, senders
        for number, wire in peers.items():
            peer = self._peers[number] = _Peer(number, wire)
            self._selector.register(peer.stream, selectors.EVENT_READ, peer)
        for peer in self._peers.values():
            self._take_frames(peer)

    def send(self, row: ChannelRow, stage: int) -> None:
        """Let a row leave with ``flush``, or as soon as the connection has room.

        Raises:
            PeerLost: if the connection is gone.
        """
        payload = row.payload
        assert isinstance(payload, bytes)
        peer = self._peers[self._hosts[row.subtask_id]]
        if payload is not peer.payload or row.channel != peer.channel:
            self._put_row(peer)
            peer.channel, peer.payload = row.channel, payload
        peer.receivers.append((row.subtask_id, row.seq))
        self._count(peer, stage, len(payload))
        many = max(len(peer.outbox), len(peer.receivers)) >= _MOST_UNSENT
        large = many or len(payload) >= _LARGE_BYTES
        if large and not peer.blocked:
            self._flush(peer)

    def spread(self, event: FanOut, stage: int) -> None:
        """Let an event leave for all other hosts with receivers, after all rows so far.

        Raises:
            PeerLost: if a connection is gone.
        """
        peers = self._reached.get(event.receivers)
        if peers is None:
            hosts = set(map(self._hosts.__getitem__, event.receivers))
            peers = [peer for number, peer in self._peers.items() if number in hosts]
            self._reached[event.receivers] = peers
        if not peers:
            return
        payload = event.payload if isinstance(event.payload, bytes) else encode(event.payload)
        for peer in peers:
            self._put_row(peer)
            self._put(peer, _FRAME.pack(event.channel, _EVENT, event.seq, len(payload)), payload)
            self._count(peer, stage, len(payload))
            if len(peer.outbox) >= _MOST_UNSENT and not peer.blocked:
                self._flush(peer)

    def _count(self, peer: _Peer, stage: int, size: int) -> None:
        """Count bytes that are under way until they are acknowledged."""
        flying = peer.in_flight[stage] = peer.in_flight.get(stage, 0) + size
        if flying > MOST_IN_FLIGHT and (stage, peer.number) not in self._full:
            self._full.add((stage, peer.number))
            self._fullest = max(self._fullest, stage)

    def flush(self) -> None:
        """Send what waits: what its sender does next may take long.

        Raises:
            PeerLost: if a connection is gone.
        """
        for peer in self._peers.values():
            if (peer.outbox or peer.receivers) and not peer.blocked:
                self._flush(peer)

    def congested(self, stage: int) -> bool:
        """True if too many rows are on their way to a stage, or to one further downstream."""
        return self._fullest >= stage

    def consumed(self, row: ChannelRow | FanOut, stage: int) -> None:
        """Note that a row or an event of another host is processed."""
        payload = row.payload
        assert isinstance(payload, bytes)
        peer = self._peers[self._senders[row.channel]]
        total = peer.consumed[stage] = peer.consumed.get(stage, 0) + len(payload)
        if total >= _ACKNOWLEDGE_BYTES:
            self._acknowledge(peer, stage)

    def pump(self, seconds: float = 0.0) -> bool:
        """Receive frames, and send as many as the sockets accept.

        Args:
            seconds: how long to wait for something to arrive; ``wake`` ends that.

        Returns:
            Whether anything arrived.

        Raises:
            PeerLost: if a connection is gone.
        """
        for peer in self._peers.values():
            for stage in list(peer.consumed):
                self._acknowledge(peer, stage)
        self.flush()
        arrived = False
        for key, events in self._selector.select(seconds):
            peer = key.data
            if peer is None:
                self._drain_wakes()
                continue
            if events & selectors.EVENT_WRITE:
                self._flush(peer)
            if events & selectors.EVENT_READ:
                arrived = self._read(peer) or arrived
        return arrived

    def check(self, silence: float, now: float) -> None:
        """See whether the machines of all other hosts answer.

        Args:
            silence: after how long a silence one counts as lost, in s.
            now: the time, in s.

        Raises:
            PeerLost: one does not.
        """
        for peer in self._peers.values():
            if peer.silence.look(peer.stream.unanswered(), now) >= silence:
                raise PeerLost(peer.number)

    def wake(self) -> None:
        """End a ``pump`` that waits; may be called from any thread."""
        try:
            self._waker.send(b"w")
        except OSError:
            return  # it is awake, or closed

    def close(self) -> None:
        """Hang up."""
        for peer in self._peers.values():
            peer.stream.hang_up()
            peer.stream.close()
        self._selector.close()
        self._waker.close()
        self._wakes.close()

    def _acknowledge(self, peer: _Peer, stage: int) -> None:
        self._put(peer, _FRAME.pack(stage, _ACKNOWLEDGEMENT, peer.consumed.pop(stage), 0), b"")

    def _put_row(self, peer: _Peer) -> None:
        """Queue the last row, once for all its receivers."""
        receivers, payload = peer.receivers, peer.payload
        if len(receivers) == 1:
            ((where, number),) = receivers
            self._put(peer, _FRAME.pack(where, peer.channel, number, len(payload)), payload)
        elif receivers:
            content = b"".join(itertools.starmap(_RECEIVER.pack, receivers)) + payload
            head = _FRAME.pack(peer.channel, _FAN_OUT, len(receivers), len(content))
            self._put(peer, head, content)
        peer.receivers, peer.payload = [], b""

    def _put(self, peer: _Peer, head: bytes, payload: bytes) -> None:
        if peer.outgoing is not None:
            head += peer.outgoing.tag(head, payload)
        peer.outbox.append(memoryview(head))
        if payload:
            peer.outbox.append(memoryview(payload))

    def _flush(self, peer: _Peer) -> None:
        self._put_row(peer)
        outbox = peer.outbox
        try:
            while outbox:
                parts = [outbox[index] for index in range(min(len(outbox), _MOST_UNSENT))]
                sent = peer.stream.send(parts)
                while sent:
                    first = outbox[0]
                    if sent < len(first):
                        outbox[0], sent = first[sent:], 0
                    else:
                        sent -= len(outbox.popleft())
        except BlockingIOError:
            pass
        except OSError as error:
            raise PeerLost(peer.number) from error
        if peer.blocked != bool(outbox):
            peer.blocked = bool(outbox)
            wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if outbox else 0)
            self._selector.modify(peer.stream, wanted, peer)

    def _read(self, peer: _Peer) -> bool:
        try:
            content = peer.stream.receive(_READ_BYTES)
        except BlockingIOError:
            return False
        except OSError as error:
            raise PeerLost(peer.number) from error
        if not content:
            raise PeerLost(peer.number)
        peer.inbox += content
        self._take_frames(peer)
        return True

    def _take_frames(self, peer: _Peer) -> None:
        try:
            for where, channel, number, payload in _frames(peer):
                if channel == _ACKNOWLEDGEMENT:
                    self._landed(peer, where, number)
                elif channel == _EVENT:
                    self._receive(FanOut(where, number, payload))
                elif channel == _FAN_OUT:
                    size = number * _RECEIVER.size
                    content = payload[size:]
                    for receiver, seq in _RECEIVER.iter_unpack(payload[:size]):
                        self._receive(ChannelRow(receiver, where, seq, content))
                else:
                    self._receive(ChannelRow(where, channel, number, payload))
        except BadSeal as error:
            raise PeerLost(peer.number) from error

    def _landed(self, peer: _Peer, stage: int, size: int) -> None:
        peer.in_flight[stage] -= size
        if peer.in_flight[stage] <= MOST_IN_FLIGHT // 2 and (stage, peer.number) in self._full:
            self._full.discard((stage, peer.number))
            self._fullest = max((full for full, _ in self._full), default=-1)

    def _drain_wakes(self) -> None:
        try:
            while self._wakes.recv(4096):
                pass
        except BlockingIOError:
            return


def _frames(peer: _Peer) -> Iterator[tuple[int, int, int, bytes]]:
    """Split the received bytes into whole frames."""
    inbox, seal = peer.inbox, peer.incoming
    at, size = 0, len(inbox)
    head_size = _FRAME.size + (0 if seal is None else TAG_BYTES)
    while size - at >= head_size:
        where, channel, number, length = _FRAME.unpack_from(inbox, at)
        start = at + head_size
        end = start + length
        if end > size:
            break
        payload = bytes(inbox[start:end])
        if seal is not None:
            tagged = at + _FRAME.size
            seal.check(bytes(inbox[tagged:start]), bytes(inbox[at:tagged]), payload)
        yield where, channel, number, payload
        at = end
    del inbox[:at]
