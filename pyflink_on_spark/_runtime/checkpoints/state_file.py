"""The format of a state file: records, one after the other, each of which can be skipped.

So restoring a subtask reads only what belongs to it, and no process holds all state at once.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import BinaryIO, Protocol, TypeVar

OPERATOR, KEYED, SOURCE, FRAME = "operator", "keyed", "source", "frame"
_LITTLE = 64 * 1024
_DRIVER = -1  # instead of a subtask: the enumerator of a source
_PREFIX = struct.Struct("<II")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class RecordHead:
    """The head of a record: its kind, its owner, and the key group or place of its content.

    Args:
        kind: OPERATOR (state without keys), KEYED (a piece of a key group), SOURCE (positions) or
            FRAME (a part of a committable).
        name: the stable name of the operator or source.
        index: of the subtask that wrote it; of a frame the process.
        number: the key group of a piece; an operator's number of key groups; the place of a frame
            in its committable; else 0.
    """

    kind: str
    name: str
    index: int
    number: int


Record = tuple[RecordHead, bytes]


class StateFileStream(Protocol):
    """A stream that takes the bytes of records."""

    def write(self, content: bytes, /) -> object:
        """Write."""
        ...


def write_record(stream: StateFileStream, record: Record) -> None:
    """Write a record."""
    head, payload = record
    content = (head.kind, head.name, head.index, head.number, len(payload), zlib.crc32(payload))
    header = json.dumps(content).encode()
    stream.write(_PREFIX.pack(len(header), zlib.crc32(header)))
    stream.write(header)
    stream.write(payload)


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of records, closed: a checkpoint has more of them than a process may have open.

    Args:
        where: its name, for errors.
        size: in bytes.
        open: opens it.
        number: its place among the files of its checkpoint, the older ones before the newer.
    """

    where: str
    size: int
    open: Callable[[], BinaryIO]
    number: int = 0


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of a record that is still in its file.

    Args:
        file: the file.
        offset: where the content begins.
        size: in bytes.
        checksum: CRC-32.
    """

    file: StoredFile
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
        with self.file.open() as stream:
            return self._read(stream)

    def _read(self, stream: BinaryIO) -> bytes:
        stream.seek(self.offset)
        content = stream.read(self.size)
        if len(content) != self.size or zlib.crc32(content) != self.checksum:
            raise ValueError(f"{self.file.where} is damaged at byte {self.offset}")
        return content


Content = bytes | Stored
"""The content of a record: in memory, or still in its file."""


def read_in_turn(contents: Iterable[tuple[T, Content]]) -> Iterator[tuple[T, bytes]]:
    """Read contents file by file, in each from front to back: one file is open at a time.

    Args:
        contents: each with what belongs to it, and stays with it; contents that are not in a
            file keep their order.
    """
    stream, opened = None, None
    try:
        for tag, content in sorted(contents, key=_place):
            if isinstance(content, bytes):
                yield tag, content
                continue
            if stream is None or content.file is not opened:
                if stream is not None:
                    stream.close()
                stream, opened = content.file.open(), content.file
            yield tag, content._read(stream)
    finally:
        if stream is not None:
            stream.close()


def _place(tagged: tuple[T, Content]) -> tuple[int, int]:
    content = tagged[1]
    return (0, 0) if isinstance(content, bytes) else (content.file.number, content.offset)


def stored_records(file: StoredFile) -> Iterator[tuple[RecordHead, Content]]:
    """Yield the heads of a file's records, with their content; keyed state stays unread.

    Little state without keys is read: each operator and source has some in each file, and to open
    a file again for it is not cheap everywhere.

    Raises:
        ValueError: something is not what was written.
    """
    with file.open() as stream:
        for head, content in _records(stream, file, 0, file.size):
            little = head.kind != KEYED and len(content) <= _LITTLE
            yield head, content._read(stream) if little else content


def contents_between(file: StoredFile, begin: int, end: int) -> Iterator[bytes]:
    """Yield the contents of the records in a part of a file.

    Raises:
        ValueError: something is not what was written.
    """
    with file.open() as stream:
        for _, content in _records(stream, file, begin, end):
            yield content._read(stream)


def _records(
    stream: BinaryIO, file: StoredFile, begin: int, end: int
) -> Iterator[tuple[RecordHead, Stored]]:
    offset, where = begin, file.where
    while offset < end:
        stream.seek(offset)
        prefix = stream.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size:
            raise ValueError(f"{where} ends at byte {offset + len(prefix)}")
        length, checksum = _PREFIX.unpack(prefix)
        header = stream.read(length)
        if zlib.crc32(header) != checksum:
            raise ValueError(f"{where} is damaged at byte {offset}")
        head, content, content_checksum = _head(header, f"{where} at byte {offset}")
        offset += _PREFIX.size + length
        if content > end - offset:
            raise ValueError(f"{where} ends in the middle of a record")
        yield head, Stored(file, offset, content, content_checksum)
        offset += content
    if offset != end:
        raise ValueError(f"{where} ends in the middle of a record")


def _head(header: bytes, where: str) -> tuple[RecordHead, int, int]:
    """The head of a record, with the size and the checksum of its content."""
    kind, name, *numbers = json.loads(header)
    if not (isinstance(kind, str) and isinstance(name, str) and len(numbers) == 4) or not all(
        type(number) is int for number in numbers
    ):
        raise ValueError(f"{where} is no head of a record")
    index, number, size, checksum = numbers
    if index < _DRIVER or min(number, size, checksum) < 0:
        raise ValueError(f"{where} is no head of a record")
    return RecordHead(kind, name, index, number), size, checksum
