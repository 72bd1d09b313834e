"""The entries and timers of keyed state, and the headers of its backends."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark.flink_state.metadata import Format
from pyflink_on_spark.flink_state.serializers import (
    FlinkWindow,
    Read,
    Serializer,
    Void,
    read_proxied_snapshot,
)
from pyflink_on_spark.flink_state.snappy import decompressed

PROCESSING_TIMERS, EVENT_TIMERS = "_timer_state/processing_", "_timer_state/event_"
_END = 0xFFFF
_LAST_OF_STATE = 0x80
_COMMA = 0x2C
ONE_BYTE_GROUPS = 128
Place = tuple[object, Any]
"""Key and namespace."""
TIMERS = "timers"
_KEYED_VERSION = 6
_LIST_VERSIONS = (5, 6)
_TYPES = ("keyed", "split", "broadcast", TIMERS)


@dataclass(frozen=True, slots=True)
class FlinkEntry:
    """One entry of a keyed state, or one timer.

    Args:
        state: its header.
        key: as Flink has it; of a PyFlink job a ``Row`` with the user's key.
        namespace: ``Void`` or a window.
        value: a list for a list state, a dict for a map state; of a timer its time (ms).
    """

    state: StateHeader
    key: object
    namespace: Void | FlinkWindow
    value: Any


def entries_of_group(
    data: DataInput, group: int, header: KeyedHeader, layout: Format, max_parallelism: int
) -> Iterator[FlinkEntry]:
    """Iterate over the entries of a key group.

    Args:
        data: the bytes of the key group, and no more.
        group: its number.
        header: what stands before the key groups.
        layout: how the entries are written.
        max_parallelism: the number of key groups.

    Raises:
        CheckpointError: they are damaged.
    """
    if layout is Format.CANONICAL:
        width = 1 if max_parallelism <= ONE_BYTE_GROUPS else 2
        if header.compressed:
            data = decompressed(data)
        return _canonical(data, group, header, width)
    return _native(data, group, header)


def _native(data: DataInput, group: int, header: KeyedHeader) -> Iterator[FlinkEntry]:
    begin = data.position
    if data.integer() != group:
        raise data.refused(f"the key group {group} is expected", begin)
    if header.compressed:
        data = decompressed(data)
    for _ in header.states:
        state = _numbered(data, header)
        read_value = state.serializers["value"].read
        if state.kind == TIMERS:
            for _ in range(data.count("timers", 8)):
                time, key, namespace = read_value(data)
                yield FlinkEntry(state, key, namespace, time)
            continue
        read_namespace = state.serializers["namespace"].read
        for _ in range(data.count("entries")):
            namespace, key = read_namespace(data), header.key.read(data)
            yield FlinkEntry(state, key, namespace, read_value(data))
    _at_end(data)


def _canonical(
    data: DataInput, group: int, header: KeyedHeader, width: int
) -> Iterator[FlinkEntry]:
    """Iterate over entries that are pairs of bytes, one state after the other.

    A map has a pair for each of its entries, which are neighbours.
    """
    while data.unsigned_short() != _END:
        data.position -= 2
        state = _numbered(data, header)
        keys = _keys_of_state(data, group, width)
        if state.kind == TIMERS:
            yield from _timers(keys, data, state)
        elif state.kind == "map":
            yield from _maps(keys, data, state, header.key)
        else:
            yield from _plain(keys, data, state, header.key)
    _at_end(data)


def _keys_of_state(data: DataInput, group: int, width: int) -> Iterator[int]:
    """Iterate over the pairs of one state.

    Yields:
        Where the key of a pair ends. The input is at what follows the key group in the key, and
        has to be at the end of the value when the next pair is asked for.
    """
    flag = _LAST_OF_STATE << 8 * (width - 1)
    usual, last = (prefix.to_bytes(width, "big") for prefix in (group, group | flag))
    while True:
        begin = data.position
        end = data.count("bytes of a key") + begin + 4
        prefix = data.take(width)
        if prefix not in (usual, last):
            raise data.refused(f"a key is not in the key group {group}", begin)
        yield end
        if prefix == last:
            return


def _value_end(data: DataInput, key_end: int) -> int:
    """Pass from the key of a pair to its value, and return where that ends."""
    if data.position != key_end:
        _at(data, key_end)
    return data.count("bytes of a value") + key_end + 4


def _timers(keys: Iterator[int], data: DataInput, state: StateHeader) -> Iterator[FlinkEntry]:
    read = state.serializers["value"].read
    for key_end in keys:
        time, key, namespace = read(data)
        _at(data, _value_end(data, key_end))
        yield FlinkEntry(state, key, namespace, time)


def _place_reader(state: StateHeader, key: Serializer) -> Callable[[DataInput], Place]:
    """Make what reads key and namespace of a pair."""
    read_key, read_namespace = key.read, state.serializers["namespace"].read
    if state.serializers["namespace"].name != "bytes":
        return lambda data: (read_key(data), read_namespace(data))

    def read(data: DataInput) -> Place:
        begin = data.position
        found = read_key(data)
        _pass_length(data, begin)
        begin = data.position
        namespace = read_namespace(data)
        _pass_length(data, begin)
        return found, namespace

    return read


def _plain(
    keys: Iterator[int], data: DataInput, state: StateHeader, key: Serializer
) -> Iterator[FlinkEntry]:
    read_place, value = _place_reader(state, key), state.serializers["value"]
    read_element = value.parts[0].read if state.kind == "list" else None
    for key_end in keys:
        found, namespace = read_place(data)
        end = _value_end(data, key_end)
        content = value.read(data) if read_element is None else _elements(data, end, read_element)
        if data.position != end:
            _at(data, end)
        yield FlinkEntry(state, found, namespace, content)


def _maps(
    keys: Iterator[int], data: DataInput, state: StateHeader, key: Serializer
) -> Iterator[FlinkEntry]:
    user_key, user_value = (part.read for part in state.serializers["value"].parts)
    read_place = _place_reader(state, key)
    place, entry = b"", None
    for key_end in keys:
        begin = data.position
        found, namespace = read_place(data)
        here = data.content[begin : data.position]
        if entry is None or here != place:
            if entry is not None:
                yield entry
            place, entry = here, FlinkEntry(state, found, namespace, {})
        name = user_key(data)
        end = _value_end(data, key_end)
        if data.boolean():
            entry.value[name], data.position = None, end
        else:
            entry.value[name] = user_value(data)
        _at(data, end)
    if entry is not None:
        yield entry


def _elements(data: DataInput, end: int, read: Read) -> list[object]:
    """Read elements with a comma between two of them."""
    elements: list[object] = [read(data)] if data.position < end else []
    while data.position < end:
        if data.unsigned_byte() != _COMMA:
            raise data.refused("a list is damaged", data.position - 1)
        elements.append(read(data))
    return elements


def _pass_length(data: DataInput, begin: int) -> None:
    """Pass over the length of what was read, which follows where namespaces differ in length."""
    length, at = data.position - begin, data.position
    written = length.to_bytes(max(1, (length.bit_length() + 7) // 8), "little")
    if data.take(len(written)) != written:
        raise data.refused("the length of a part of a key is damaged", at)


def _at(data: DataInput, end: int) -> None:
    if data.position != end:
        raise data.refused(f"this part of a pair should end at byte {data.offset(end)}")


def _numbered(data: DataInput, header: KeyedHeader) -> StateHeader:
    begin = data.position
    number = data.unsigned_short()
    if number >= len(header.states):
        raise data.refused(f"there is no state of the number {number}", begin)
    return header.states[number]


def _at_end(data: DataInput) -> None:
    if data.left:
        raise data.refused(f"{data.left} bytes are left that are not expected")


@dataclass(frozen=True)
class StateHeader:
    """The name, the kind and the serializers of a state.

    Args:
        name: of the state.
        kind: of keyed state ``value``, ``list``, ``map`` and the others; ``timers``; of state
            without keys ``split`` or ``broadcast``.
        serializers: by their roles: ``value``, ``namespace``, ``key``.
    """

    name: str
    kind: str
    serializers: Mapping[str, Serializer]

    def __str__(self) -> str:
        roles = sorted(f"{role}: {found}" for role, found in self.serializers.items())
        return f"{self.name}: {self.kind} of {', '.join(roles)}"


@dataclass(frozen=True)
class KeyedHeader:
    """The header of keyed state.

    Args:
        compressed: whether the key groups are compressed.
        key: reads keys.
        states: in the order of their numbers.
    """

    compressed: bool
    key: Serializer
    states: tuple[StateHeader, ...]


@dataclass(frozen=True)
class ListsHeader:
    """The header of state without keys.

    Args:
        compressed: whether the elements are compressed.
        states: by name.
    """

    compressed: bool
    states: Mapping[str, StateHeader]


def read_keyed_header(data: DataInput) -> KeyedHeader:
    """Read what stands before keyed state.

    Raises:
        CheckpointError: something in it is not known.
    """
    begin = data.position
    version = data.integer()
    if version != _KEYED_VERSION:
        raise data.refused(f"keyed state of version {version} is not known", begin)
    compressed = data.boolean()
    key = read_proxied_snapshot(data)
    states = tuple(_state(data) for _ in range(data.unsigned_short()))
    return KeyedHeader(compressed, key, states)


def read_lists_header(data: DataInput) -> ListsHeader:
    """Read what stands before state without keys.

    Raises:
        CheckpointError: something in it is not known.
    """
    begin = data.position
    version = data.integer()
    if version not in _LIST_VERSIONS:
        raise data.refused(f"state without keys of version {version} is not known", begin)
    compressed = version >= 6 and data.boolean()
    states = [_state(data) for _ in range(data.unsigned_short())]
    states += [_state(data) for _ in range(data.unsigned_short())]
    return ListsHeader(compressed, {state.name: state for state in states})


def _state(data: DataInput) -> StateHeader:
    name = data.utf()
    begin = data.position
    number = data.integer()
    if not 0 <= number < len(_TYPES):
        raise data.refused(f"the state {name!r} is of a kind that is not known: {number}", begin)
    options = {data.utf(): data.utf() for _ in range(data.count("options", 4))}
    serializers = {}
    for _ in range(data.count("serializers", 8)):
        role = data.utf().removesuffix("_SERIALIZER").lower()
        serializers[role] = read_proxied_snapshot(data)
    kind = _TYPES[number]
    if kind == "keyed":
        kind = options.get("KEYED_STATE_TYPE", "unknown").lower()
    missing = _roles(kind) - serializers.keys()
    if missing:
        raise data.refused(f"the state {name!r} has no serializer of its {min(missing)}", begin)
    return StateHeader(name, kind, serializers)


def _roles(kind: str) -> set[str]:
    if kind in ("split", TIMERS):
        return {"value"}
    return {"key", "value"} if kind == "broadcast" else {"value", "namespace"}
