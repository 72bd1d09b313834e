"""Open files of fsspec's, whose errors contain the URI."""

from __future__ import annotations

import io
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from pyflink_on_spark._filesystem.session import SessionUse

Explaining = Callable[[], AbstractContextManager[Any]]


class _RemoteFile(io.RawIOBase):
    """An open file.

    Args:
        stream: the file of fsspec's.
        explaining: returns a context in which errors are OSErrors with the URI of the file.
        session: the session that has to stay open until the file is closed.
    """

    def __init__(self, stream: Any, explaining: Explaining, session: SessionUse) -> None:
        super().__init__()
        self._stream, self._explaining, self._session = stream, explaining, session
        session.add()

    def close(self) -> None:
        if not self.closed:
            try:
                with self._explaining() as (fs, _):
                    self._at(fs).close()
            finally:
                super().close()
                self._session.release()

    def _at(self, fs: Any) -> Any:
        """Return fsspec's file on the current connection."""
        if type(getattr(self._stream, "fs", None)) is type(fs):
            self._stream.fs = fs
        return self._stream


class RemoteInput(_RemoteFile):
    """A file for reading at any place."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        with self._explaining() as (fs, _):
            whole = size is None or size < 0
            return bytes(self._at(fs).read() if whole else self._at(fs).read(size))

    def readall(self) -> bytes:
        return self.read()

    def readinto(self, buffer: Any) -> int:
        content = self.read(len(buffer))
        buffer[: len(content)] = content
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        with self._explaining():
            self._stream.seek(offset, whence)
            return int(self._stream.tell())

    def tell(self) -> int:
        return int(self._stream.tell())


class RemoteOutput(_RemoteFile):
    """A file for sequential writing."""

    def __init__(self, stream: Any, explaining: Explaining, session: SessionUse) -> None:
        super().__init__(stream, explaining, session)
        self._size = 0

    def writable(self) -> bool:
        return True

    def write(self, content: Any) -> int:
        with self._explaining() as (fs, _):
            self._at(fs).write(content)
        size = memoryview(content).nbytes
        self._size += size
        return size

    def tell(self) -> int:
        return self._size
