"""Compressed input files, recognised by the suffixes of their names."""

from __future__ import annotations

import bz2
import gzip
import importlib
import io
import lzma
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import partial
from typing import Any, BinaryIO

from pyflink_on_spark._compat.errors import EnvironmentSetupError
from pyflink_on_spark._filesystem.input_file import open_input

Opener = Callable[[BinaryIO], AbstractContextManager[Any]]


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


def _open_zstd(file: BinaryIO, path: str) -> AbstractContextManager[Any]:
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            library: Any = importlib.import_module(module)
        except ImportError:
            continue
        return library.open(file, "rb")  # type: ignore[no-any-return]
    raise EnvironmentSetupError(
        f"cannot read {path}: .zst files need Python 3.14 or the package 'zstandard'"
    )


_OPENERS: dict[str, Opener] = {
    ".gz": partial(gzip.open, mode="rb"),
    ".gzip": partial(gzip.open, mode="rb"),
    ".bz2": partial(bz2.open, mode="rb"),
    ".xz": partial(lzma.open, mode="rb"),
}
_ZSTD = ".zst"
_SUFFIXES = (*_OPENERS, _ZSTD, ".deflate")


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
