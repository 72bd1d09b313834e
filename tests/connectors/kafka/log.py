"""The batches of records of one partition."""

from __future__ import annotations

import struct
from bisect import bisect
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter

TRANSACTIONAL, CONTROL = 0x10, 0x20


@dataclass
class Batch:
    """Some records as a producer sent them; only their first offset is rewritten."""

    data: bytes

    @property
    def attributes(self) -> int:
        return struct.unpack_from(">h", self.data, 21)[0]

    @property
    def size(self) -> int:
        return struct.unpack_from(">i", self.data, 23)[0] + 1

    @property
    def largest_timestamp(self) -> int:
        return struct.unpack_from(">q", self.data, 35)[0]

    def at(self, offset: int) -> bytes:
        return struct.pack(">q", offset) + self.data[8:]


def commit_mark(producer: int, epoch: int) -> Batch:
    """Return the control record that a committed transaction ends with."""
    key, value = struct.pack(">hh", 0, 1), struct.pack(">hi", 0, 0)
    body = b"\0\0\0" + bytes([len(key) * 2]) + key + bytes([len(value) * 2]) + value + b"\0"
    record = bytes([len(body) * 2]) + body
    head = struct.pack(">hiqqqhii", TRANSACTIONAL | CONTROL, 0, 0, 0, producer, epoch, -1, 1)
    rest = struct.pack(">ibI", 0, 2, 0) + head + record  # the checksum is not looked at
    return Batch(struct.pack(">qi", 0, len(rest)) + rest)


class Log:
    """One partition."""

    def __init__(self) -> None:
        self.start = self.end = 0
        self._batches: list[tuple[int, Batch]] = []

    def append(self, batch: Batch) -> int:
        first = self.end
        self._batches.append((first, batch))
        self.end += batch.size
        return first

    def read(self, offset: int, most: int) -> bytes:
        found, size = [], 0
        index = bisect(self._batches, offset, key=itemgetter(0)) - 1
        for first, batch in islice(self._batches, max(0, index), None):
            if first + batch.size > offset:
                found.append(batch.at(first))
                size += len(batch.data)
                if size >= most:
                    break
        return b"".join(found)

    def since(self, timestamp: int) -> tuple[int, int]:
        """Return timestamp and offset of the first batch that is not older."""
        for first, batch in self._batches:
            if not batch.attributes & CONTROL and batch.largest_timestamp >= timestamp:
                return batch.largest_timestamp, first
        return -1, -1

    def drop_before(self, offset: int) -> None:
        """Forget old records, as retention does."""
        self.start = offset
        self._batches = [(first, b) for first, b in self._batches if first + b.size > offset]
