"""A process for each slot, which stays where Spark gives the slot's rows to changing workers.

Spark hands the rows of a slot to any idle Python worker of a machine. The worker passes them on to
the process of the slot over a Unix socket, and writes to Spark's state store what the slot wants to
have written. So a slot is opened once on a machine, and has its state in memory there.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import pickle
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from pyflink_on_spark._spark.structured.state_log import ChunkState, HeadState, StateLog

_LOOK_SECONDS = 1.0
_UNUSED_SECONDS = 600.0
_STARTS = 5
_HELLO_SECONDS, _TELL_SECONDS = 600.0, 30.0
_HELLO, _READ, _DONE, _FAILED = "hello", "read", "done", "failed"

Serve = Callable[[Any, StateLog], object]
"""Answers a request for a slot, with the log of the slot."""
Begin = Callable[[], tuple[Serve, Callable[[], bool]]]
"""Called in the new process of a slot. It returns what answers requests there, and what tells, once
in a while, whether the process is needed no more."""


@dataclass(frozen=True)
class Resident:
    """The process of a slot, as workers of its machine reach it.

    Args:
        name: of the slot, unlike all others of this machine.
        begin: what the process does.
    """

    name: str
    begin: Begin

    def run(self, request: object, head: HeadState, chunks: ChunkState) -> Any:
        """Let the slot answer a request, and write the changes of its log.

        Args:
            request: the request.
            head: the head of the log in Spark's store.
            chunks: the entries of the log there.

        Raises:
            RuntimeError: the process has ended before it had an answer, or takes no request.
        """
        with self._connected() as connection:
            stored = head.get()
            kind, content = self._asked(
                connection, (request, None if stored is None else bytes(stored[0]))
            )
            while kind == _READ:
                kind, content = self._asked(connection, bytes(chunks.getValue((content,))[0]))
        if kind == _FAILED:
            raise content
        answer, changes = content
        changes.write(head, chunks)
        return answer

    def _asked(self, connection: Connection, thing: object) -> tuple[str, Any]:
        """Send something to the process, and return what it answers."""
        try:
            connection.send(thing)
            kind, content = connection.recv()
        except (EOFError, ConnectionError):
            raise RuntimeError(f"the process of {self.name} has ended") from None
        return kind, content

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Connection]:
        """Connect with the process, which is started if there is none."""
        address = _folder() / hashlib.sha256(self.name.encode()).hexdigest()[:32]
        connection = self._connection(address)
        for _ in range(_STARTS):
            if connection is not None:
                break
            with contextlib.suppress(FileNotFoundError):  # who left last has removed the folder
                self._start(address)
            connection = self._connection(_folder() / address.name)
        if connection is None:
            raise RuntimeError(f"the process of {self.name} has ended {_STARTS} times at its start")
        with connection:
            yield connection

    def _connection(self, address: Path) -> Connection | None:
        """Return a connection with the process once it serves; None if there is none."""
        client = socket.socket(socket.AF_UNIX)
        try:
            client.connect(str(address))
            connection = Connection(client.detach())
            try:
                self._wait_for_hello(connection)
                if connection.recv() == _HELLO:
                    return connection
            except (EOFError, OSError):
                connection.close()
        except OSError:
            client.close()
        with contextlib.suppress(FileNotFoundError):
            address.unlink()
        return None

    def _wait_for_hello(self, connection: Connection) -> None:
        """Wait until the process, which begins or serves another worker, has time for this one."""
        told, begun = f"the process of {self.name}", time.monotonic()
        while not connection.poll(_TELL_SECONDS):
            waited = time.monotonic() - begun
            if waited >= _HELLO_SECONDS:
                raise RuntimeError(f"{told} takes no request for {waited:.0f} s")
            sys.stderr.write(f"{told} has begun nothing for {waited:.0f} s\n")

    def _start(self, address: Path) -> None:
        """Start the process; a worker that did the same meanwhile may have started another one."""
        own = address.with_name(f"{address.name}.{os.getpid()}")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(own))
            listener.listen()
            place = _Place(address, own.stat().st_ino)
            parent = os.getppid()
            between = os.fork()
            if between == 0:  # its end makes the process none of the worker's, which need not wait
                try:
                    if os.fork() == 0:
                        _live(listener, place, parent, self.begin)
                finally:
                    os._exit(0)
            os.waitpid(between, 0)
            own.replace(address)


class Changes:
    """The changes of a slot to its log that are not written yet.

    Args:
        head: the stored head, if there is one.
        fetch: returns an entry of the log.
    """

    def __init__(self, head: bytes | None, fetch: Callable[[int], bytes]) -> None:
        self._head, self._fetch = head, fetch
        self._new_head: bytes | None = None
        self._entries: dict[int, bytes | None] = {}

    def __getstate__(self) -> tuple[bytes | None, dict[int, bytes | None]]:
        return self._new_head, self._entries

    def __setstate__(self, state: tuple[bytes | None, dict[int, bytes | None]]) -> None:
        self._new_head, self._entries = state

    def get(self) -> tuple[bytes] | None:
        """Return the stored head."""
        return None if self._head is None else (self._head,)

    def update(self, newValue: tuple[bytes]) -> None:  # noqa: N803 - as Spark has it
        """Set the head."""
        self._new_head = newValue[0]

    def getValue(self, key: tuple[int]) -> tuple[bytes]:  # noqa: N802
        """Fetch an entry."""
        return (self._fetch(key[0]),)

    def updateValue(self, key: tuple[int], value: tuple[bytes]) -> None:  # noqa: N802
        """Set an entry."""
        self._entries[key[0]] = value[0]

    def removeKey(self, key: tuple[int]) -> None:  # noqa: N802
        """Remove an entry."""
        self._entries[key[0]] = None

    def write(self, head: HeadState, chunks: ChunkState) -> None:
        """Write all of it to Spark's store."""
        for number, content in self._entries.items():
            if content is None:
                chunks.removeKey((number,))
            else:
                chunks.updateValue((number,), (content,))
        if self._new_head is not None:
            head.update((self._new_head,))


@dataclass(frozen=True)
class _Place:
    """The address at which workers find a process.

    Args:
        address: the socket.
        inode: of the socket, unless another process has taken its place.
    """

    address: Path
    inode: int

    def leave(self) -> None:
        """Remove the socket, and its folder if it is the last one."""
        with contextlib.suppress(OSError):
            if self.address.stat().st_ino == self.inode:
                self.address.unlink()
            self.address.parent.rmdir()


class _Process:
    """The process of a slot, from inside.

    Args:
        listener: takes the connections of workers.
        place: where they find it.
        parent: the process that starts workers; this one ends with it.
    """

    def __init__(self, listener: socket.socket, place: _Place, parent: int) -> None:
        self._listener, self._place, self._parent = listener, place, parent
        self._failed: BaseException | None = None
        self._working: socket.socket | None = None
        self._waited_for = threading.Lock()

    def live(self, begin: Begin) -> None:
        """Serve workers as long as the slot is needed; one, if it could not begin.

        Args:
            begin: see ``Resident``.
        """
        threading.Thread(target=self._watch, daemon=True).start()
        try:
            self._serve, self._is_over = begin()
        except BaseException as error:  # noqa: BLE001 - raised in the worker
            self._failed = error
        self._listener.settimeout(_LOOK_SECONDS)
        used = looked = time.monotonic()
        while time.monotonic() - used < _UNUSED_SECONDS:
            try:
                worker, _ = self._listener.accept()
            except TimeoutError:
                if self._failed is None and time.monotonic() - looked > 5 * _LOOK_SECONDS:
                    if self._is_over():
                        return
                    looked = time.monotonic()
                continue
            worker.setblocking(True)
            self._working = worker
            ended = contextlib.suppress(EOFError, ConnectionError)  # of a worker that is killed
            with Connection(os.dup(worker.fileno())) as connection, ended:
                connection.send(_HELLO)
                answer = self._answer(connection)
                with self._waited_for:
                    self._working = None  # the worker closes its end once it has the answer
                connection.send(answer)
            with self._waited_for:
                self._working = None
            worker.close()
            if self._failed is not None:
                return
            used = time.monotonic()

    def _answer(self, connection: Connection) -> tuple[str, object]:
        """Serve the request of a worker; the result is the message for it."""
        request, head = connection.recv()

        def fetch(number: int) -> bytes:
            connection.send((_READ, number))
            content: bytes = connection.recv()
            return content

        changes = Changes(head, fetch)
        try:
            if self._failed is not None:
                raise self._failed
            return _DONE, (self._serve(request, StateLog(changes, changes)), changes)
        except BaseException as error:  # noqa: BLE001 - raised in the worker
            return _FAILED, _portable(error)

    def _watch(self) -> None:
        """End with the parent, and with a worker that is killed while it waits for an answer."""
        while True:
            time.sleep(_LOOK_SECONDS)
            with self._waited_for:
                worker = self._working
                gone = worker is not None and _is_closed(worker)
            if gone or not _runs(self._parent):
                self._place.leave()
                os._exit(1)


def _live(listener: socket.socket, place: _Place, parent: int, begin: Begin) -> None:
    """Be the process of a slot; this never returns."""

    def end(*_: object) -> None:
        place.leave()
        os._exit(1)

    try:
        for number in (signal.SIGHUP, signal.SIGTERM):
            signal.signal(number, end)
        _let_go(listener.fileno())
        _Process(listener, place, parent).live(begin)
    except BaseException:  # noqa: BLE001 - nothing of the worker's may run here
        traceback.print_exc()
    finally:
        with contextlib.suppress(BaseException):
            sys.stdout.flush()
            sys.stderr.flush()
        end()


def _let_go(kept: int) -> None:
    """Close the connections of the worker, which must end with it.

    The numbers stay in use: objects of the worker, which still exist here, may close them.

    Args:
        kept: the number of what stays open, besides the standard streams.
    """
    nothing = os.open(os.devnull, os.O_RDWR)
    for entry in os.listdir("/dev/fd"):
        number = int(entry)
        if number > 2 and number not in (kept, nothing):
            with contextlib.suppress(OSError):
                os.fstat(number)
                os.dup2(nothing, number)
    os.close(nothing)


def _folder() -> Path:
    """Return the folder of the sockets of this executor, which nobody else can look into."""
    place = Path(tempfile.gettempdir(), f"pyflink-on-spark-{os.getuid()}-{os.getppid()}")
    with contextlib.suppress(FileExistsError):
        place.mkdir(mode=0o700)
    found = place.lstat()
    if found.st_uid != os.getuid() or found.st_mode & 0o077:
        raise PermissionError(f"{place} can be used by others")
    return place


def _portable(error: BaseException) -> BaseException:
    """Return an error that can be raised in another process."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - any class may fail in any way
        return RuntimeError("".join(traceback.format_exception(error)))
    return error


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except OSError:
        return False
    return True


def _is_closed(other: socket.socket) -> bool:
    try:
        return not other.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    except BlockingIOError:
        return False
    except OSError:
        return True
