"""Text files with a line for each record."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.formats.charset import (
    has_single_byte_line_ends,
    text_decoder,
)
from pyflink_on_spark._connectors.formats.compression import is_compressed, read_compressed
from pyflink_on_spark._connectors.formats.file_format import FileSplit, InputFileFormat
from pyflink_on_spark._connectors.formats.line_ranges import read_whole_lines, too_long
from pyflink_on_spark._filesystem.input_file import open_input
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common._charset import find_charset
from pyflink_on_spark.common.typeinfo import Types

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation

_CHUNK = 256 * 1024


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
