"""Bytes as Java's ``DataOutput`` and Flink's serializers write them."""

from __future__ import annotations

import struct

_LONGEST_UTF = 0xFFFF


def utf(text: str) -> bytes:
    """Write a text of ``writeUTF``: its length, and Java's own UTF-8.

    Args:
        text: the text.

    Raises:
        ValueError: the text is longer than Java can write.
    """
    units = text.encode("utf-16-be", "surrogatepass")
    wide = "".join(map(chr, struct.unpack(f">{len(units) // 2}H", units)))
    content = wide.encode("utf-8", "surrogatepass").replace(b"\0", b"\xc0\x80")
    if len(content) > _LONGEST_UTF:
        raise ValueError(f"a name of {len(content):,} bytes is too long for Flink")
    return struct.pack(">H", len(content)) + content


def integers(*numbers: int) -> bytes:
    """Write numbers of four bytes."""
    return struct.pack(f">{len(numbers)}i", *numbers)


def longs(*numbers: int) -> bytes:
    """Write numbers of eight bytes."""
    return struct.pack(f">{len(numbers)}q", *numbers)


def sized(content: bytes) -> bytes:
    """Write bytes after their number."""
    return struct.pack(">i", len(content)) + content


def varying(number: int) -> bytes:
    """Write a number of one to five bytes, the least significant seven bits first."""
    content = bytearray()
    while number >= 0x80:
        content.append(number & 0x7F | 0x80)
        number >>= 7
    content.append(number)
    return bytes(content)


def string(text: str | None) -> bytes:
    """Write a text of Flink's ``StringSerializer``: its UTF-16 units as varying numbers."""
    if text is None:
        return varying(0)
    if text.isascii():
        return varying(len(text) + 1) + text.encode("ascii")
    coded = text.encode("utf-16-be", "surrogatepass")
    units = struct.unpack(f">{len(coded) // 2}H", coded)
    return varying(len(units) + 1) + b"".join(map(varying, units))
