"""Values of declared types as PyFlink's Python workers write them: coders and data streams."""

from __future__ import annotations

import datetime
import decimal
import io
import pickle
import struct
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    BasicType,
    BasicTypeInfo,
    DateTypeInfo,
    ExternalTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PickledBytesTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TimestampTypeInfo,
    TimeTypeInfo,
    TupleTypeInfo,
    basic_type_of,
    element_type_of,
    key_type_of,
    value_type_of,
    wrapped_type_of,
)
from pyflink_on_spark.common.types import Row, RowKind

_SHORT, _INT, _LONG = struct.Struct(">h"), struct.Struct(">i"), struct.Struct(">q")
_FLOAT, _DOUBLE = struct.Struct(">f"), struct.Struct(">d")
_NULL_STRING = 0
Load = Callable[[bytes], object]
_KIND_BITS = 2
_NO_LONG, _NO_INT = -(1 << 63), -(1 << 31)
_EPOCH = datetime.date(1970, 1, 1)
_MIDNIGHT = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - times without a zone
_FLINKS, _OURS = "pyflink.", "pyflink_on_spark."
_LONGEST_UTF = 0xFFFF


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


Read = Callable[[DataInput], object]


class _Unpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        return super().find_class(own_module(module), name)


def own_module(module: str) -> str:
    """Find the module of the mirror that has the name of one of PyFlink's."""
    return _OURS + module.removeprefix(_FLINKS) if module.startswith(_FLINKS) else module


def load(content: bytes) -> object:
    """Load what a Python worker of PyFlink has pickled; this runs code of the job."""
    return _Unpickler(io.BytesIO(content)).load()


def reader_of(type_info: object, load: Load = load) -> Read:
    """Make what reads values of a declared type.

    Args:
        type_info: the declared type; None for pickles.
        load: makes objects of pickles.

    Raises:
        TypeError: PyFlink cannot keep such values in a state.
    """
    if type_info is None or isinstance(type_info, PickledBytesTypeInfo):
        return lambda data: load(_bytes(data))
    if isinstance(type_info, BasicTypeInfo):
        return _BASIC[basic_type_of(type_info)]
    for kind, make in _MAKERS.items():
        if isinstance(type_info, kind):
            return make(type_info, load)
    raise TypeError(f"PyFlink has no state of the type {type_info}")


def _bytes(data: DataInput) -> bytes:
    return data.take(data.count("bytes"))


def _text(data: DataInput) -> str:
    begin = data.position
    try:
        return _bytes(data).decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise data.refused("a text is damaged", begin) from None


def _decimal(data: DataInput) -> decimal.Decimal:
    begin = data.position
    try:
        return decimal.Decimal(_text(data))
    except decimal.InvalidOperation:
        raise data.refused("a decimal number is damaged", begin) from None


def _instant(data: DataInput) -> Instant | None:
    seconds, nanos = data.long(), data.integer()
    return None if (seconds, nanos) == (_NO_LONG, _NO_INT) else Instant(seconds, nanos)


def _made(data: DataInput, begin: int, make: Callable[[], object]) -> object:
    try:
        return make()
    except (ValueError, OverflowError) as error:
        raise data.refused(f"a time is damaged: {error}", begin) from None


def _date(data: DataInput) -> object:
    begin = data.position
    days = data.integer()
    return _made(data, begin, lambda: _EPOCH + datetime.timedelta(days))


def _at(milliseconds: int) -> datetime.datetime:
    return _MIDNIGHT + datetime.timedelta(milliseconds=milliseconds)


def _time(data: DataInput) -> object:
    begin = data.position
    milliseconds = data.integer()
    return _made(data, begin, lambda: _at(milliseconds).time())


def _timestamp(data: DataInput) -> object:
    begin = data.position
    milliseconds = data.long()
    return _made(data, begin, lambda: _at(milliseconds))


def _tuples(type_info: TupleTypeInfo, load: Load) -> Read:
    fields = [reader_of(field, load) for field in type_info.get_field_types()]
    return lambda data: tuple([read(data) for read in fields])


def _rows(type_info: RowTypeInfo, load: Load) -> Read:
    names = list(type_info.get_field_names())
    fields = [reader_of(field, load) for field in type_info.get_field_types()]
    length = (len(fields) + _KIND_BITS + 7) // 8
    top = length * 8 - 1

    def read_row(data: DataInput) -> Row:
        mask = int.from_bytes(data.take(length), "big")
        values = [
            None if mask >> (top - _KIND_BITS - index) & 1 else read(data)
            for index, read in enumerate(fields)
        ]
        row = Row(*values)
        row.set_field_names(names)
        row.set_row_kind(RowKind((mask >> top & 1) + 2 * (mask >> (top - 1) & 1)))
        return row

    return read_row


def _arrays(element: object, load: Load, nullable: bool) -> Read:
    basic = basic_type_of(element) if isinstance(element, BasicTypeInfo) else None
    if not nullable and basic is BasicType.BYTE:
        return _bytes
    read = reader_of(element, load)

    def read_array(data: DataInput) -> list[object]:
        size = data.count("elements")
        if not nullable:
            return [read(data) for _ in range(size)]
        return [read(data) if data.boolean() else None for _ in range(size)]

    return read_array


def _maps(type_info: MapTypeInfo, load: Load) -> Read:
    read_key = reader_of(key_type_of(type_info), load)
    read_value = reader_of(value_type_of(type_info), load)

    def read_map(data: DataInput) -> dict[object, object]:
        found = {}
        for _ in range(data.count("entries")):
            key = read_key(data)
            found[key] = None if data.boolean() else read_value(data)
        return found

    return read_map


_BASIC: dict[BasicType, Read] = {
    BasicType.STRING: _text,
    BasicType.CHAR: _text,
    BasicType.BOOLEAN: DataInput.boolean,
    BasicType.BYTE: DataInput.byte,
    BasicType.SHORT: DataInput.short,
    BasicType.INT: DataInput.integer,
    BasicType.LONG: DataInput.long,
    BasicType.BIG_INT: DataInput.long,
    BasicType.FLOAT: DataInput.single,
    BasicType.DOUBLE: DataInput.double,
    BasicType.BIG_DEC: _decimal,
    BasicType.INSTANT: _instant,
}
_MAKERS: dict[type, Callable[[Any, Load], Read]] = {
    TupleTypeInfo: _tuples,
    RowTypeInfo: _rows,
    ListTypeInfo: lambda found, load: _arrays(found.elem_type, load, nullable=True),
    PrimitiveArrayTypeInfo: lambda found, load: _arrays(
        element_type_of(found), load, nullable=False
    ),
    BasicArrayTypeInfo: lambda found, load: _arrays(element_type_of(found), load, nullable=True),
    ObjectArrayTypeInfo: lambda found, load: _arrays(element_type_of(found), load, nullable=True),
    MapTypeInfo: _maps,
    DateTypeInfo: lambda _, __: _date,
    TimeTypeInfo: lambda _, __: _time,
    TimestampTypeInfo: lambda _, __: _timestamp,
    ExternalTypeInfo: lambda found, load: reader_of(wrapped_type_of(found), load),
}


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
