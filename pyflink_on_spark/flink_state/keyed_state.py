"""The entries and timers of keyed state, key group by key group."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._runtime.moved_in.data_input import DataInput
from pyflink_on_spark.flink_state.metadata import Format
from pyflink_on_spark.flink_state.serializers import FlinkWindow, Read, Serializer, Void
from pyflink_on_spark.flink_state.snappy import decompressed
from pyflink_on_spark.flink_state.state_headers import TIMERS, KeyedHeader, StateHeader

PROCESSING_TIMERS, EVENT_TIMERS = "_timer_state/processing_", "_timer_state/event_"
_END = 0xFFFF
_LAST_OF_STATE = 0x80
_COMMA = 0x2C
_ONE_BYTE_GROUPS = 128


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
    key: Any
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
        width = 1 if max_parallelism <= _ONE_BYTE_GROUPS else 2
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
        pairs = _pairs_of_state(data, group, width)
        if state.kind == TIMERS:
            yield from _timers(pairs, state)
        elif state.kind == "map":
            yield from _maps(pairs, state, header.key, width)
        else:
            yield from _plain(pairs, state, header.key)
    _at_end(data)


Pairs = Iterator[tuple[DataInput, DataInput]]


def _pairs_of_state(data: DataInput, group: int, width: int) -> Pairs:
    """Iterate over the pairs of one state: keys without the flag of the last one, and values."""
    last = False
    while not last:
        begin = data.position
        key = data.take(data.count("bytes of a key"))
        value = data.take(data.count("bytes of a value"))
        if len(key) < width:
            raise data.refused("a key is damaged", begin)
        last = bool(key[0] & _LAST_OF_STATE)
        if (int.from_bytes(key[:width], "big") & ~(_LAST_OF_STATE << 8 * (width - 1))) != group:
            raise data.refused(f"a key is not in the key group {group}", begin)
        where = f"{data.where}, in the entry at byte {data.offset(begin)}"
        found = DataInput(key, where)
        found.position = width
        yield found, DataInput(value, where)


def _timers(pairs: Pairs, state: StateHeader) -> Iterator[FlinkEntry]:
    read = state.serializers["value"].read
    for pair, _value in pairs:
        time, key, namespace = read(pair)
        yield FlinkEntry(state, key, namespace, time)


def _plain(pairs: Pairs, state: StateHeader, key: Serializer) -> Iterator[FlinkEntry]:
    read_value = state.serializers["value"].read
    if state.kind == "list":
        read_value = _delimited(state.serializers["value"].parts[0].read)
    read_namespace = state.serializers["namespace"].read
    for pair, value in pairs:
        found = key.read(pair)
        entry = FlinkEntry(state, found, read_namespace(pair), read_value(value))
        _at_end(pair)
        _at_end(value)
        yield entry


def _maps(pairs: Pairs, state: StateHeader, key: Serializer, width: int) -> Iterator[FlinkEntry]:
    user_key, user_value = (part.read for part in state.serializers["value"].parts)
    read_namespace = state.serializers["namespace"].read
    place, entry = b"", None
    for pair, value in pairs:
        found, namespace = key.read(pair), read_namespace(pair)
        here = pair.content[width : pair.position]
        if entry is None or here != place:
            if entry is not None:
                yield entry
            place, entry = here, FlinkEntry(state, found, namespace, {})
        name = user_key(pair)
        entry.value[name] = None if value.boolean() else user_value(value)
        _at_end(pair)
        _at_end(value)
    if entry is not None:
        yield entry


def _delimited(read: Read) -> Read:
    """Make a reader of elements with a comma between two of them."""

    def read_list(data: DataInput) -> list[Any]:
        elements: list[Any] = []
        while data.left:
            if elements and data.unsigned_byte() != _COMMA:
                raise data.refused("a list is damaged", data.position - 1)
            elements.append(read(data))
        return elements

    return read_list


def _numbered(data: DataInput, header: KeyedHeader) -> StateHeader:
    begin = data.position
    number = data.unsigned_short()
    if number >= len(header.states):
        raise data.refused(f"there is no state of the number {number}", begin)
    return header.states[number]


def _at_end(data: DataInput) -> None:
    if data.left:
        raise data.refused(f"{data.left} bytes are left that are not expected")
