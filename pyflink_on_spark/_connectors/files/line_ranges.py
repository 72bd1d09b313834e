"""Where the lines begin that belong to a range of bytes."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from typing import BinaryIO

from pyflink_on_spark._filesystem.input_file import open_input

_LINE_END = re.compile(rb"\r\n?|\n")
_SCAN = 64 * 1024


def read_whole_lines(
    path: str, start: int, end: int | None, offset: int | None, chunk_size: int
) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of all lines that begin in a range of a file, and where they begin.

    Args:
        path: the file; a character set in which a line end is a byte of its own.
        start: the first offset of the range.
        end: the first offset behind it; None for the end of the file.
        offset: where a line begins, to go on there; None for the beginning of the range.
        chunk_size: how many bytes to read at once.

    Raises:
        OSError: if the file cannot be read, or has become shorter than it was.
    """
    with open_input(path) as file:
        if offset is not None:
            _check_length(file, path, offset)
        begin = first_line_at(file, start) if offset is None else offset
        finish = None if end is None else first_line_at(file, end)
        file.seek(begin)
        lines = bytearray()
        while True:
            left = chunk_size if finish is None else finish - begin - len(lines)
            chunk = file.read(min(chunk_size, left))
            searched = len(lines)
            lines += chunk
            behind = _behind_last_line_end(lines, searched) if chunk else len(lines)
            if behind:
                yield begin, bytes(lines[:behind])
                begin += behind
                del lines[:behind]
            if not chunk:
                return


def _behind_last_line_end(content: bytearray, searched: int) -> int:
    r"""Return where the last whole line ends, or 0; a ``\r`` at the end may be half a line end."""
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


def first_line_at(file: BinaryIO, offset: int) -> int:
    """Return the first offset, not before the given one, at which a line begins, or the end."""
    if offset == 0:
        return 0
    position = offset - 1
    file.seek(position)
    while chunk := file.read(_SCAN):
        found = _LINE_END.search(chunk)
        if found is None:
            position += len(chunk)
            continue
        behind = position + found.end()
        return behind + _rest_of_line_end(file, chunk, found.end())
    return position


def _rest_of_line_end(file: BinaryIO, chunk: bytes, behind: int) -> int:
    cut_in_two = behind == len(chunk) and chunk.endswith(b"\r") and file.read(1) == b"\n"
    return 1 if cut_in_two else 0
