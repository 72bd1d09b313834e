"""The headers of states, before their entries: names, kinds and serializers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyflink_on_spark._runtime.moved_in.coders import DataInput
from pyflink_on_spark.flink_state.serializers import Serializer, read_proxied_snapshot

TIMERS = "timers"
_KEYED_VERSION = 6
_LIST_VERSIONS = (5, 6)
_TYPES = ("keyed", "split", "broadcast", TIMERS)


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
