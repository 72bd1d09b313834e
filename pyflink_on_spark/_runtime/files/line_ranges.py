"""Where the lines begin that belong to a range of bytes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO

_LINE_END = re.compile(rb"\r\n?|\n")
_SCAN = 64 * 1024


def read_line_range(path: str, start: int, end: int, chunk_size: int) -> Iterator[bytes]:
    """Yield the bytes of all lines that begin in a range of a file, in chunks.

    Args:
        path: the file; a character set in which a line end is a byte of its own.
        start: the first offset of the range.
        end: the first offset behind it.
        chunk_size: the size of a chunk in bytes.
    """
    with open(path, "rb") as file:
        begin, finish = first_line_at(file, start), first_line_at(file, end)
        file.seek(begin)
        while begin < finish:
            chunk = file.read(min(chunk_size, finish - begin))
            if not chunk:
                return
            begin += len(chunk)
            yield chunk


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
