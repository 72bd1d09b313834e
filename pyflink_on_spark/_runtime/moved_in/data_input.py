"""Reads what Java's ``DataOutput`` and Flink's serializers have written."""

from __future__ import annotations

import struct
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError

_SHORT, _INT, _LONG = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
_FLOAT, _DOUBLE = struct.Struct(">f"), struct.Struct(">d")
_NULL_STRING = 0


class DataInput:
    """The bytes of one place, read from front to back.

    Args:
        content: the bytes.
        where: what they are, for errors.
        base: the offset of the first byte in its file, for errors.
    """

    __slots__ = ("_base", "content", "position", "where")

    def __init__(self, content: bytes, where: str, base: int = 0) -> None:
        self.content = content
        self.where = where
        self.position = 0
        self._base = base

    @property
    def left(self) -> int:
        """The number of bytes left."""
        return len(self.content) - self.position

    def offset(self, position: int) -> int:
        """Compute the offset in the file of a position."""
        return self._base + position

    def refused(self, what: str, at: int | None = None) -> CheckpointError:
        """Make the error for something that cannot be read.

        Args:
            what: the reason.
            at: where it begins; None for the position.
        """
        offset = self.offset(self.position if at is None else at)
        return CheckpointError(f"{self.where}, at byte {offset}: {what}")

    def take(self, count: int) -> bytes:
        """Read so many bytes.

        Raises:
            CheckpointError: there are less.
        """
        begin = self.position
        end = begin + count
        content = self.content
        if count < 0 or end > len(content):
            raise self.refused(f"{count} bytes are expected, and {self.left} are left")
        self.position = end
        return content[begin:end]

    def byte(self) -> int:
        """Read a byte from -128 to 127."""
        value = self.unsigned_byte()
        return value - 256 if value > 127 else value

    def unsigned_byte(self) -> int:
        """Read a byte from 0 to 255."""
        position = self.position
        if position >= len(self.content):
            raise self.refused("one more byte is expected")
        self.position = position + 1
        return self.content[position]

    def boolean(self) -> bool:
        """Read a boolean."""
        return self.unsigned_byte() != 0

    def short(self) -> int:
        """Read a number of two bytes."""
        return self._number(_SHORT)  # type: ignore[no-any-return]

    def unsigned_short(self) -> int:
        """Read a number of two bytes that is not negative."""
        return self._number(_SHORT) & 0xFFFF  # type: ignore[no-any-return]

    def integer(self) -> int:
        """Read a number of four bytes."""
        return self._number(_INT)  # type: ignore[no-any-return]

    def long(self) -> int:
        """Read a number of eight bytes."""
        return self._number(_LONG)  # type: ignore[no-any-return]

    def single(self) -> float:
        """Read a floating point number of four bytes."""
        return self._number(_FLOAT)  # type: ignore[no-any-return]

    def double(self) -> float:
        """Read a floating point number of eight bytes."""
        return self._number(_DOUBLE)  # type: ignore[no-any-return]

    def count(self, what: str, size: int = 1) -> int:
        """Read how many of something follow.

        Args:
            what: of what, for the error.
            size: the least number of bytes that each of them has.

        Raises:
            CheckpointError: there cannot be so many.
        """
        begin = self.position
        end = begin + 4
        content = self.content
        number = int.from_bytes(content[begin:end], "big")
        if number * size > len(content) - end:
            number = self.integer()
            raise self.refused(f"there cannot be {number} {what}", begin)
        self.position = end
        return number

    def utf(self) -> str:
        """Read a text of ``writeUTF``: its length, and Java's own UTF-8."""
        begin = self.position
        content = self.take(self.unsigned_short())
        try:
            if b"\xc0" not in content and b"\xed" not in content:
                return content.decode("utf-8")
            wide = content.replace(b"\xc0\x80", b"\x00").decode("utf-8", "surrogatepass")
            return wide.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        except UnicodeDecodeError:
            raise self.refused("a text is damaged", begin) from None

    def varying(self) -> int:
        """Read a number of one to five bytes, the least significant seven bits first."""
        begin = self.position
        number = shift = 0
        while True:
            byte = self.unsigned_byte()
            number |= (byte & 0x7F) << shift
            if byte < 0x80:
                return number
            shift += 7
            if shift > 28:
                raise self.refused("a number of varying length is damaged", begin)

    def string(self) -> str | None:
        """Read a text of Flink's ``StringSerializer``: its UTF-16 units as varying numbers."""
        begin = self.position
        content = self.content
        if begin < len(content) and 0 < (length := content[begin]) < 0x80:
            end = begin + length
            piece = content[begin + 1 : end]
            if end <= len(content) and piece.isascii():
                self.position = end
                return piece.decode("ascii")
        length = self.varying()
        if length == _NULL_STRING:
            return None
        if length - 1 > self.left:
            raise self.refused(f"a text cannot have {length - 1} characters", begin)
        piece = self.content[self.position : self.position + length - 1]
        if piece.isascii():
            self.position += length - 1
            return piece.decode("ascii")
        units = [self.varying() for _ in range(length - 1)]
        if max(units) > 0xFFFF:
            raise self.refused("a text is damaged", begin)
        coded = struct.pack(f"<{len(units)}H", *units)
        return coded.decode("utf-16-le", "surrogatepass")

    def _number(self, kind: struct.Struct) -> Any:
        try:
            (number,) = kind.unpack_from(self.content, self.position)
        except struct.error:
            raise self.refused(
                f"{kind.size} bytes are expected, and {self.left} are left"
            ) from None
        self.position += kind.size
        return number
