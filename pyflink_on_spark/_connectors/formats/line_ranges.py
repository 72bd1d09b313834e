"""Reads the lines that begin in a range of bytes."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from typing import BinaryIO

from pyflink_on_spark._filesystem.input_file import open_input
from pyflink_on_spark._options.own import MAX_RECORD_SIZE

_LINE_END = re.compile(rb"\r\n?|\n")
_NEWLINE = re.compile(rb"\n")
_SCAN = 64 * 1024


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
