"""Values of classes of Java that Flink's former sources keep, by Kryo and as POJOs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pyflink_on_spark._runtime.moved_in.data_input import DataInput

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

    def read_pojo(found: DataInput) -> dict[str, Any] | None:
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

    def read_object(found: DataInput) -> tuple[Any, ...] | None:
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
