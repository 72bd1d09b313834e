"""Reads the records of CSV files block by block."""

from __future__ import annotations

import codecs
import csv
import io
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

from pyflink_on_spark._connectors.formats.compression import is_compressed, read_compressed
from pyflink_on_spark._connectors.formats.csv_records import (
    BLANK,
    SURROGATES,
    CsvDialect,
    RecordReader,
)
from pyflink_on_spark._connectors.formats.file_format import (
    CorruptRecordError,
    FileSplit,
    InputFileFormat,
    read_whole_lines,
    too_long,
)
from pyflink_on_spark._filesystem.local_files import open_input
from pyflink_on_spark._runtime.elements.bundle import BUNDLE_SIZE, Bundle
from pyflink_on_spark.common.typeinfo import TypeInformation, Types

_CHUNK = 256 * 1024
_MOST_HELD = 16 * _CHUNK
"""In bytes: a block that has no probable end so far is read record by record."""
_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)

Elements = list[Any]
"""Lines that are records without quotes and escapes, or records, which are lists of texts."""


class CsvRecords(InputFileFormat):
    """Reads records: texts, which are records with nothing to resolve, or lists of fields.

    A file is read in blocks, which end where a record probably ends. The lines of a block without
    quotes and escapes are records. Only a file without any of them is split.

    Args:
        form: the dialect.
        lenient: whether a record that is not well-formed is left out; otherwise the job fails.
        chunk_size: the number of bytes to read at once.
        most: how many bytes a line may have.
    """

    def __init__(
        self,
        form: CsvDialect,
        lenient: bool = False,
        chunk_size: int = _CHUNK,
        most: int = sys.maxsize,
    ) -> None:
        self._form, self._lenient, self._chunk_size = form, lenient, chunk_size
        self._most = most
        self._special = tuple(
            character.encode() for character in (form.quote, form.escape) if character is not None
        )

    def with_most(self, most: int) -> InputFileFormat:
        """The same format, where a line may have so many bytes."""
        return CsvRecords(self._form, self._lenient, self._chunk_size, most)

    @property
    def produced_type(self) -> TypeInformation:
        return Types.PICKLED_BYTE_ARRAY()

    def is_splittable(self, path: str) -> bool:
        """True for a local, uncompressed file: its ranges can be read independently."""
        return isinstance(path, str) and os.path.exists(path) and not is_compressed(path)

    def read(self, split: FileSplit) -> Iterator[Bundle]:
        return (bundle for bundle, _ in self._resume(split, None))

    def resume(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Bundle, tuple[int, int]]] | None:
        """Yield records from a position on.

        A position is the offset of a block in bytes, and the number of records after it that are
        read. Compressed files have no positions.
        """
        return None if is_compressed(split.path) else self._resume(split, position)

    def _resume(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Bundle, tuple[int, int]]]:
        if (split.start or split.end is not None) and self._is_whole(split.path):
            if split.start:
                return
            split = replace(split, end=None)
        begin, skip = position or (0, 0)
        done = 0
        for elements, end in self._blocks(split, position):
            for at in range(min(max(skip - done, 0), len(elements)), len(elements), BUNDLE_SIZE):
                part = elements[at : at + BUNDLE_SIZE]
                read = at + len(part)
                done_here = end is not None and read == len(elements)
                yield Bundle(part), (end or 0, 0) if done_here else (begin, done + read)
            done += len(elements)
            if end is not None:
                begin, skip, done = end, max(skip - done, 0), 0

    def _is_whole(self, path: str) -> bool:
        """True for a file that one subtask has to read, since records may have several lines."""
        with open_input(path) as file:
            chunk = file.read(self._chunk_size)
            if _codec(chunk) is not None:
                return True
            while chunk:
                if any(character in chunk for character in self._special):
                    return True
                chunk = file.read(self._chunk_size)
        return False

    def _blocks(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[Elements, int | None]]:
        """Yield the records of blocks; with the offset after a block where a record ends there."""
        path, blocks = split.path, self._whole_records(self._lines(split, position))
        for begin, block in blocks:
            elements = self._elements(path, begin, block)
            if elements is None:
                for records in self._one_by_one(path, chain(((begin, block),), blocks)):
                    yield records, None
            else:
                yield elements, begin + len(block)

    def _lines(
        self, split: FileSplit, position: tuple[int, int] | None
    ) -> Iterator[tuple[int, bytes]]:
        """Yield whole lines in UTF-8, some at a time, and their offset."""
        path, size = split.path, self._chunk_size
        if is_compressed(path):
            return _whole_lines(_in_utf8(read_compressed(path, size)), path, self._most)
        with open_input(path) as file:
            beginning = file.read(4)
        if _codec(beginning) is not None:
            lines = _whole_lines(_in_utf8(_chunks(path, size)), path, self._most)
            return lines if position is None else _after(lines, position[0])
        offset = None if position is None else position[0]
        return read_whole_lines(path, split.start, split.end, offset, size, most=self._most)

    def _whole_records(self, lines: Iterator[tuple[int, bytes]]) -> Iterator[tuple[int, bytes]]:
        """Yield blocks that probably end with a record: the number of their quotes is even."""
        quote = None if self._form.quote is None else self._form.quote.encode()
        if quote is None:
            yield from lines
            return
        start, held, odd = 0, b"", False
        for begin, content in lines:
            if not held:
                start = begin
            if not odd and quote not in content:
                yield start, held + content if held else content
                held = b""
                continue
            block = held + content
            cut = _even_end(block, quote)
            if cut:
                yield start, block[:cut]
                start, held = start + cut, block[cut:]
            else:
                held = block
            odd = bool(held)
            if len(held) > _MOST_HELD:
                yield start, held
                held, odd = b"", False
        if held:
            yield start, held

    def _elements(self, path: str, begin: int, block: bytes) -> Elements | None:
        """Return the records of a block; None if they are to be read one by one."""
        form = self._form
        special = any(character in block for character in self._special)
        if special and (form.escape is not None or form.comments):
            return None
        try:
            text = _text(path, begin, block)
            if not special:
                return _plain_lines(text, form)
            return _with_blanks(csv.reader(io.StringIO(text, newline=""), **form.arguments()))
        except csv.Error:
            return None

    def _one_by_one(
        self, path: str, blocks: Iterable[tuple[int, bytes]]
    ) -> Iterator[list[list[str]]]:
        lines = (
            line
            for begin, block in blocks
            for line in io.StringIO(_text(path, begin, block), newline="")
        )
        records = RecordReader(lines, self._form, self._lenient, self._most)
        try:
            while chunk := records.take(BUNDLE_SIZE):
                yield [record or [""] for record in chunk]
            records.check()
        except CorruptRecordError:
            raise
        except ValueError as error:
            raise CorruptRecordError(f"cannot read {path}: {error}") from error


def _with_blanks(records: Iterator[list[str]]) -> list[list[str]]:
    return [record or [""] for record in records]


def _plain_lines(text: str, form: CsvDialect) -> list[str]:
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if form.comments:
        lines = [rest for line in lines if (rest := line.lstrip(BLANK)) and rest[0] != "#"]
    return lines


def _even_end(block: bytes, quote: bytes) -> int:
    """Return the end of the last line up to which the number of quotes is even, or 0."""
    end = len(block)
    odd = block.count(quote) % 2
    while end and odd:
        at = block.rfind(quote, 0, end)
        cut = max(block.rfind(b"\n", 0, at), block.rfind(b"\r", 0, at)) + 1
        odd ^= block.count(quote, cut, end) % 2
        end = cut
    return end


def _text(path: str, begin: int, block: bytes) -> str:
    """Return the text of a block; a surrogate, which Java cannot encode, is a question mark."""
    if not begin and block.startswith(codecs.BOM_UTF8):
        block = block[len(codecs.BOM_UTF8) :]
    try:
        return block.decode(errors=SURROGATES)
    except UnicodeDecodeError as error:
        raise CorruptRecordError(
            f"cannot read {path}: invalid UTF-8 byte 0x{block[error.start]:02x} at offset "
            f"{begin + error.start}"
        ) from error


def _codec(beginning: bytes) -> str | None:
    return next((codec for mark, codec in _MARKS if beginning.startswith(mark)), None)


def _chunks(path: str, size: int) -> Iterator[bytes]:
    with open_input(path) as file:
        yield from iter(partial(file.read, size), b"")


def _in_utf8(chunks: Iterator[bytes]) -> Iterator[bytes]:
    first = next(chunks, b"")
    codec = _codec(first)
    chunks = chain((first,), chunks)
    if codec is None:
        return chunks
    return (text.encode() for text in codecs.iterdecode(chunks, codec))


def _whole_lines(chunks: Iterable[bytes], path: str, most: int) -> Iterator[tuple[int, bytes]]:
    begin, held, searched = 0, bytearray(), 0
    for chunk in chunks:
        held += chunk
        carriage_return = held.rfind(b"\r", max(searched - 1, 0), len(held) - 1)
        cut = max(held.rfind(b"\n", searched), carriage_return) + 1
        if cut:
            yield begin, bytes(held[:cut])
            begin += cut
            del held[:cut]
        searched = len(held)
        if searched > most:
            raise too_long(path, most)
    if held:
        yield begin, bytes(held)


def _after(lines: Iterator[tuple[int, bytes]], offset: int) -> Iterator[tuple[int, bytes]]:
    for begin, content in lines:
        if begin + len(content) > offset:
            skipped = max(offset - begin, 0)
            yield begin + skipped, content[skipped:]
