"""A broker with topics, groups and transactions in memory, for Kafka's own clients over TCP.

librdkafka's mock cluster takes transactions, but keeps neither their atomicity nor their offsets,
and knows no timestamps; this one does. A transaction's records come into the log when it is
committed, followed by the control record that a real broker writes there.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.connectors.kafka.log import TRANSACTIONAL, Batch, Log, commit_mark
from tests.connectors.kafka.wire import Reader, array, blob, by_topic, pack, text

NOTHING, OUT_OF_RANGE, UNKNOWN_TOPIC, BAD_EPOCH, BAD_PASSWORD, BAD_VERSION = 0, 1, 3, 47, 58, 35
_LONGEST_WAIT = 0.05


@dataclass
class Transaction:
    """The uncommitted records of a transactional id."""

    producer: int
    epoch: int = -1
    records: list[tuple[tuple[str, int], Batch]] = field(default_factory=list)
    offsets: list[tuple[str, tuple[str, int], tuple[int, str | None]]] = field(default_factory=list)

    def forget(self) -> None:
        self.records, self.offsets = [], []


class Broker:
    """One broker on a free port of this machine.

    Args:
        password: what clients have to know (SASL PLAIN); None: nothing.
    """

    def __init__(self, password: str | None = None) -> None:
        self.logs: dict[tuple[str, int], Log] = {}
        self.committed: dict[str, dict[tuple[str, int], tuple[int, str | None]]] = {}
        self.transactions: dict[str, Transaction] = {}
        self.ended_transactions: list[bool] = []
        self.requests: list[int] = []
        self.before: Callable[[int], None] = lambda api: None
        """Called with the number of each request's kind, before it is carried out."""
        self.after: Callable[[int], None] = lambda api: None
        self._password = password
        self._changed = threading.Condition()
        self._sockets: set[socket.socket] = set()
        self._producers = 0
        self._port = 0
        self._apis: dict[int, tuple[int, int, Callable[[Reader, int], bytes]]] = {
            0: (3, 3, self._produce),
            1: (4, 4, self._fetch),
            2: (1, 2, self._list_offsets),
            3: (1, 4, self._metadata),
            8: (2, 2, self._commit),
            9: (1, 1, self._fetch_offsets),
            10: (1, 1, self._find_coordinator),
            17: (0, 1, self._handshake),
            18: (0, 0, self._versions),
            22: (0, 1, self._init_producer),
            24: (0, 0, self._add_partitions),
            25: (0, 0, self._add_offsets),
            26: (0, 1, self._end_transaction),
            28: (0, 0, self._commit_in_transaction),
            36: (0, 0, self._authenticate),
        }
        self.start()

    @property
    def servers(self) -> str:
        return f"127.0.0.1:{self._port}"

    def start(self) -> None:
        """Listen, on the same port as before."""
        self._listener = socket.create_server(("127.0.0.1", self._port))
        self._port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listener,), daemon=True).start()

    def stop(self) -> None:
        """Break all connections; what is stored stays."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in list(self._sockets):
            self._close(connection)

    def create(self, topic: str, partitions: int = 1) -> None:
        """Make a topic, or give one more partitions."""
        for number in range(partitions):
            self.logs.setdefault((topic, number), Log())

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._sockets.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _close(self, connection: socket.socket) -> None:
        self._sockets.discard(connection)
        with contextlib.suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)
        connection.close()

    def _serve(self, connection: socket.socket) -> None:
        stream = connection.makefile("rb")
        try:
            while size := stream.read(4):
                request = Reader(stream.read(struct.unpack(">i", size)[0]))
                api, version, correlation = request.i16(), request.i16(), request.i32()
                request.text()
                self.requests.append(api)
                answer = self._answer(api, version, request)
                connection.sendall(blob(pack("i", correlation) + answer))
        except (OSError, ValueError):
            pass
        finally:
            self._close(connection)

    def _answer(self, api: int, version: int, request: Reader) -> bytes:
        if api == 18 and version > 0:
            return self._supported(BAD_VERSION)
        lowest, highest, handle = self._apis[api]
        assert lowest <= version <= highest, (api, version)
        if api == 1:
            return handle(request, version)
        with self._changed:
            self.before(api)
            answer = handle(request, version)
            self.after(api)
            self._changed.notify_all()
            return answer

    # -- what a cluster is -----------------------------------------------------------------------

    def _versions(self, _: Reader, version: int) -> bytes:
        return self._supported(NOTHING)

    def _supported(self, error: int) -> bytes:
        known = (pack("hhh", api, *versions[:2]) for api, versions in self._apis.items())
        return pack("h", error) + array(known)

    def _metadata(self, request: Reader, version: int) -> bytes:
        names = request.array(request.text)
        if names is None:
            names = sorted({topic for topic, _ in self.logs})
        found = []
        for name in names:
            numbers = sorted(number for topic, number in self.logs if topic == name)
            partitions = array(
                pack("hii", NOTHING, number, 1) + array([pack("i", 1)]) * 2 for number in numbers
            )
            error = NOTHING if numbers else UNKNOWN_TOPIC
            found.append(pack("h", error) + text(name) + b"\0" + partitions)
        brokers = array([pack("i", 1) + text("127.0.0.1") + pack("i", self._port) + text(None)])
        cluster = text("test") if version >= 2 else b""
        throttled = pack("i", 0) if version >= 3 else b""
        return throttled + brokers + cluster + pack("i", 1) + array(found)

    def _find_coordinator(self, request: Reader, version: int) -> bytes:
        host = text("127.0.0.1") + pack("i", self._port)
        return pack("ih", 0, NOTHING) + text(None) + pack("i", 1) + host

    def _handshake(self, request: Reader, version: int) -> bytes:
        return pack("h", NOTHING) + array([text("PLAIN")])

    def _authenticate(self, request: Reader, version: int) -> bytes:
        password = request.blob().split(b"\0")[2].decode()
        if password == self._password:
            return pack("h", NOTHING) + text(None) + blob(b"")
        return pack("h", BAD_PASSWORD) + text("Invalid username or password") + blob(b"")

    # -- records ---------------------------------------------------------------------------------

    def _produce(self, request: Reader, version: int) -> bytes:
        name, _, _ = request.text(), request.i16(), request.i32()
        answers = []
        for topic, items in request.by_topic(lambda: (request.i32(), request.blob())):
            done = []
            for number, data in items:
                error, offset = self._store(name, (topic, number), Batch(data))
                done.append(pack("ihqq", number, error, offset, -1))
            answers.append((topic, done))
        return by_topic(answers) + pack("i", 0)

    def _store(self, name: str | None, key: tuple[str, int], batch: Batch) -> tuple[int, int]:
        if key not in self.logs:
            return UNKNOWN_TOPIC, -1
        if not batch.attributes & TRANSACTIONAL:
            return NOTHING, self.logs[key].append(batch)
        producer, epoch = struct.unpack_from(">qh", batch.data, 43)
        if (error := self._check(name or "", producer, epoch)) == NOTHING:
            self.transactions[name or ""].records.append((key, batch))
        return error, 0

    def _fetch(self, request: Reader, version: int) -> bytes:
        request.i32()
        wait = min(request.i32() / 1000, _LONGEST_WAIT)
        request.i32(), request.i32(), request.i8()
        wanted = request.by_topic(lambda: (request.i32(), request.i64(), request.i32()))
        deadline = time.monotonic() + wait
        with self._changed:
            while not self._has_something(wanted) and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            return pack("i", 0) + by_topic(
                (topic, [self._part((topic, item[0]), *item[1:]) for item in items])
                for topic, items in wanted
            )

    def _has_something(self, wanted: list) -> bool:
        return any(
            (topic, number) not in self.logs or self.logs[topic, number].end != offset
            for topic, items in wanted
            for number, offset, _ in items
        )

    def _part(self, key: tuple[str, int], offset: int, most: int) -> bytes:
        log = self.logs.get(key)
        if log is None:
            error, end, data = UNKNOWN_TOPIC, -1, b""
        elif not log.start <= offset <= log.end:
            error, end, data = OUT_OF_RANGE, log.end, b""
        else:
            error, end, data = NOTHING, log.end, log.read(offset, most)
        return pack("ihqqi", key[1], error, end, end, 0) + blob(data)

    def _list_offsets(self, request: Reader, version: int) -> bytes:
        request.i32()
        if version >= 2:
            request.i8()
        answers = []
        for topic, items in request.by_topic(lambda: (request.i32(), request.i64())):
            done = []
            for number, timestamp in items:
                log = self.logs[topic, number]
                found = {-1: (-1, log.end), -2: (-1, log.start)}.get(timestamp)
                done.append(pack("ihqq", number, NOTHING, *(found or log.since(timestamp))))
            answers.append((topic, done))
        return (pack("i", 0) if version >= 2 else b"") + by_topic(answers)

    # -- groups ----------------------------------------------------------------------------------

    def _commit(self, request: Reader, version: int) -> bytes:
        group = self.committed.setdefault(request.text() or "", {})
        request.i32(), request.text(), request.i64()
        answers = []
        for topic, items in self._offsets(request):
            for number, offset, metadata in items:
                group[topic, number] = offset, metadata
            answers.append((topic, [pack("ih", item[0], NOTHING) for item in items]))
        return by_topic(answers)

    def _fetch_offsets(self, request: Reader, version: int) -> bytes:
        group = self.committed.get(request.text() or "", {})
        answers = []
        for topic, numbers in request.by_topic(request.i32):
            done = []
            for number in numbers:
                offset, metadata = group.get((topic, number), (-1, ""))
                done.append(pack("iq", number, offset) + text(metadata) + pack("h", NOTHING))
            answers.append((topic, done))
        return by_topic(answers)

    def _offsets(self, request: Reader) -> list:
        return request.by_topic(lambda: (request.i32(), request.i64(), request.text()))

    # -- transactions ----------------------------------------------------------------------------

    def _init_producer(self, request: Reader, version: int) -> bytes:
        name = request.text()
        self._producers += 1
        if name is None:
            return pack("ihqh", 0, NOTHING, self._producers, 0)
        transaction = self.transactions.setdefault(name, Transaction(self._producers))
        transaction.epoch += 1
        transaction.forget()
        return pack("ihqh", 0, NOTHING, transaction.producer, transaction.epoch)

    def _check(self, name: str, producer: int, epoch: int) -> int:
        known = self.transactions.get(name)
        right = known is not None and (known.producer, known.epoch) == (producer, epoch)
        return NOTHING if right else BAD_EPOCH

    def _add_partitions(self, request: Reader, version: int) -> bytes:
        error = self._check(request.text() or "", request.i64(), request.i16())
        topics = request.by_topic(request.i32)
        return pack("i", 0) + by_topic(
            (topic, [pack("ih", number, error) for number in numbers]) for topic, numbers in topics
        )

    def _add_offsets(self, request: Reader, version: int) -> bytes:
        return pack("ih", 0, self._check(request.text() or "", request.i64(), request.i16()))

    def _commit_in_transaction(self, request: Reader, version: int) -> bytes:
        name, group = request.text() or "", request.text() or ""
        error = self._check(name, request.i64(), request.i16())
        answers = []
        for topic, items in self._offsets(request):
            for number, offset, metadata in items:
                if error == NOTHING:
                    offsets = self.transactions[name].offsets
                    offsets.append((group, (topic, number), (offset, metadata)))
            answers.append((topic, [pack("ih", item[0], error) for item in items]))
        return pack("i", 0) + by_topic(answers)

    def _end_transaction(self, request: Reader, version: int) -> bytes:
        name, producer, epoch = request.text() or "", request.i64(), request.i16()
        committed = bool(request.i8())
        error = self._check(name, producer, epoch)
        if error == NOTHING:
            transaction = self.transactions[name]
            if committed:
                for key, batch in transaction.records:
                    self.logs[key].append(batch)
                for key in dict(transaction.records):
                    self.logs[key].append(commit_mark(producer, epoch))
                for group, key, what in transaction.offsets:
                    self.committed.setdefault(group, {})[key] = what
            transaction.forget()
            self.ended_transactions.append(committed)
        return pack("ih", 0, error)
