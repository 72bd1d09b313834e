"""The records of much state, written by a copy of this process while this one continues."""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import threading
import warnings
from collections.abc import Iterable, Sequence

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.state_file import Record, StateFileStream, write_record
from pyflink_on_spark._runtime.state.snapshot import StateFiles

_CHUNK = 1024 * 1024
_READY = b"+"
_DONE = b"done"
_LONGEST_START_SECONDS = 2
_LONGEST_TEXT = 4_000  # fits into a pipe, so that the copy need not wait for its reader
_leave = os._exit  # which is refused while functions run


def can_fork() -> bool:
    """True on systems that can fork a process."""
    return hasattr(os, "fork")


class CopyUnusable(Exception):
    """A copy of this process cannot read what it would have to write."""


class ForkedRecords:
    """Records as they are now, which a copy of this process makes and sends through a pipe.

    The copy shares memory with this process until one of them writes to it, so making the copy
    takes milliseconds, whatever the size of the state. It shares files as well, which this process
    leaves as they are until the copy has ended.

    Args:
        records: makes the records; consumed in the copy only.
        files: what making the records reads besides memory.
        digests: whether records have digests.

    Raises:
        CheckpointError: the system makes no copy.
        CopyUnusable: the copy cannot read the files.
    """

    def __init__(
        self,
        records: Iterable[Record],
        files: Sequence[StateFiles] = (),
        *,
        digests: bool = False,
    ) -> None:
        self._ended = threading.Lock()
        self._alive = True
        if not all(file.freeze(self.has_ended) for file in files):
            self._alive = False
            raise CopyUnusable
        self._data, data = os.pipe()
        self._status, status = os.pipe()
        try:
            self._process = _fork()
        except OSError as error:
            for descriptor in (self._data, data, self._status, status):
                os.close(descriptor)
            self._alive = False
            raise CheckpointError(f"the process cannot be copied: {error}") from error
        if self._process == 0:
            _write_and_leave(records, files, data, status, digests)
        os.close(data)
        os.close(status)
        if files and not self._starts():
            self.discard()
            raise CopyUnusable

    def copy_to(self, stream: StateFileStream) -> None:
        """Wait for all records, and write them to a stream.

        Raises:
            CheckpointError: the copy ended early.
            RuntimeError: a record could not be made.
        """
        try:
            while chunk := os.read(self._data, _CHUNK):
                stream.write(chunk)
            said = os.read(self._status, _LONGEST_TEXT)
        finally:
            how = self._reap()
        if said == _DONE:
            return
        if said:
            raise RuntimeError(f"state cannot be written: {said.decode(errors='replace')}")
        raise CheckpointError(f"the process that wrote the state of a checkpoint {how}")

    def has_ended(self) -> bool:
        """True once the forked process has ended."""
        return not self._alive

    def end(self) -> None:
        """End the copy; ``copy_to``, in another thread or later, raises CheckpointError then."""
        with self._ended:
            if self._alive:
                os.kill(self._process, signal.SIGKILL)

    def discard(self) -> None:
        """End the copy if it is there, and free what belongs to it."""
        if self._alive:
            self.end()
            self._reap()

    def _starts(self) -> bool:
        """Wait until the copy can read its files; tell whether it can.

        A copy never can if another thread of this process held a lock of the library that reads
        the files when the copy was made: the copy has the lock, but not the thread.
        """
        ready = select.poll()
        ready.register(self._status, select.POLLIN)
        if not ready.poll(_LONGEST_START_SECONDS * 1000):
            return False
        return os.read(self._status, len(_READY)) == _READY

    def _reap(self) -> str:
        """Wait for the end of the copy; return how it ended."""
        os.close(self._data)
        os.close(self._status)
        with self._ended:
            try:
                _, status = os.waitpid(self._process, 0)
            except ChildProcessError:  # a handler of this process waits for all of its children
                return "ended early"
            finally:
                self._alive = False
        code = os.waitstatus_to_exitcode(status)
        if code == -signal.SIGKILL:
            return "was killed: by a user, or by the system for lack of memory"
        return f"ended early with exit code {code}"


def _fork() -> int:
    with warnings.catch_warnings():
        # The copy runs this module's code alone, and none that waits for other threads.
        warnings.simplefilter("ignore", DeprecationWarning)
        return os.fork()


def _write_and_leave(
    records: Iterable[Record], files: Sequence[StateFiles], data: int, status: int, digests: bool
) -> None:
    """Write the records, in the copy, and end the copy."""
    try:
        gc.disable()
        _close_all_but(data, status, *(number for file in files for number in file.descriptors))
        if files:
            for file in files:
                file.start_in_copy()
            os.write(status, _READY)
        with open(data, "wb", _CHUNK) as stream:
            for record in records:
                write_record(stream, record, digests=digests)
        os.write(status, _DONE)
    except BaseException as error:  # noqa: BLE001 - nothing may return into the caller's frames
        text = f"{type(error).__name__}: {error}".encode()
        with contextlib.suppress(OSError):
            os.write(status, text[:_LONGEST_TEXT])
    finally:
        _leave(0)


def _close_all_but(*kept: int) -> None:
    """Close inherited connections, whose other ends wait for their end."""
    first = 3
    for descriptor in (*sorted(kept), os.sysconf("SC_OPEN_MAX")):
        os.closerange(first, descriptor)
        first = descriptor + 1
