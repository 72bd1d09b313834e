"""What a state file consists of: records, one after the other, each of which can be skipped.

So whoever restores a subtask reads only what belongs to it, and nobody holds all state at once.
"""

from __future__ import annotations

import pickle
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

OPERATOR, KEYED, SOURCE = "operator", "keyed", "source"
_PREFIX = struct.Struct("<II")


@dataclass(frozen=True, slots=True)
class RecordHead:
    """What a record is about.

    Args:
        kind: OPERATOR (state without keys), KEYED (a piece of a key group) or SOURCE (positions).
        name: the stable name of the operator or source.
        index: of the subtask that wrote it.
        number: the key group of a piece; an operator's number of key groups; else 0.
    """

    kind: str
    name: str
    index: int
    number: int


Record = tuple[RecordHead, bytes]


def write_record(stream: BinaryIO, record: Record) -> None:
    """Write a record."""
    head, payload = record
    content = (head.kind, head.name, head.index, head.number, len(payload), zlib.crc32(payload))
    header = pickle.dumps(content, 5)
    stream.write(_PREFIX.pack(len(header), zlib.crc32(header)))
    stream.write(header)
    stream.write(payload)


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of a record that is still in its file.

    Args:
        stream: the file.
        where: its name, for errors.
        offset: where the content begins.
        size: in bytes.
        checksum: CRC-32.
    """

    stream: BinaryIO
    where: str
    offset: int
    size: int
    checksum: int

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        """Return the content.

        Raises:
            ValueError: it is not what was written.
        """
        self.stream.seek(self.offset)
        content = self.stream.read(self.size)
        if len(content) != self.size or zlib.crc32(content) != self.checksum:
            raise ValueError(f"{self.where} is damaged at byte {self.offset}")
        return content


def stored_records(stream: BinaryIO, where: str, size: int) -> Iterator[tuple[RecordHead, Stored]]:
    """Yield what is in a file, without reading the contents.

    Args:
        stream: can be sought in; stays open as long as contents are wanted.
        where: its name, for errors.
        size: of the file in bytes.

    Raises:
        ValueError: something is not what was written.
    """
    offset = 0
    while offset < size:
        stream.seek(offset)
        prefix = stream.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size:
            raise ValueError(f"{where} ends at byte {offset + len(prefix)}")
        length, checksum = _PREFIX.unpack(prefix)
        header = stream.read(length)
        if zlib.crc32(header) != checksum:
            raise ValueError(f"{where} is damaged at byte {offset}")
        kind, name, index, number, content, content_checksum = pickle.loads(header)
        offset += _PREFIX.size + length
        yield (
            RecordHead(kind, name, index, number),
            Stored(stream, where, offset, content, content_checksum),
        )
        offset += content
    if offset != size:
        raise ValueError(f"{where} ends in the middle of a record")
