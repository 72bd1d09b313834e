"""Reads and writes the fields of Kafka's protocol, in the versions before its compact ones."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any


class Reader:
    """Takes fields off a request, one after the other."""

    def __init__(self, data: bytes) -> None:
        self._data, self._at = data, 0

    def number(self, kind: str) -> int:
        """Read a number; the kind is struct's, big-endian."""
        (value,) = struct.unpack_from(">" + kind, self._data, self._at)
        self._at += struct.calcsize(">" + kind)
        return value

    def i8(self) -> int:
        return self.number("b")

    def i16(self) -> int:
        return self.number("h")

    def i32(self) -> int:
        return self.number("i")

    def i64(self) -> int:
        return self.number("q")

    def text(self) -> str | None:
        size = self.i16()
        return None if size < 0 else self._bytes(size).decode()

    def blob(self) -> bytes:
        return self._bytes(max(0, self.i32()))

    def array(self, item: Callable[[], Any]) -> list[Any] | None:
        size = self.i32()
        return None if size < 0 else [item() for _ in range(size)]

    def by_topic(self, item: Callable[[], Any]) -> list[tuple[str, list[Any]]]:
        """Read what most requests have: an array of topics, each with an array."""
        return self.array(lambda: (self.text(), self.array(item)))

    def _bytes(self, size: int) -> bytes:
        found = self._data[self._at : self._at + size]
        self._at += size
        return found


def pack(kinds: str, *values: int) -> bytes:
    return struct.pack(">" + kinds, *values)


def text(value: str | None) -> bytes:
    return pack("h", -1) if value is None else pack("h", len(value.encode())) + value.encode()


def blob(value: bytes) -> bytes:
    return pack("i", len(value)) + value


def array(items: Iterable[bytes]) -> bytes:
    found = list(items)
    return pack("i", len(found)) + b"".join(found)


def by_topic(topics: Iterable[tuple[str, list[bytes]]]) -> bytes:
    return array(text(name) + array(items) for name, items in topics)
