"""The format of a state file: records, one after the other, each of which can be skipped.

So restoring a subtask reads only what belongs to it, and no process holds all state at once.
"""

from __future__ import annotations

import hashlib
import hmac
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


def write_record(stream: StateFileStream, record: Record, *, digests: bool = False) -> None:
    """Write a record.

    Args:
        stream: takes its bytes.
        record: the record.
        digests: whether the head has the SHA-256 of the content.
    """
    head, payload = record
    content = (head.kind, head.name, head.index, head.number, len(payload), zlib.crc32(payload))
    digest = (hashlib.sha256(payload).hexdigest(),) if digests else ()
    header = json.dumps(content + digest).encode()
    stream.write(_PREFIX.pack(len(header), zlib.crc32(header)))
    stream.write(header)
    stream.write(payload)


class HeadsDigest:
    """The SHA-256 of the heads of a file's records, while the file is written piece by piece."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._head = bytearray()
        self._wanted = _PREFIX.size
        self._payload = 0

    def update(self, content: bytes) -> None:
        """Take the next piece of the file."""
        place, end = 0, len(content)
        while place < end:
            if self._payload:
                skipped = min(self._payload, end - place)
                self._payload -= skipped
                place += skipped
                continue
            missing = self._wanted - len(self._head)
            self._head += content[place : place + missing]
            place += missing
            if len(self._head) == self._wanted:
                self._extend()

    def _extend(self) -> None:
        """Look at a prefix or a whole head."""
        if self._wanted == _PREFIX.size:
            self._wanted += _PREFIX.unpack(self._head)[0]
            return
        self._digest.update(self._head)
        self._payload = json.loads(self._head[_PREFIX.size :])[4]
        self._head.clear()
        self._wanted = _PREFIX.size

    def hexdigest(self) -> str:
        """The digest of the heads so far."""
        return self._digest.hexdigest()


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file of records, closed: a checkpoint has more of them than a process may have open.

    Args:
        where: its name, for errors.
        size: in bytes.
        open: opens it.
        number: its place among the files of its checkpoint, the older ones before the newer.
        digest: of its heads, as ``HeadsDigest`` has it; empty if nothing is signed.
    """

    where: str
    size: int
    open: Callable[[], BinaryIO]
    number: int = 0
    digest: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """The content of a record that is still in its file.

    Args:
        file: the file.
        offset: where the content begins.
        size: in bytes.
        checksum: CRC-32.
        digest: SHA-256; empty if nothing is signed.
    """

    file: StoredFile
    offset: int
    size: int
    checksum: int
    digest: str = ""

    def __len__(self) -> int:
        return self.size

    def read(self) -> bytes:
        """Return the content.

        Raises:
            ValueError: it is not what was written.
        """
        with self.file.open() as stream:
            return self.read_from(stream)

    def read_from(self, stream: BinaryIO) -> bytes:
        """Return the content, from the file that is open already.

        Raises:
            ValueError: it is not what was written.
        """
        stream.seek(self.offset)
        content = stream.read(self.size)
        if len(content) != self.size or zlib.crc32(content) != self.checksum:
            raise ValueError(f"{self.file.where} is damaged at byte {self.offset}")
        if self.digest and not same_digest(hashlib.sha256(content).hexdigest(), self.digest):
            raise ValueError(f"{self.file.where} is not what was signed at byte {self.offset}")
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
            yield tag, content.read_from(stream)
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
            yield head, content.read_from(stream) if little else content


def contents_between(file: StoredFile, begin: int, end: int) -> Iterator[bytes]:
    """Yield the contents of the records in a part of a file.

    Raises:
        ValueError: something is not what was written.
    """
    with file.open() as stream:
        found: Iterable[tuple[RecordHead, Stored]] = _records(stream, file, begin, end)
        if file.digest:  # the digest is that of all heads, so all come before the first content
            every = list(_records(stream, file, 0, file.size))
            found = [each for each in every if begin <= each[1].offset < end]
        for _, content in found:
            yield content.read_from(stream)


def same_digest(one: str, other: str) -> bool:
    """True for equal digests; takes the same time for all."""
    return hmac.compare_digest(one.encode(), other.encode())


def _records(
    stream: BinaryIO, file: StoredFile, begin: int, end: int
) -> Iterator[tuple[RecordHead, Stored]]:
    offset, where = begin, file.where
    digest = hashlib.sha256() if file.digest else None
    while offset < end:
        stream.seek(offset)
        prefix = stream.read(_PREFIX.size)
        if len(prefix) < _PREFIX.size:
            raise ValueError(f"{where} ends at byte {offset + len(prefix)}")
        length, checksum = _PREFIX.unpack(prefix)
        header = stream.read(length)
        if zlib.crc32(header) != checksum:
            raise ValueError(f"{where} is damaged at byte {offset}")
        head, content, content_checksum, signed = _head(header, f"{where} at byte {offset}")
        if digest is not None:
            digest.update(prefix + header)
            if not signed:
                raise ValueError(f"{where} has a record without a digest at byte {offset}")
        offset += _PREFIX.size + length
        if content > end - offset:
            raise ValueError(f"{where} ends in the middle of a record")
        yield head, Stored(file, offset, content, content_checksum, signed)
        offset += content
    if offset != end:
        raise ValueError(f"{where} ends in the middle of a record")
    if digest is not None and not same_digest(digest.hexdigest(), file.digest):
        raise ValueError(f"{where} is not what was signed")


def _head(header: bytes, where: str) -> tuple[RecordHead, int, int, str]:
    """The head of a record, with the size, the checksum and the digest of its content."""
    kind, name, *numbers = json.loads(header)
    digest = numbers.pop() if len(numbers) == 5 and isinstance(numbers[4], str) else ""
    if not (isinstance(kind, str) and isinstance(name, str) and len(numbers) == 4) or not all(
        type(number) is int for number in numbers
    ):
        raise ValueError(f"{where} is no head of a record")
    index, number, size, checksum = numbers
    if index < _DRIVER or min(number, size, checksum) < 0:
        raise ValueError(f"{where} is no head of a record")
    return RecordHead(kind, name, index, number), size, checksum, digest
