"""Compressed input files, recognised by the suffixes of their names."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._filesystem.local_files import open_input
from pyflink_on_spark._options.own import MAX_RECORD_SIZE

Opener = Callable[[BinaryIO], AbstractContextManager[object]]
_OPENERS: dict[str, Opener] = {
    ".gz": partial(gzip.open, mode="rb"),
    ".gzip": partial(gzip.open, mode="rb"),
    ".bz2": partial(bz2.open, mode="rb"),
    ".xz": partial(lzma.open, mode="rb"),
}
_ZSTD = ".zst"
_SUFFIXES = (*_OPENERS, _ZSTD, ".deflate")
_PIECE = 1024 * 1024
_SYNC_BYTES = 16
_DAMAGED = (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, struct.error)


def is_compressed(path: str) -> bool:
    """True for the name of a compressed file."""
    return path.endswith(_SUFFIXES)


def read_compressed(path: str, chunk_size: int) -> Iterator[bytes]:
    """Yield the decompressed content of a file in chunks of about ``chunk_size`` bytes.

    Raises:
        OSError: the file is damaged, or not compressed as its name says.
        EnvironmentSetupError: the library for the compression is missing.
    """
    try:
        if path.endswith(".deflate"):
            yield from _inflate(path, chunk_size)
        else:
            with open_input(path) as compressed, _decompressed(compressed, path) as file:
                yield from iter(partial(file.read, chunk_size), b"")
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise OSError(f"cannot decompress {path}: {error}") from error


def _inflate(path: str, chunk_size: int) -> Iterator[bytes]:
    inflater = zlib.decompressobj()
    with open_input(path) as file:
        while not inflater.eof:
            compressed = inflater.unconsumed_tail or file.read(chunk_size)
            if not compressed:
                raise EOFError("the file ends in the middle of the compressed data")
            yield inflater.decompress(compressed, chunk_size)


def _decompressed(file: BinaryIO, path: str) -> AbstractContextManager[Any]:
    if path.endswith(_ZSTD):
        return _open_zstd(file, path)
    return next(opener(file) for suffix, opener in _OPENERS.items() if path.endswith(suffix))


def _open_zstd(file: BinaryIO, path: str) -> AbstractContextManager[object]:
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            library = importlib.import_module(module)
        except ImportError:
            continue
        return library.open(file, "rb")  # type: ignore[no-any-return]
    raise EnvironmentSetupError(
        f"cannot read {path}: .zst files need Python 3.14 or the package 'zstandard'"
    )


class ChunkFile(io.RawIOBase):
    """A file object that reads from an iterator of chunks.

    Args:
        chunks: the content.
    """

    def __init__(self, chunks: Iterator[bytes]) -> None:
        self._chunks = chunks
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Copy bytes of the current chunk into a buffer; return their number, 0 at the end."""
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._rest = memoryview(chunk)
        count = min(len(buffer), len(self._rest))
        buffer[:count] = self._rest[:count]
        self._rest = self._rest[count:]
        return count


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
    import pyarrow as pa

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
