"""Tables of keyed state with entries as PyFlink has written them.

Flink has a list of pieces of bytes for each entry, whatever the kind of the state is, and a map
from bytes to bytes for a map state. Which type they have is only known to who asks for the state.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.coders import DataInput, Load, Read, load, reader_of
from pyflink_on_spark._runtime.state.keyed_state import StateTable
from pyflink_on_spark._runtime.state.timers import Timers
from pyflink_on_spark.common.typeinfo import ListTypeInfo, MapTypeInfo, key_type_of, value_type_of

PIECES, MAP = "pieces of PyFlink", "map of PyFlink"
ENCODED = "pyflink:"
"""Before the name of a broadcast state whose entries are as PyFlink has written them."""

_PICKLE = b"\x80"

Decode = Callable[[Any], Any]


def is_moved_in(table: StateTable) -> bool:
    """True if the entries of a table are in PyFlink's own format."""
    return table.kind in (PIECES, MAP)


def interpret(table: StateTable, name: str, kind: str, type_info: object) -> None:
    """Convert the entries of a table to the form of a state's kind and type.

    Args:
        table: with entries that PyFlink has written.
        name: of the state, for errors.
        kind: of the state.
        type_info: the declared type of its values, or None.

    Raises:
        CheckpointError: they are not of that type.
    """
    if (kind == "map") != (table.kind == MAP):
        was = "a map state" if table.kind == MAP else "no map state"
        raise CheckpointError(
            f"the state {name!r} in the savepoint of Flink is {was}, and the job declares a {kind} "
            "state of that name: give the new state another name"
        )
    decode = decoder(name, kind, type_info, bool(table.stamped))
    _replace(table, decode)
    table.kind = kind


def decoder(name: str, kind: str, type_info: object, stamped: bool, load: Load = load) -> Decode:
    """Make what decodes the entries of a state.

    Args:
        name: of the state, for errors.
        kind: of the state.
        type_info: the declared type of its values, or None.
        stamped: whether values have the time at which they were written.
        load: makes objects of pickles.
    """
    where = f"the state {name!r} of type {type_info}"
    if kind == "map":
        key_type = value_type = None
        if isinstance(type_info, MapTypeInfo):
            key_type, value_type = key_type_of(type_info), value_type_of(type_info)
        return _map_decoder(where, reader_of(key_type, load), reader_of(value_type, load), stamped)
    if kind == "list":
        element = type_info.elem_type if isinstance(type_info, ListTypeInfo) else None
        return _list_decoder(where, reader_of(element, load), stamped)
    return _single_decoder(where, reader_of(type_info, load), stamped)


def _single_decoder(where: str, read: Read, stamped: bool) -> Decode:
    """Make what decodes the first value; PyFlink does not look at others either."""

    def decode(pieces: Any) -> object:
        if not pieces:
            return None
        if stamped:
            stamp, piece = pieces[0]
            return stamp, _first(where, read, piece)
        return _first(where, read, pieces[0])

    return decode


def _first(where: str, read: Read, piece: bytes) -> object:
    data = DataInput(piece, where)
    value = read(data)
    if data.left:
        raise data.refused("the value is longer than one of this type")
    return value


def _list_decoder(where: str, read: Read, stamped: bool) -> Decode:
    def decode(pieces: Any) -> object:
        if stamped:
            found = [(t, value) for t, piece in pieces for value in _all(where, read, piece)]
        else:
            found = _all(where, read, b"".join(pieces))
        return found or None

    return decode


def _all(where: str, read: Read, content: bytes) -> list[Any]:
    data = DataInput(content, where)
    found = []
    while data.left:
        found.append(read(data))
    return found


def _map_decoder(where: str, read_key: Read, read_value: Read, stamped: bool) -> Decode:
    def value_of(encoded: Any) -> object:
        if encoded is None:
            return None
        if stamped:
            stamp, piece = encoded
            return stamp, None if piece is None else _first(where, read_value, piece)
        return _first(where, read_value, encoded)

    def decode(entries: Any) -> object:
        return {_first(where, read_key, key): value_of(value) for key, value in entries.items()}

    return decode


def unpickled(entry: object, load: Load) -> object:
    """Load what is pickled in an entry, without stamps; other bytes stay as they are."""
    if isinstance(entry, dict):
        return {_one(key, load): _one(value, load) for key, value in entry.items()}
    if isinstance(entry, list):
        return _one(b"".join(entry), load)
    return entry


def _one(content: object, load: Load) -> object:
    found = _loaded(content, load)
    return found[0] if isinstance(found, list) and len(found) == 1 else found


def _loaded(content: object, load: Load) -> object:
    """Load pickles that follow each other; return the bytes themselves if they are none."""
    if not isinstance(content, bytes):
        return content
    data, found = DataInput(content, "a value"), []
    while data.left:
        try:
            pickled = data.take(data.count("bytes"))
        except CheckpointError:
            return content
        if pickled[:1] != _PICKLE or pickled[-1:] != b".":
            return content
        found.append(load(pickled))
    return found


def _replace(table: StateTable, decode: Decode) -> None:
    for namespace, key in table.places():
        value = decode(table.get(namespace, key))
        if value is None:
            table.remove(namespace, key)
        else:
            table.put(namespace, key, value)
        if table.changed is not None:
            table.changed[namespace].add(key)


def read_windows(
    tables: dict[str, StateTable], timers: Timers, serializer: Any, merging: str
) -> None:
    """Make windows of the bytes that stand for them, in all tables and timers of an operator.

    Args:
        tables: by the name of each state.
        timers: of the operator.
        serializer: the window serializer of the assigner.
        merging: the name of the state that says where the contents of merged windows are.
    """

    def window(content: bytes) -> object:
        return serializer.deserialize(io.BytesIO(content))

    for table in tables.values():
        for namespace, key in list(table.places()):
            if isinstance(namespace, bytes):
                table.put(window(namespace), key, table.get(namespace, key))
                table.remove(namespace, key)
    merged = tables.get(merging)
    if merged is not None and merged.kind == MAP:
        _replace(merged, lambda found: {window(a): window(b) for a, b in found.items()})
        merged.kind = "map"
    for timer in list(timers.all()):
        queue, time, key, namespace = timer
        if isinstance(namespace, bytes):
            timers.apply(timer, False)
            timers.apply((queue, time, key, window(namespace)), True)
