"""Refuses compressed blocks that would fill the memory, before they are decompressed as a whole."""

from __future__ import annotations

import bz2
import io
import lzma
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

import pyarrow as pa

from pyflink_on_spark._options.own import MAX_RECORD_SIZE

_PIECE = 1024 * 1024
_SYNC_BYTES = 16
_DAMAGED = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, struct.error)


class TooLargeError(ValueError):
    """A part of a file is larger after decompression than it may be."""


def check_size(what: str, size: int, most: int) -> None:
    """Refuse a part of a file that is too large.

    Args:
        what: the part, for people.
        size: its bytes after decompression.
        most: how many it may have.

    Raises:
        TooLargeError: it has more.
    """
    if size > most:
        raise TooLargeError(
            f"{what} has more than {most:,} bytes after decompression; "
            f"{MAX_RECORD_SIZE.key} allows more"
        )


def check_avro_blocks(file: BinaryIO, codec: str, most: int) -> None:
    """Refuse an Avro file with a block that is too large.

    A block that cannot be too large by the ratio of its codec is not decompressed here. Damage is
    left to the reader of the records.

    Args:
        file: the file, after its header.
        codec: the codec of the header.
        most: how many bytes a block may have after decompression.

    Raises:
        TooLargeError: a block has more.
    """
    if codec not in _SIZES:
        return
    ratio, sizes = _SIZES[codec]
    begin = file.tell()
    length = file.seek(0, os.SEEK_END)
    file.seek(begin)
    number = 0
    while _varint(file) is not None and (size := _varint(file)) is not None:
        end = file.tell() + max(size >> 1 if not size & 1 else 0, 0)
        if (end - file.tell()) * ratio > most:
            _check_block(file.read(min(end, length) - file.tell()), sizes, number, most)
        if end >= length:
            return
        file.seek(end + _SYNC_BYTES)
        number += 1


def _check_block(
    block: bytes, sizes: Callable[[bytes], Iterator[int]], number: int, most: int
) -> None:
    size = 0
    try:
        for piece in sizes(block):
            size += piece
            check_size(f"block {number}", size, most)
    except TooLargeError:
        raise
    except _DAMAGED:
        return


def _varint(file: BinaryIO) -> int | None:
    """Read a number of seven bits a byte, the lowest first; None at the end of the file."""
    value, shift = 0, 0
    while byte := file.read(1):
        value |= (byte[0] & 0x7F) << shift
        shift += 7
        if byte[0] < 0x80:
            return value
    return None


def _deflated(block: bytes) -> Iterator[int]:
    inflater = zlib.decompressobj(-zlib.MAX_WBITS)
    while piece := inflater.decompress(block, _PIECE):
        yield len(piece)
        block = inflater.unconsumed_tail


def _by_pieces(new: Callable[[], Any]) -> Callable[[bytes], Iterator[int]]:
    def sizes(block: bytes) -> Iterator[int]:
        decompressor = new()
        while piece := decompressor.decompress(block, _PIECE):
            yield len(piece)
            if decompressor.eof:
                return
            block = b""

    return sizes


def _zstd(block: bytes) -> Iterator[int]:
    with pa.CompressedInputStream(pa.BufferReader(block), "zstd") as stream:
        while piece := stream.read(_PIECE):
            yield len(piece)


def _snappy(block: bytes) -> Iterator[int]:
    yield _varint(io.BytesIO(block)) or 0


def _lz4(block: bytes) -> Iterator[int]:
    yield int(struct.unpack_from("<I", block)[0])


_SIZES: dict[str, tuple[int, Callable[[bytes], Iterator[int]]]] = {
    "deflate": (1_040, _deflated),
    "bzip2": (2_000_000, _by_pieces(bz2.BZ2Decompressor)),
    "xz": (10_000, _by_pieces(lzma.LZMADecompressor)),
    "zstandard": (50_000, _zstd),
    "snappy": (25, _snappy),
    "lz4": (260, _lz4),
}
"""The most that a byte can become, and what tells the sizes of the pieces of a block."""
