"""The contracts of file formats, and text files: character sets, lines and ranges of lines."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import PUBLIC_MODULE, PyFlinkOnSparkError
from pyflink_on_spark._connectors.formats.compression import is_compressed, read_compressed
from pyflink_on_spark._filesystem.local_files import open_input
from pyflink_on_spark._options.own import MAX_RECORD_SIZE
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common._charset import Charset, find_charset
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
    wrapped_type_of,
)

_SHOWN = 200
_CHUNK = 256 * 1024
_UNMARKED = {"utf-16": "utf-16-be", "utf-32": "utf-32-be"}
_MARKS = {
    "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE),
    "utf-32": (codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE),
}
_LINE_END_IS_ITS_OWN_BYTE = re.compile(r"utf-8|ascii|iso8859-\d+|cp125\d|koi8-[a-z]")
_ERRORS = "pyflink_on_spark.malformed"
_LINE_END = re.compile(rb"\r\n?|\n")
_NEWLINE = re.compile(rb"\n")
_SCAN = 64 * 1024


@dataclass(frozen=True, slots=True)
class FileSplit:
    """The part of a file that one subtask reads.

    Args:
        path: a local path or a URI.
        start: records that begin at this offset or after it belong to the split; in bytes.
        end: records that begin before this offset belong to the split; None: all.
    """

    path: str
    start: int = 0
    end: int | None = None


class InputFileFormat(ABC):
    """Reads the records of files. Picklable.

    A format of files with one byte for each record::

        class Bytes(InputFileFormat):
            @property
            def produced_type(self):
                return Types.INT()

            def read(self, split):
                with open(split.path, "rb") as file:
                    while values := list(file.read(BUNDLE_SIZE)):
                        yield Bundle(values)
    """

    most: int = sys.maxsize
    """How many bytes a compressed part of a file may have after decompression."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    def is_splittable(self, path: str) -> bool:
        """True if ranges of the file can be read independently."""
        return False

    def with_most(self, most: int) -> InputFileFormat:
        """The same format, where a line or what is decompressed at once may have so many bytes."""
        limited = copy(self)
        limited.most = most
        return limited

    @abstractmethod
    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the records that begin in a split, in order."""

    def resume(self, split: FileSplit, position: Any) -> Iterator[tuple[Bundle, object]] | None:
        """Yield the records of a split from a position on.

        Args:
            split: the split.
            position: a position that this method has yielded for the split; None for the beginning.

        Returns:
            An iterator of bundles, each with the position after its last record. None if the format
            cannot skip records without reading them.
        """
        return None


class OutputFileWriter(ABC):
    """Writes one file."""

    @abstractmethod
    def write(self, elements: Sequence[Any]) -> None:
        """Add elements that the format has converted."""

    @abstractmethod
    def finish(self) -> None:
        """Write the buffered elements; the caller closes the file."""

    def abandon(self) -> None:  # noqa: B027 - most writers hold nothing
        """Release all resources; the caller removes the file."""


class ArrowFileWriter(OutputFileWriter):
    """Writes one file with a writer of Arrow."""

    _writer: Any

    def abandon(self) -> None:
        with contextlib.suppress(Exception):
            self._writer.close()


class OutputFileFormat(ABC):
    """Writes elements to files. Picklable."""

    @abstractmethod
    def check_input(self, type_info: TypeInformation | None) -> None:
        """Check the type of the stream.

        Raises:
            TypeError: the format cannot write such a stream.
        """

    @abstractmethod
    def converter(self) -> Callable[[object], object]:
        """Return a function that converts an element when it arrives.

        The result must not share mutable parts with the element, which may change later.
        """

    @abstractmethod
    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""


def check_rows(type_info: TypeInformation | None) -> None:
    """Check that a stream consists of rows.

    Raises:
        TypeError: the stream has another type.
    """
    inner = wrapped_type_of(type_info) if isinstance(type_info, ExternalTypeInfo) else type_info
    if not isinstance(inner, RowTypeInfo):
        raise TypeError(
            f"this file format writes rows, and the stream is of {type_info}: declare its type "
            "where it is made, for example .map(..., output_type=Types.ROW_NAMED([...], [...]))"
        )


class CorruptRecordError(PyFlinkOnSparkError, ValueError):
    """Data does not conform to its format. The message says where the data is and what is wrong."""

    __module__ = PUBLIC_MODULE


@contextmanager
def locating(place: Callable[[], str]) -> Iterator[None]:
    """Add the place of a message to errors of its deserializer.

    Args:
        place: returns the place, for example ``partition 3 of topic 'a', offset 17``. Called only
            after an error.

    Raises:
        CorruptRecordError: instead of any ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise CorruptRecordError(f"cannot read {place()}: {error}") from error


def excerpt(data: bytes) -> str:
    """Return the beginning of a message, for the text of an error."""
    text = repr(data[:_SHOWN])[1:]
    return text if len(data) <= _SHOWN else f"{text}... ({len(data)} bytes)"


def null_if_corrupt(convert: Callable[[Any], object]) -> Callable[[Any], object]:
    """Return a converter whose value is None where the other one raises a ValueError."""

    def convert_or_null(value: object) -> object:
        try:
            return convert(value)
        except ValueError:
            return None

    return convert_or_null


class TextLines(InputFileFormat):
    r"""Lines without their ends, which are ``\n``, ``\r\n`` or ``\r``.

    Args:
        charset_name: the character set of the files; malformed input becomes U+FFFD.
        chunk_size: the number of bytes to decode at once.
        most: how many bytes a line may have.

    Raises:
        ValueError: there is no such character set.
    """

    def __init__(
        self, charset_name: str = "UTF-8", chunk_size: int = _CHUNK, most: int = sys.maxsize
    ) -> None:
        self._charset_name = charset_name
        self._codec = find_charset(charset_name).codec
        self._chunk_size = chunk_size
        self._most = most

    def with_most(self, most: int) -> InputFileFormat:
        """The same format, where a line may have so many bytes."""
        return TextLines(self._charset_name, self._chunk_size, most)

    @property
    def produced_type(self) -> TypeInformation:
        return Types.STRING()

    def is_splittable(self, path: str) -> bool:
        return has_single_byte_line_ends(self._codec) and not is_compressed(path)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        if self.is_splittable(split.path):
            yield from (bundle for bundle, _ in self._resume(split, None))
            return
        chunks = self._chunks(split.path)
        for lines in _decode_lines(chunks, self._codec, split.path, self._most):
            for i in range(0, len(lines), BUNDLE_SIZE):
                yield Bundle(lines[i : i + BUNDLE_SIZE])

    def resume(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Bundle, tuple[int, int]]] | None:
        """Yield lines from a position on.

        A position is the offset of a chunk in bytes, and the number of lines after it that are
        read. Files that cannot be split have no positions.
        """
        return self._resume(split, position) if self.is_splittable(split.path) else None

    def _resume(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Bundle, tuple[int, int]]]:
        offset, skip = position or (None, 0)
        lines = read_whole_lines(
            split.path, split.start, split.end, offset, self._chunk_size, most=self._most
        )
        return _in_bundles(lines, self._lines, skip)

    def _lines(self, content: bytes) -> list[str]:
        text = text_decoder(self._codec, b"").decode(content, final=True)
        if "\r" in text:
            text = text.replace("\r\n", "\n").replace("\r", "\n")
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        return lines

    def _chunks(self, path: str) -> Iterator[bytes]:
        if is_compressed(path):
            return read_compressed(path, self._chunk_size)
        return _read_plain(path, self._chunk_size)


class LineMessages(InputFileFormat):
    r"""Messages that end with ``\n`` or ``\r\n``: texts, or bytes of a part that is not in UTF-8.

    Args:
        chunk_size: the number of bytes to read at once.
        most: how many bytes a message may have.
    """

    def __init__(self, chunk_size: int = _CHUNK, most: int = sys.maxsize) -> None:
        self._chunk_size = chunk_size
        self._most = most

    def with_most(self, most: int) -> InputFileFormat:
        """The same format, where a line may have so many bytes."""
        return LineMessages(self._chunk_size, most)

    @property
    def produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()

    def is_splittable(self, path: str) -> bool:
        return not is_compressed(path)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        if self.is_splittable(split.path):
            yield from (bundle for bundle, _ in self._resume(split, None))
            return
        chunks = read_compressed(split.path, self._chunk_size)
        for content in _whole_lines(chunks, split.path, self._most):
            messages = _messages(content)
            for i in range(0, len(messages), BUNDLE_SIZE):
                yield Bundle(messages[i : i + BUNDLE_SIZE])

    def resume(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Bundle, tuple[int, int]]] | None:
        """Yield messages from a position on; for positions see ``TextLines``."""
        return self._resume(split, position) if self.is_splittable(split.path) else None

    def _resume(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Bundle, tuple[int, int]]]:
        offset, skip = position or (None, 0)
        lines = read_whole_lines(
            split.path,
            split.start,
            split.end,
            offset,
            self._chunk_size,
            newline_only=True,
            most=self._most,
        )
        return _in_bundles(lines, _messages, skip)


def _in_bundles(
    lines: Iterator[tuple[int, bytes]], read: Callable[[bytes], list[Any]], skip: int
) -> Iterator[tuple[Bundle, tuple[int, int]]]:
    """Yield bundles of lines, without some at the beginning, each with the position after it."""
    for begin, content in lines:
        values = read(content)
        for at in range(skip, len(values), BUNDLE_SIZE):
            bundle = Bundle(values[at : at + BUNDLE_SIZE])
            end = at + len(bundle.values)
            done = end == len(values)
            yield bundle, (begin + len(content), 0) if done else (begin, end)
        skip = 0


def _messages(content: bytes) -> list[Any]:
    """Return the lines of whole lines, without their ends."""
    lines: list[Any]
    try:
        text = content.decode()
    except UnicodeDecodeError:
        lines = content.split(b"\n")
        if b"\r" in content:
            lines = [line.removesuffix(b"\r") for line in lines]
    else:
        lines = text.split("\n")
        if "\r" in text:
            lines = [line.removesuffix("\r") for line in lines]
    if content.endswith(b"\n"):
        lines.pop()
    return lines


def _whole_lines(chunks: Iterator[bytes], path: str, most: int) -> Iterator[bytes]:
    pieces: list[bytes] = []
    size = 0
    for chunk in chunks:
        end = chunk.rfind(b"\n") + 1
        if end:
            yield b"".join((*pieces, chunk[:end]))
            pieces, size = [], 0
        pieces.append(chunk[end:])
        size += len(chunk) - end
        if size > most:
            raise too_long(path, most)
    if rest := b"".join(pieces):
        yield rest


def _read_plain(path: str, chunk_size: int) -> Iterator[bytes]:
    with open_input(path) as file:
        yield from iter(partial(file.read, chunk_size), b"")


def _decode_lines(chunks: Iterable[bytes], codec: str, path: str, most: int) -> Iterator[list[str]]:
    """Yield the lines of a text in chunks, some at a time."""
    decoder: io.IncrementalNewlineDecoder | None = None
    unfinished: list[str] = []
    size = 0
    for chunk in chunks:
        size += len(chunk)
        if decoder is None:
            decoder = io.IncrementalNewlineDecoder(text_decoder(codec, chunk), translate=True)
        for lines in _complete_lines(decoder.decode(chunk), unfinished):
            size = len(chunk)
            yield lines
        if size > most and sum(map(len, unfinished)) > most:
            raise too_long(path, most)
    if decoder is not None:
        yield from _complete_lines(decoder.decode(b"", final=True), unfinished)
    if last := "".join(unfinished):
        yield [last]


def _complete_lines(text: str, unfinished: list[str]) -> Iterator[list[str]]:
    """Yield the lines that end in a text; ``unfinished`` has the pieces of the open line."""
    lines = text.split("\n")
    unfinished.append(lines[0])
    if len(lines) == 1:
        return
    lines[0] = "".join(unfinished)
    unfinished[:] = [lines.pop()]
    yield lines


def has_single_byte_line_ends(codec: str) -> bool:
    r"""True if the bytes of ``\n`` and ``\r`` are never part of another character."""
    return _LINE_END_IS_ITS_OWN_BYTE.fullmatch(codec) is not None


def text_decoder(codec: str, beginning: bytes) -> codecs.IncrementalDecoder:
    """Return a decoder that replaces malformed input by a replacement character.

    Args:
        codec: Python's name of the character set.
        beginning: the first bytes of the text, which contain the byte order of UTF-16 and UTF-32.
    """
    if codec in _UNMARKED and not beginning.startswith(_MARKS[codec]):
        codec = _UNMARKED[codec]
    return codecs.getincrementaldecoder(codec)(_ERRORS)


def _replace_malformed(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace as Java does: a surrogate in UTF-8 is one malformed character, not three."""
    if isinstance(error, UnicodeDecodeError) and error.encoding == "utf-8":
        rest = error.object[error.start : error.start + 3]
        if rest[0] == 0xED and rest[1:2] >= b"\xa0" and rest[1:2] <= b"\xbf":
            length = 3 if 0x80 <= rest[-1] <= 0xBF else 2
            return "\ufffd", error.start + min(length, len(rest))
    return codecs.replace_errors(error)


codecs.register_error(_ERRORS, _replace_malformed)


class LineEncoder:
    """Encodes a text and a line end, which is the single byte 10 in any character set.

    Args:
        charset: the character set. A character that it lacks becomes a question mark.
    """

    def __init__(self, charset: Charset) -> None:
        self._charset = charset
        self._joinable = has_single_byte_line_ends(charset.codec)

    def encode(self, texts: Sequence[str]) -> bytes:
        """Return the lines of texts, joined."""
        if not self._joinable:
            return b"".join(self.encode_each(texts))
        return self._charset.encode("\n".join(texts)) + b"\n"

    def encode_each(self, texts: Sequence[str]) -> list[bytes]:
        """Return the line of each text."""
        encode = self._charset.encode
        return [encode(text) + b"\n" for text in texts]


def read_whole_lines(
    path: str,
    start: int,
    end: int | None,
    offset: int | None,
    chunk_size: int,
    newline_only: bool = False,
    most: int = sys.maxsize,
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that begin in a range of a file, some at a time, and their offset.

    Args:
        path: the file. In its character set a line end is a byte of its own.
        start: the first offset of the range.
        end: the first offset after the range; None for the end of the file.
        offset: the offset of the line from which reading resumes; None: the beginning of the range.
        chunk_size: the number of bytes to read at once.
        newline_only: whether a carriage return alone ends no line.
        most: how many bytes a line may have.

    Raises:
        ValueError: a line has more.
        OSError: the file cannot be read, or has become shorter.
    """
    with open_input(path) as file:
        if offset is not None:
            _check_length(file, path, offset)
        begin = first_line_at(file, start, newline_only) if offset is None else offset
        finish = None if end is None else first_line_at(file, end, newline_only)
        file.seek(begin)
        lines = bytearray()
        while True:
            left = chunk_size if finish is None else finish - begin - len(lines)
            chunk = file.read(min(chunk_size, left))
            searched = len(lines)
            lines += chunk
            if not chunk:
                end = len(lines)
            elif newline_only:
                end = lines.rfind(b"\n", searched) + 1
            else:
                end = _end_of_last_line(lines, searched)
            if end:
                yield begin, bytes(lines[:end])
                begin += end
                del lines[:end]
            if not chunk:
                return
            if len(lines) > most:
                raise too_long(path, most)


def too_long(path: str, most: int) -> ValueError:
    """The error for a line that has more bytes than it may have."""
    return ValueError(
        f"a line of {path} has more than {most:,} bytes; {MAX_RECORD_SIZE.key} allows more"
    )


def _end_of_last_line(content: bytearray, searched: int) -> int:
    r"""Return where the last complete line ends, or 0; a final ``\r`` may be half a line end."""
    return (
        max(
            content.rfind(b"\n", searched),
            content.rfind(b"\r", max(searched - 1, 0), len(content) - 1),
        )
        + 1
    )


def _check_length(file: BinaryIO, path: str, offset: int) -> None:
    length = file.seek(0, os.SEEK_END)
    if length < offset:
        raise OSError(
            f"{path} has {length} bytes, fewer than the {offset} that were read of it before the "
            "checkpoint"
        )


def first_line_at(file: BinaryIO, offset: int, newline_only: bool = False) -> int:
    """Return the offset of the first line at an offset or after it, or the end of the file."""
    if offset == 0:
        return 0
    position = offset - 1
    file.seek(position)
    while chunk := file.read(_SCAN):
        found = (_NEWLINE if newline_only else _LINE_END).search(chunk)
        if found is None:
            position += len(chunk)
            continue
        end = position + found.end()
        return end + _rest_of_line_end(file, chunk, found.end())
    return position


def _rest_of_line_end(file: BinaryIO, chunk: bytes, end: int) -> int:
    cut_in_two = end == len(chunk) and chunk.endswith(b"\r") and file.read(1) == b"\n"
    return 1 if cut_in_two else 0
