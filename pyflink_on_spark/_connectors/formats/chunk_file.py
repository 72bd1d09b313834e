"""Bytes that come in chunks, as a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any


class ChunkFile(io.RawIOBase):
    """A file that is read once, from its beginning to its end.

    Args:
        chunks: its contents.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer as far as the present chunk goes; 0 at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count
