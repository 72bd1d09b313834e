"""Entries of keyed and of broadcast state as the pairs of bytes that a savepoint of Flink has."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from pyflink_on_spark._runtime.coders import longs, sized
from pyflink_on_spark._runtime.state.moved_in import MAP, PIECES
from pyflink_on_spark._runtime.state.snapshot import StateMeta
from pyflink_on_spark.common.typeinfo import (
    ListTypeInfo,
    MapTypeInfo,
    TypeInformation,
    key_type_of,
    value_type_of,
)
from pyflink_on_spark.flink_state.keyed_state import EVENT_TIMERS, PROCESSING_TIMERS
from pyflink_on_spark.flink_state.savepoint_files import StateText
from pyflink_on_spark.flink_state.value_writers import Write, writer_of

PYTHON = "python-state-"
_TIMERS = {"event": f"{EVENT_TIMERS}user-timers", "processing": f"{PROCESSING_TIMERS}user-timers"}
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
    return StateText(_TIMERS[queue], "timers", namespace)


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


def _pairs_of(kind: str, type_info: object, stamped: bool) -> Callable[[Any], Iterator[Pair]]:
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
    def pairs(entry: Any) -> Iterator[Pair]:
        found = pieces(entry)
        if found:
            written = [longs(p[0]) + sized(p[1]) if stamped else sized(p) for p in found]
            yield b"", b",".join(written)

    return pairs


def _map_pairs(
    write_key: Write, write_value: Write, stamped: bool
) -> Callable[[Any], Iterator[Pair]]:
    def pairs(entry: Any) -> Iterator[Pair]:
        for key, value in entry.items():
            stamp = b""
            if stamped and value is not None:
                stamp, value = longs(value[0]), value[1]
            content = b"\1" if value is None else b"\0" + stamp + sized(write_value(value))
            yield sized(write_key(key)), content

    return pairs
