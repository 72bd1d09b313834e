"""Writes canonical savepoints of Flink: ``_metadata``, and a file for each operator with state."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder
from pyflink_on_spark._runtime.coders import integers, longs, sized, utf
from pyflink_on_spark._runtime.state.moved_in import MAP, PIECES
from pyflink_on_spark._runtime.state.snapshot import StateMeta
from pyflink_on_spark.common.typeinfo import (
    ListTypeInfo,
    MapTypeInfo,
    TypeInformation,
    key_type_of,
    value_type_of,
)
from pyflink_on_spark.flink_state.key_writers import BYTES, composite, simple
from pyflink_on_spark.flink_state.keyed_state import EVENT_TIMERS, PROCESSING_TIMERS
from pyflink_on_spark.flink_state.metadata import MAGIC
from pyflink_on_spark.flink_state.value_writers import Write, writer_of

_VERSION = 3
_KEYED_VERSION = 6
_PROXY = 2
_ONE_BYTE_GROUPS = 128
_LAST_OF_STATE = 0x80
_END = b"\xff\xff"
_RELATIVE, _INLINE, _LISTS, _SAVEPOINT = b"\x06", b"\x01", b"\x04", b"\x07"
_KEYED, _BROADCAST, _TIMERS = 0, 2, 3
_BROADCAST_MODE = b"\x02"
_BASE = "org.apache.flink.api.common.typeutils.base."
_STREAMING = "org.apache.flink.streaming.api."
_WRAPPED = simple(
    f"{_STREAMING}utils.ByteArrayWrapperSerializer$ByteArrayWrapperSerializerSnapshot"
)
_LONG = simple(f"{_BASE}LongSerializer$LongSerializerSnapshot")
_STAMPED = composite(
    "org.apache.flink.runtime.state.ttl.TtlStateFactory$TtlSerializerSnapshot", 2, b"", _LONG, BYTES
)
_TABLE_WINDOWS = "org.apache.flink.table.runtime.operators.window."
NO_NAMESPACE = simple(
    "org.apache.flink.runtime.state.VoidNamespaceSerializer$VoidNamespaceSerializerSnapshot"
)
WINDOWS = {
    kind: simple(f"{_TABLE_WINDOWS}{kind}$Serializer${kind}SerializerSnapshot")
    for kind in ("TimeWindow", "CountWindow", "GlobalWindow")
}
"""The serializers of namespaces, by the kind of window."""


@dataclass(frozen=True)
class StateText:
    """One state as the head of keyed state describes it.

    Args:
        name: in Flink.
        kind: ``list``, ``map`` or ``timers``.
        namespace: the snapshot of the serializer of its namespaces.
        stamped: whether values have the time at which they were written.
    """

    name: str
    kind: str
    namespace: bytes
    stamped: bool = False

    def head(self, key: bytes) -> bytes:
        """Write what describes the state.

        Args:
            key: the snapshot of the serializer of keys.
        """
        if self.kind == "timers":
            timer = composite(
                f"{_STREAMING}operators.TimerSerializerSnapshot", 2, b"", key, self.namespace
            )
            return _state(self.name, _TIMERS, {}, {"VALUE": timer})
        value = _STAMPED if self.stamped else BYTES
        if self.kind == "map":
            content = composite(f"{_BASE}MapSerializerSnapshot", 1, b"", _WRAPPED, value)
        else:
            content = composite(f"{_BASE}ListSerializerSnapshot", 1, b"", value)
        options = {"KEYED_STATE_TYPE": self.kind.upper()}
        return _state(self.name, _KEYED, options, {"VALUE": content, "NAMESPACE": self.namespace})


Pairs = Sequence[tuple[bytes, bytes]]
"""Keys, without the number of the key group, and values."""


@dataclass
class OperatorFiles:
    """One operator in a savepoint.

    Args:
        hash: its id, as 32 hexadecimal digits.
        max_parallelism: the number of key groups.
        coordinator: the state of its coordinator.
        broadcast: the entries of its broadcast states, by name.
        offsets: where its key groups begin; 0 for one without state.
        file: the name and the size of the file of keyed state.
    """

    hash: str
    max_parallelism: int
    coordinator: bytes | None = None
    broadcast: Mapping[str, Pairs] = field(default_factory=dict)
    offsets: list[int] = field(default_factory=list)
    file: tuple[str, int] | None = None

    def to_bytes(self) -> bytes:
        """Write what ``_metadata`` has of the operator, which is in one subtask."""
        coordinator = b"\0"
        if self.coordinator is not None:
            coordinator = _inline(f"{self.hash}-coordinator", self.coordinator)
        lists = self._broadcast() if self.broadcast else integers(0)
        keyed = b"\0"
        if self.file is not None:
            name, size = self.file
            keyed = _SAVEPOINT + integers(0, len(self.offsets)) + longs(*self.offsets)
            keyed += _RELATIVE + utf(name) + longs(size)
        head = bytes.fromhex(self.hash) + integers(1, self.max_parallelism) + coordinator
        return head + integers(1, 0) + lists + integers(0) + keyed + b"\0" + integers(0, 0)

    def _broadcast(self) -> bytes:
        states = [
            _state(
                name,
                _BROADCAST,
                {"OPERATOR_STATE_DISTRIBUTION_MODE": "BROADCAST"},
                {"VALUE": BYTES, "KEY": _WRAPPED},
            )
            for name in self.broadcast
        ]
        content = integers(_KEYED_VERSION) + b"\0" + _count(0) + _count(len(states))
        content += b"".join(states)
        handle = integers(1) + _LISTS + integers(len(states))
        for name, pairs in self.broadcast.items():
            handle += utf(name) + _BROADCAST_MODE + integers(1) + longs(len(content))
            content += integers(len(pairs))
            content += b"".join([sized(key) + sized(value) for key, value in pairs])
        return handle + _inline(f"{self.hash}-lists", content)


class KeyGroupsWriter:
    """Writes the keyed state of an operator, key group by key group.

    Args:
        file: an empty file.
        operator: takes note of where the key groups begin.
        key: the snapshot of the serializer of keys.
        states: its states.
    """

    def __init__(
        self, file: BinaryIO, operator: OperatorFiles, key: bytes, states: Sequence[StateText]
    ) -> None:
        self._file, self._operator = file, operator
        self._numbers = {state: number for number, state in enumerate(states)}
        self._width = 1 if operator.max_parallelism <= _ONE_BYTE_GROUPS else 2
        operator.offsets = [0] * operator.max_parallelism
        head = integers(_KEYED_VERSION) + b"\0" + _proxied(key) + _count(len(states))
        head += b"".join(state.head(key) for state in states)
        file.write(head)
        self.size = len(head)

    def write(self, group: int, found: Iterable[tuple[StateText, Pairs]]) -> None:
        """Write a key group.

        Args:
            group: its number; each group is written once.
            found: the entries of states.
        """
        prefix = group.to_bytes(self._width, "big")
        last = bytes([prefix[0] | _LAST_OF_STATE]) + prefix[1:]
        parts: list[bytes] = []
        for state, pairs in found:
            if not pairs:
                continue
            parts.append(_count(self._numbers[state]))
            *others, (last_key, last_value) = pairs
            parts += [sized(prefix + key) + sized(value) for key, value in others]
            parts.append(sized(last + last_key) + sized(last_value))
        if not parts:
            return
        content = b"".join(parts) + _END
        self._operator.offsets[group] = self.size
        self._file.write(content)
        self.size += len(content)


@contextmanager
def key_groups_file(
    place: Folder, operator: OperatorFiles, key: bytes, states: Sequence[StateText]
) -> Iterator[KeyGroupsWriter]:
    """Write the file of an operator's keyed state.

    Args:
        place: the folder of the savepoint.
        operator: gets the name and the size of the file.
        key: the snapshot of the serializer of keys.
        states: its states.
    """
    name = f"operator-{operator.hash}"
    with place.create(name) as file:
        writer = KeyGroupsWriter(file, operator, key, states)
        yield writer
    operator.file = name, writer.size


def write_metadata(place: Folder, checkpoint_id: int, operators: Sequence[OperatorFiles]) -> None:
    """Write ``_metadata``, which makes a savepoint of the folder.

    Version 3 is read by each version of Flink since 1.11.

    Args:
        place: the folder, with the files of the operators.
        checkpoint_id: the number of the savepoint.
        operators: what it has of each operator.
    """
    content = MAGIC + integers(_VERSION) + longs(checkpoint_id) + integers(0, len(operators))
    place.write(METADATA, content + b"".join(operator.to_bytes() for operator in operators))


def _inline(name: str, content: bytes) -> bytes:
    return _INLINE + utf(name) + sized(content)


def _count(number: int) -> bytes:
    return number.to_bytes(2, "big")


def _proxied(snapshot: bytes) -> bytes:
    return integers(_PROXY) + snapshot


def _state(
    name: str, kind: int, options: Mapping[str, str], serializers: Mapping[str, bytes]
) -> bytes:
    content = utf(name) + integers(kind, len(options))
    content += b"".join(utf(option) + utf(value) for option, value in options.items())
    content += integers(len(serializers))
    for role, snapshot in serializers.items():
        content += utf(f"{role}_SERIALIZER") + _proxied(snapshot)
    return content


PYTHON = "python-state-"
_TIMER_QUEUES = {
    "event": f"{EVENT_TIMERS}user-timers",
    "processing": f"{PROCESSING_TIMERS}user-timers",
}
_SINGLE = ("value", "reducing", "aggregating")
_FIRST_TIME = 1 << 63

Pair = tuple[bytes, bytes]


class StateWriter:
    """Writes the entries of one state.

    Args:
        name: of the state.
        meta: its kind, and whether its values have stamps.
        type_info: the declared type of its values.
        namespace: the snapshot of the serializer of its namespaces.

    Raises:
        TypeError: Flink has no such state, or no values of the type.
    """

    def __init__(self, name: str, meta: StateMeta, type_info: object, namespace: bytes) -> None:
        stamped = bool(meta.stamped)
        kind = "map" if meta.kind in ("map", MAP) else "list"
        self.text = StateText(PYTHON + name, kind, namespace, stamped)
        self.pairs_of = _pairs_of(meta.kind, type_info, stamped)


def timers_text(queue: str, namespace: bytes) -> StateText:
    """Describe the timers of a queue.

    Args:
        queue: ``event`` or ``processing``.
        namespace: the snapshot of the serializer of their namespaces.
    """
    return StateText(_TIMER_QUEUES[queue], "timers", namespace)


def timer_pair(time: int, key: bytes, namespace: bytes) -> Pair:
    """Write a timer.

    Args:
        time: in ms.
        key: as Flink's serializer has written it.
        namespace: as Flink's serializer has written it.
    """
    return (time + _FIRST_TIME).to_bytes(8, "big") + key + namespace, b""


def broadcast_pairs(entries: Mapping[object, object], type_info: TypeInformation) -> list[Pair]:
    """Write the entries of a broadcast state.

    Args:
        entries: the entries.
        type_info: the declared type of the map.

    Raises:
        TypeError: Flink has no values of the type.
    """
    write_key, write_value = _map_writers(type_info)
    return [(write_key(key), write_value(value)) for key, value in entries.items()]


def _map_writers(type_info: object) -> tuple[Write, Write]:
    if isinstance(type_info, MapTypeInfo):
        return writer_of(key_type_of(type_info)), writer_of(value_type_of(type_info))
    return writer_of(None), writer_of(None)


def _pairs_of(kind: str, type_info: object, stamped: bool) -> Callable[[object], Iterator[Pair]]:
    if kind == MAP:
        return _map_pairs(bytes, bytes, stamped)
    if kind == "map":
        return _map_pairs(*_map_writers(type_info), stamped)
    if kind == PIECES:
        return _list_pairs(lambda entry: entry, stamped)
    if kind == "list":
        write = writer_of(type_info.elem_type if isinstance(type_info, ListTypeInfo) else None)
        if stamped:
            return _list_pairs(lambda entry: [(t, write(value)) for t, value in entry], True)
        return _list_pairs(lambda entry: [b"".join(map(write, entry))] if entry else [], False)
    if kind not in _SINGLE:
        raise TypeError(f"Flink has no {kind} state")
    write = writer_of(type_info)
    if stamped:
        return _list_pairs(lambda entry: [(entry[0], write(entry[1]))], True)
    return _list_pairs(lambda entry: [write(entry)], False)


def _list_pairs(
    pieces: Callable[[Any], list[Any]], stamped: bool
) -> Callable[[Any], Iterator[Pair]]:
    def pairs(entry: object) -> Iterator[Pair]:
        found = pieces(entry)
        if found:
            written = [longs(p[0]) + sized(p[1]) if stamped else sized(p) for p in found]
            yield b"", b",".join(written)

    return pairs


def _map_pairs(
    write_key: Write, write_value: Write, stamped: bool
) -> Callable[[object], Iterator[Pair]]:
    def pairs(entry: Any) -> Iterator[Pair]:
        for key, value in entry.items():
            stamp = b""
            if stamped and value is not None:
                stamp, value = longs(value[0]), value[1]
            content = b"\1" if value is None else b"\0" + stamp + sized(write_value(value))
            yield sized(write_key(key)), content

    return pairs
