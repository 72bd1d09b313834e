"""Flink's serializers, as far as a job of PyFlink has them, made of their snapshots.

Values of rows of tables (``BinaryRowData``) are as the engine of SQL has them: an unscaled ``int``
for a DECIMAL, days for a DATE, microseconds for times, timestamps and intervals of days.
"""

from __future__ import annotations

import datetime
import decimal
import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.common.time import Instant
from pyflink_on_spark.common.types import Row, RowKind
from pyflink_on_spark.flink_state.java_objects import JavaObject, read_java_object

Read = Callable[[DataInput], Any]
Snapshot = Callable[[DataInput, int], Read]
"""Reads the snapshot of a serializer in another one, at a depth; returns what reads values."""

_OPTIONAL_MAP = 0x4F2C69A3D70
_NULL, _NO_SUBCLASS = 1, 2
_NOTHING, _NAMED = 0, 1
_NEW = 1
_CONNECTORS = "org.apache.flink.streaming.connectors."
_POJOS = frozenset({f"{_CONNECTORS}kinesis.model.StreamShardMetadata"})


def pojo_reader(data: DataInput, depth: int, begin: int, nested: Snapshot) -> tuple[str, Read]:
    """Read the snapshot of a serializer of POJOs; return the class, and what reads values.

    A value is a dict of the fields.

    Args:
        data: the snapshot, after its version.
        depth: how many serializers it is in.
        begin: where it begins.
        nested: reads the snapshots of fields.

    Raises:
        CheckpointError: it is of a class that is not known.
    """
    name = data.utf()
    if name not in _POJOS:
        raise data.refused(f"a POJO of Java cannot be read ({name})", begin)
    fields: dict[str, Read] = {}

    def field(key: str, snapshot: DataInput | None) -> None:
        if snapshot is None:
            raise data.refused(f"the field {key!r} of {name} has no serializer", begin)
        fields[key] = nested(snapshot, depth + 1)

    _read_optional_map(data, field)
    for _ in range(2):  # subclasses, that are registered and that are not
        _read_optional_map(data, lambda key, _: _refuse_subclass(data, begin, name, key))

    def read_pojo(found: DataInput) -> dict[str, object] | None:
        at = found.position
        flags = found.unsigned_byte()
        if flags == _NULL:
            return None
        if flags != _NO_SUBCLASS:
            raise found.refused(f"an object of {name} is damaged, or of a subclass", at)
        return {key: None if found.boolean() else read(found) for key, read in fields.items()}

    return name, read_pojo


def kryo_reader(data: DataInput, begin: int) -> tuple[str, Read]:
    """Read the snapshot of a serializer of Kryo; return the class, and what reads values.

    Raises:
        CheckpointError: it is of a class that is not known.
    """
    name = data.utf()
    fields = _KRYO.get(name)
    if fields is None:
        raise data.refused(f"an object that Java wrote with Kryo cannot be read ({name})", begin)
    for _ in range(3):  # registered classes, and default serializers of two kinds
        _read_optional_map(data, lambda key, _: None)

    def read_object(found: DataInput) -> tuple[object, ...] | None:
        at = found.position
        of = found.varying()
        if of == _NOTHING:
            return None
        if of == _NAMED or found.varying() != _NEW:
            raise found.refused(f"an object of {name} is damaged, or of another class", at)
        return tuple(read(found) for read in fields)

    return name, read_object


def _refuse_subclass(data: DataInput, begin: int, name: str, subclass: str) -> None:
    raise data.refused(f"subclasses of {name} are not known ({subclass})", begin)


def _read_optional_map(data: DataInput, take: Callable[[str, DataInput | None], None]) -> None:
    """Read a map of Flink, whose keys and values may be missing."""
    begin = data.position
    if data.long() != _OPTIONAL_MAP:
        raise data.refused("the snapshot of a serializer is damaged", begin)
    for _ in range(data.count("entries", 4)):
        name = data.utf()
        _framed(data)
        take(name, _framed(data))


def _framed(data: DataInput) -> DataInput | None:
    if not data.boolean():
        return None
    length = data.count("bytes")
    base = data.offset(data.position)
    return DataInput(data.take(length), data.where, base)


def _number(data: DataInput) -> int:
    """Read a number of Kryo, which may be negative, of up to nine bytes."""
    number = shift = 0
    while True:
        byte = data.unsigned_byte()
        if shift == 56:
            number |= byte << shift
            break
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            break
        shift += 7
    return number >> 1 ^ -(number & 1)


def _text(data: DataInput) -> str | None:
    """Read a text of Kryo, which notes that it has not written the object before."""
    begin = data.position
    mark = data.varying()
    if mark == _NOTHING:
        return None
    first = data.unsigned_byte()
    if mark != _NEW:
        raise data.refused("a text of Kryo is damaged", begin)
    content = bytearray()
    if first & 0x80:
        length = first & 0x3F
        if first & 0x40:
            length |= data.varying() << 6
        if length == 0:
            return None
        content += data.take(length - 1)
    else:
        while not first & 0x80:
            content.append(first)
            first = data.unsigned_byte()
        content.append(first & 0x7F)
    if not content.isascii():
        raise data.refused("a text of Kryo has characters that no name has", begin)
    return content.decode("ascii")


_KRYO: dict[str, tuple[Read, ...]] = {
    # In the order of the names: a hash, the partition, the topic.
    f"{_CONNECTORS}kafka.internals.KafkaTopicPartition": (_number, _number, _text),
    # A hash, the number, the number in an aggregate.
    f"{_CONNECTORS}kinesis.model.SequenceNumber": (_number, _text, _number),
}


_COMPOSITE, _NESTED = 911108, 1333245
_DEEPEST = 64
_NO_LONG, _NO_INT = -(1 << 63), -(1 << 31)
_INT_MARKS = {1: 0, 2: 1, 3: 10}
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - times without a zone


@dataclass(frozen=True)
class Serializer:
    """A serializer that reads values of one type.

    Args:
        name: what the type is called.
        read: reads a value.
        parts: the serializers of its fields or elements.
    """

    name: str
    read: Read
    parts: tuple[Serializer, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.parts))})" if self.parts else self.name


@dataclass(frozen=True)
class Void:
    """The namespace of state outside of windows."""


@dataclass(frozen=True)
class FlinkWindow:
    """The namespace of state of a window.

    Args:
        kind: ``time``, ``count`` or ``global``.
        numbers: the start and the end of a time window (ms), the number of a count window.
    """

    kind: str
    numbers: tuple[int, ...] = ()


def read_snapshot(data: DataInput, depth: int = 0) -> Serializer:
    """Read the snapshot of a serializer, with the version of how it is written.

    Args:
        data: the bytes.
        depth: how many serializers it is in.

    Raises:
        CheckpointError: it is of a serializer that is not known.
    """
    begin = data.position
    if depth > _DEEPEST:
        raise data.refused("serializers are nested too deeply", begin)
    name = data.utf()
    version = data.integer()
    if name in _SIMPLE:
        if version == 2:
            data.utf()
        elif version != 3:
            raise data.refused(f"a snapshot of {name} of version {version} is not known", begin)
        return _SIMPLE[name]
    if name in _COMPOSITES:
        return _COMPOSITES[name](data, depth, begin)
    raise data.refused(f"the serializer {name} is not known", begin)


def read_proxied_snapshot(data: DataInput) -> Serializer:
    """Read the snapshot of a serializer after the version of Flink's proxy for it."""
    begin = data.position
    version = data.integer()
    if version != 2:
        raise data.refused(f"a serializer's proxy of version {version} is not known", begin)
    return read_snapshot(data)


def _nested(data: DataInput, depth: int) -> tuple[Serializer, ...]:
    begin = data.position
    if data.integer() != _NESTED or data.integer() != 1:
        raise data.refused("the serializers inside of another one are damaged", begin)
    return tuple(read_snapshot(data, depth + 1) for _ in range(data.count("serializers", 6)))


def _outer(data: DataInput) -> int:
    begin = data.position
    if data.integer() != _COMPOSITE:
        raise data.refused("the snapshot of a serializer is damaged", begin)
    return data.integer()


def _exactly(
    data: DataInput, depth: int, begin: int, count: int, name: str
) -> tuple[Serializer, ...]:
    parts = _nested(data, depth)
    if len(parts) != count:
        raise data.refused(f"a {name} cannot have {len(parts)} serializers", begin)
    return parts


def _row(data: DataInput, depth: int, _: int) -> Serializer:
    with_kind = _outer(data) >= 3 and data.boolean()
    parts = _nested(data, depth)
    if with_kind and len(parts) == 1:
        return Serializer("row", partial(_read_single, parts[0].read), parts)
    return Serializer("row", partial(_read_row, [part.read for part in parts], with_kind), parts)


def _read_single(field: Read, data: DataInput) -> Row:
    """Read a row of one field, as the keys of PyFlink are."""
    begin = data.position
    if data.unsigned_byte() == 0:
        return Row(field(data))
    data.position = begin
    return _read_row([field], True, data)


def _read_row(fields: list[Read], with_kind: bool, data: DataInput) -> Row:
    shift = 2 if with_kind else 0
    size = len(fields) + shift
    length = (size + 7) // 8
    mask = int.from_bytes(data.take(length), "big")
    top = length * 8 - 1
    values = [
        None if mask >> (top - index - shift) & 1 else field(data)
        for index, field in enumerate(fields)
    ]
    row = Row(*values)
    if with_kind:
        row.set_row_kind(RowKind((mask >> top & 1) + 2 * (mask >> (top - 1) & 1)))
    return row


def _tuple(data: DataInput, depth: int, _: int) -> Serializer:
    _outer(data)
    data.utf()  # the class
    parts = _nested(data, depth)
    reads = [part.read for part in parts]
    return Serializer("tuple", lambda found: tuple(read(found) for read in reads), parts)


def _list(data: DataInput, depth: int, begin: int) -> Serializer:
    _outer(data)
    (element,) = _exactly(data, depth, begin, 1, "list")
    read = element.read

    def read_list(found: DataInput) -> list[object]:
        return [read(found) for _ in range(found.count("elements"))]

    return Serializer("list", read_list, (element,))


def _map(data: DataInput, depth: int, begin: int) -> Serializer:
    _outer(data)
    key, value = _exactly(data, depth, begin, 2, "map")

    def read_map(found: DataInput) -> dict[object, object]:
        entries = {}
        for _ in range(found.count("entries")):
            name = key.read(found)
            entries[name] = None if found.boolean() else value.read(found)
        return entries

    return Serializer("map", read_map, (key, value))


def _stamped(data: DataInput, depth: int, begin: int) -> Serializer:
    _outer(data)
    stamp, value = _exactly(data, depth, begin, 2, "value with a time to live")
    return Serializer(
        "stamped", lambda found: (stamp.read(found), value.read(found)), (stamp, value)
    )


def _timer(data: DataInput, depth: int, begin: int) -> Serializer:
    _outer(data)
    key, namespace = _exactly(data, depth, begin, 2, "timer")

    def read_timer(found: DataInput) -> tuple[int, object, object]:
        flipped = found.long() & (1 << 64) - 1
        return flipped - (1 << 63), key.read(found), namespace.read(found)

    return Serializer("timer", read_timer, (key, namespace))


def _row_of_table(data: DataInput, depth: int, begin: int) -> Serializer:
    types = [read_type(data) for _ in range(data.count("columns"))]
    if len(_nested(data, depth)) != len(types):
        raise data.refused("the columns of a row are damaged", begin)
    columns = tuple(Serializer(kind, _no_value) for kind in types)
    return Serializer(ROW_OF_TABLE, row_reader(types), columns)


def _no_value(data: DataInput) -> object:
    raise data.refused("a column is read with its row only")


def _external(data: DataInput, depth: int, begin: int) -> Serializer:
    """Make what reads values of one column outside of rows."""
    _outer(data)
    found = read_java_object(data)
    data.boolean()  # whether Flink converts the values, which makes no difference in the state
    (inner,) = _exactly(data, depth, begin, 1, "value of a column")
    logical = found.fields.get("logicalType") if isinstance(found, JavaObject) else None
    kind = type_of(logical, data, begin)
    if kind.startswith("TIME("):
        return Serializer(kind, lambda piece: inner.read(piece) * 1000)
    return Serializer(kind, inner.read)


def _raw(data: DataInput, depth: int, begin: int) -> Serializer:
    _outer(data)
    _exactly(data, depth, begin, 1, "object of Java")
    return Serializer(RAW, _no_value)


def _pojo(data: DataInput, depth: int, begin: int) -> Serializer:
    return Serializer(*pojo_reader(data, depth, begin, lambda *part: read_snapshot(*part).read))


def _kryo(data: DataInput, _: int, begin: int) -> Serializer:
    return Serializer(*kryo_reader(data, begin))


def _timestamp_of_table(data: DataInput, _: int, __: int) -> Serializer:
    precision = data.integer()

    def read_timestamp(found: DataInput) -> int:
        micros = found.long() * 1000
        return micros if precision <= 3 else micros + found.integer() // 1000

    return Serializer(f"timestamp of {precision} digits", read_timestamp)


def _decimal_of_table(data: DataInput, _: int, __: int) -> Serializer:
    precision, scale = data.integer(), data.integer()

    def read_decimal(found: DataInput) -> int:
        if precision <= 18:
            return found.long()
        return int.from_bytes(_bytes(found), "big", signed=True)

    return Serializer(f"decimal of {precision} digits, {scale} after the point", read_decimal)


def _string_of_table(data: DataInput) -> str:
    begin = data.position
    return text_of(_bytes(data), data, begin)


def _bytes(data: DataInput) -> bytes:
    return data.take(data.count("bytes"))


def _big_int(data: DataInput) -> int | None:
    begin = data.position
    length = data.integer()
    if length == 0:
        return None
    if length in _INT_MARKS:
        return _INT_MARKS[length]
    if length < 4:
        raise data.refused("a big number is damaged", begin)
    return int.from_bytes(data.take(length - 4), "big", signed=True)


def _big_decimal(data: DataInput) -> decimal.Decimal | None:
    begin = data.position
    unscaled = _big_int(data)
    if unscaled is None:
        return None
    scale = data.integer()
    try:
        digits = tuple(map(int, str(abs(unscaled))))
        return decimal.Decimal((int(unscaled < 0), digits, -scale))
    except (ValueError, decimal.InvalidOperation):
        raise data.refused("a big decimal number is damaged", begin) from None


def _at(data: DataInput, begin: int, make: Callable[[], object]) -> Any:
    """Make a time, which may be one that Python has not."""
    try:
        return make()
    except (ValueError, OverflowError) as error:
        raise data.refused(f"a time cannot be read: {error}", begin) from None


def _milliseconds(data: DataInput) -> datetime.datetime | None:
    begin = data.position
    time = data.long()
    if time == _NO_LONG:
        return None
    return _at(data, begin, lambda: _EPOCH + datetime.timedelta(milliseconds=time))


def _sql_date(data: DataInput) -> datetime.date | None:
    found = _milliseconds(data)
    return None if found is None else found.date()


def _sql_time(data: DataInput) -> datetime.time | None:
    found = _milliseconds(data)
    return None if found is None else found.time()


def _sql_timestamp(data: DataInput) -> datetime.datetime | None:
    found = _milliseconds(data)
    if found is None:
        return None
    nanos = data.integer()
    return found.replace(microsecond=nanos // 1000 % 1_000_000)


def _local_date(data: DataInput) -> datetime.date | None:
    begin = data.position
    year, month, day = data.integer(), data.byte(), data.byte()
    if year == _NO_INT:
        return None
    return _at(data, begin, lambda: datetime.date(year, month, day))


def _local_time(data: DataInput) -> datetime.time | None:
    begin = data.position
    hour, minute, second, nanos = data.byte(), data.byte(), data.byte(), data.integer()
    if hour == -128:
        return None
    return _at(data, begin, lambda: datetime.time(hour, minute, second, nanos // 1000))


def _local_date_time(data: DataInput) -> datetime.datetime | None:
    date, time = _local_date(data), _local_time(data)
    return None if date is None or time is None else datetime.datetime.combine(date, time)


def _instant(data: DataInput) -> Instant | None:
    seconds, nanos = data.long(), data.integer()
    return None if seconds == _NO_LONG else Instant(seconds, nanos)


def _void_namespace(data: DataInput) -> Void:
    begin = data.position
    if data.unsigned_byte():
        raise data.refused("the namespace is damaged", begin)
    return Void()


def _time_window(data: DataInput) -> FlinkWindow:
    return FlinkWindow("time", (data.long(), data.long()))


def _global_window(data: DataInput) -> FlinkWindow:
    data.unsigned_byte()
    return FlinkWindow("global")


_BASE = "org.apache.flink.api.common.typeutils.base."
_RUNTIME = "org.apache.flink.api.java.typeutils.runtime."
_TABLES = "org.apache.flink.table.runtime.typeutils."
ROW_OF_TABLE = "row of a table"
_TABLE_WINDOWS = "org.apache.flink.table.runtime.operators.window."
_STREAM_WINDOWS = "org.apache.flink.streaming.api.windowing.windows."
_BASES: dict[str, tuple[str, Read]] = {
    "String": ("string", DataInput.string),
    "Boolean": ("boolean", DataInput.boolean),
    "Byte": ("byte", DataInput.byte),
    "Short": ("short", DataInput.short),
    "Int": ("int", DataInput.integer),
    "Long": ("long", DataInput.long),
    "Float": ("float", DataInput.single),
    "Double": ("double", DataInput.double),
    "Char": ("char", lambda data: chr(data.unsigned_short())),
    "BigInt": ("big int", _big_int),
    "BigDec": ("big decimal", _big_decimal),
    "Date": ("date", _milliseconds),
    "SqlDate": ("SQL date", _sql_date),
    "SqlTime": ("SQL time", _sql_time),
    "SqlTimestamp": ("SQL timestamp", _sql_timestamp),
    "LocalDate": ("local date", _local_date),
    "LocalTime": ("local time", _local_time),
    "LocalDateTime": ("local date and time", _local_date_time),
    "Instant": ("instant", _instant),
}
_OTHERS: dict[str, tuple[str, Read]] = {
    f"{_BASE}array.BytePrimitiveArraySerializer$BytePrimitiveArraySerializerSnapshot": (
        "bytes", _bytes,
    ),
    "org.apache.flink.streaming.api.utils.ByteArrayWrapperSerializer"
    "$ByteArrayWrapperSerializerSnapshot": ("bytes", _bytes),
    "org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot": (
        "no namespace", _void_namespace,
    ),
    f"{_TABLE_WINDOWS}TimeWindow$Serializer$TimeWindowSerializerSnapshot": (
        "time window", _time_window,
    ),
    f"{_STREAM_WINDOWS}TimeWindow$Serializer$TimeWindowSerializerSnapshot": (
        "time window", _time_window,
    ),
    f"{_TABLE_WINDOWS}CountWindow$Serializer$CountWindowSerializerSnapshot": (
        "count window", lambda data: FlinkWindow("count", (data.long(),)),
    ),
    f"{_TABLE_WINDOWS}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": (
        "global window", _global_window,
    ),
    f"{_STREAM_WINDOWS}GlobalWindow$Serializer$GlobalWindowSerializerSnapshot": (
        "global window", _global_window,
    ),
    f"{_TABLES}StringDataSerializer$StringDataSerializerSnapshot": ("text", _string_of_table),
    "org.apache.flink.table.dataview.NullSerializer$NullSerializerSnapshot": (
        "nothing", lambda data: None,
    ),
}  # fmt: skip
_SIMPLE = {
    **{
        f"{_BASE}{java}Serializer${java}SerializerSnapshot": Serializer(name, read)
        for java, (name, read) in _BASES.items()
    },
    **{java: Serializer(name, read) for java, (name, read) in _OTHERS.items()},
}
_COMPOSITES: dict[str, Callable[[DataInput, int, int], Serializer]] = {
    f"{_RUNTIME}RowSerializer$RowSerializerSnapshot": _row,
    f"{_RUNTIME}TupleSerializerSnapshot": _tuple,
    f"{_RUNTIME}PojoSerializerSnapshot": _pojo,
    f"{_RUNTIME}kryo.KryoSerializerSnapshot": _kryo,
    f"{_BASE}ListSerializerSnapshot": _list,
    f"{_BASE}MapSerializerSnapshot": _map,
    "org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializerSnapshot": _stamped,
    "org.apache.flink.streaming.api.operators.TimerSerializerSnapshot": _timer,
    f"{_TABLES}RowDataSerializer$RowDataSerializerSnapshot": _row_of_table,
    f"{_TABLES}ExternalSerializer$ExternalSerializerSnapshot": _external,
    f"{_TABLES}RawValueDataSerializer$RawValueDataSerializerSnapshot": _raw,
    f"{_TABLES}TimestampDataSerializer$TimestampDataSerializerSnapshot": _timestamp_of_table,
    f"{_TABLES}DecimalDataSerializer$DecimalSerializerSnapshot": _decimal_of_table,
}


Field = Callable[[DataInput, int], object]
"""Reads a field of a row, whose eight bytes are at a place."""

_WORD = 8
_KIND_BITS = 8
_INLINE = 0x80
_MICROS_PER_MILLI = 1000
_COMPACT_DECIMAL, _COMPACT_TIMESTAMP = 18, 3
_LONGEST = (1 << 31) - 1
_PLAIN = {
    "BooleanType": "BOOLEAN",
    "TinyIntType": "TINYINT",
    "SmallIntType": "SMALLINT",
    "IntType": "INT",
    "BigIntType": "BIGINT",
    "FloatType": "FLOAT",
    "DoubleType": "DOUBLE",
    "DateType": "DATE",
    "DayTimeIntervalType": "INTERVAL SECOND(3)",
    "YearMonthIntervalType": "INTERVAL MONTH",
    "RawType": "RAW",
    "TypeInformationRawType": "RAW",
}
_SIZED = {
    "CharType": "CHAR", "VarCharType": "VARCHAR",
    "BinaryType": "BINARY", "VarBinaryType": "VARBINARY",
}  # fmt: skip
_TIMED = {
    "TimeType": "TIME",
    "TimestampType": "TIMESTAMP",
    "LocalZonedTimestampType": "TIMESTAMP_LTZ",
}
_LONG_NAMES = {"VARCHAR": "STRING", "VARBINARY": "BYTES"}
_FORMATS = {
    "BOOLEAN": "<?", "TINYINT": "<b", "SMALLINT": "<h", "INT": "<i", "BIGINT": "<q",
    "FLOAT": "<f", "DOUBLE": "<d", "DATE": "<i", "INTERVAL MONTH": "<i",
}  # fmt: skip
RAW = "RAW"


def read_type(data: DataInput) -> str:
    """Read the type of a column, an object of Java, as SQL has it and without NOT NULL.

    Raises:
        CheckpointError: it is damaged, or the type is one whose values cannot be read.
    """
    begin = data.position
    return type_of(read_java_object(data), data, begin)


def type_of(found: object, data: DataInput, begin: int) -> str:
    """Return the type of a column as SQL has it.

    Args:
        found: the object of Java.
        data: what it was read from, for errors.
        begin: where it begins.

    Raises:
        CheckpointError: the type is one whose values cannot be read.
    """
    if not isinstance(found, JavaObject):
        raise data.refused("the type of a column is damaged", begin)
    name, fields = found.name, found.fields
    if name in _PLAIN:
        return _PLAIN[name]
    if name == "DecimalType":
        return f"DECIMAL({_number_in(fields, 'precision')}, {_number_in(fields, 'scale')})"
    if name in _TIMED:
        return f"{_TIMED[name]}({_number_in(fields, 'precision')})"
    if name in _SIZED:
        root, length = _SIZED[name], _number_in(fields, "length")
        if length == _LONGEST and root in _LONG_NAMES:
            return _LONG_NAMES[root]
        return f"{root}({length})"
    shown = name.removesuffix("Type").upper()
    raise data.refused(f"a column of the type {shown} cannot be read", begin)


def _number_in(fields: dict[str, object], name: str) -> int:
    found = fields.get(name)
    return found if isinstance(found, int) else 0


def row_reader(types: list[str]) -> Callable[[DataInput], tuple[object, ...]]:
    """Make what reads rows.

    Args:
        types: of the columns, as ``read_type`` returns them.
    """
    fields = [_field(kind) for kind in types]
    nulls = (len(types) + _KIND_BITS + 63) // 64 * _WORD
    fixed = nulls + len(types) * _WORD

    def read_row(data: DataInput) -> tuple[object, ...]:
        begin = data.position
        size = data.count("bytes of a row")
        if size < fixed:
            raise data.refused("a row is too short", begin)
        row = DataInput(data.take(size), data.where, data.offset(data.position) - size)
        mask = int.from_bytes(row.content[:nulls], "little") >> _KIND_BITS
        return tuple(
            [
                None if mask >> index & 1 else read(row, nulls + index * _WORD)
                for index, read in enumerate(fields)
            ]
        )

    return read_row


def _field(kind: str) -> Field:
    root = kind.partition("(")[0]
    if kind in _FORMATS:
        unpack = struct.Struct(_FORMATS[kind]).unpack_from
        return lambda row, at: unpack(row.content, at)[0]
    if root in ("CHAR", "VARCHAR", "STRING"):
        return lambda row, at: text_of(_piece(row, at), row, at)
    if root in ("BINARY", "VARBINARY", "BYTES"):
        return _piece
    if root == "DECIMAL":
        compact = precision_of(kind) <= _COMPACT_DECIMAL
        return _long if compact else _unscaled
    if root == "TIME":
        return lambda row, at: struct.unpack_from("<i", row.content, at)[0] * _MICROS_PER_MILLI
    if root in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _micros if precision_of(kind) <= _COMPACT_TIMESTAMP else _micros_and_nanos
    if root == "INTERVAL SECOND":
        return _micros
    return lambda row, at: None  # a view of the state, whose entries are elsewhere


def precision_of(kind: str) -> int:
    """Return the first number of a type."""
    return int(kind.partition("(")[2].rstrip(")").partition(",")[0])


def text_of(content: bytes, data: DataInput, at: int) -> str:
    """Decode a text.

    Raises:
        CheckpointError: it is damaged.
    """
    try:
        return content.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:
        raise data.refused("a text is damaged", at) from None


def _long(row: DataInput, at: int) -> object:
    return struct.unpack_from("<q", row.content, at)[0]


def _micros(row: DataInput, at: int) -> object:
    return struct.unpack_from("<q", row.content, at)[0] * _MICROS_PER_MILLI


def _micros_and_nanos(row: DataInput, at: int) -> object:
    nanos, offset = struct.unpack_from("<II", row.content, at)
    (millis,) = struct.unpack("<q", _part(row, offset, _WORD, at))
    return millis * _MICROS_PER_MILLI + nanos // 1000


def _unscaled(row: DataInput, at: int) -> object:
    size, offset = struct.unpack_from("<II", row.content, at)
    return int.from_bytes(_part(row, offset, size, at), "big", signed=True)


def _piece(row: DataInput, at: int) -> bytes:
    """Read bytes, up to seven of which are in the field itself."""
    head = row.content[at + _WORD - 1]
    if head & _INLINE:
        return row.content[at : at + min(head & ~_INLINE, _WORD - 1)]
    size, offset = struct.unpack_from("<II", row.content, at)
    return _part(row, offset, size, at)


def _part(row: DataInput, offset: int, size: int, at: int) -> bytes:
    if offset + size > len(row.content):
        raise row.refused("a field of a row is damaged", at)
    return row.content[offset : offset + size]
