"""What a checkpoint or savepoint holds, for people and programs that read it as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Metadata,
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.safe_pickles import load_safely
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorPart, SlotState
from pyflink_on_spark._runtime.checkpoints.state_file import Content, read_in_turn
from pyflink_on_spark._runtime.immutability import deserialize
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, Piece, StateMeta

TIMERS = "timers"
_UNSTAMPED: dict[str, Callable[[Any], Any]] = {
    "list": lambda entry: [value for _, value in entry],
    "map": lambda entry: {key: value for key, (_, value) in entry.items()},
}


@dataclass(frozen=True)
class StateEntry:
    """One entry of a state.

    Args:
        key: the key; None for a state without keys.
        namespace: the window, for a state of a window; None for others.
        value: the value of a ValueState, a list, a dict, or what a ReducingState or an
            AggregatingState has accumulated.
    """

    key: Any
    namespace: Any
    value: Any


@dataclass(frozen=True)
class StateSummary:
    """One state of an operator.

    Args:
        name: as in its descriptor.
        kind: ``value``, ``list``, ``map``, ..., ``timers``; of a state without keys ``split``,
            ``union`` or ``broadcast``.
        entries: how many entries there are.
        expires: whether it has a time to live.
    """

    name: str
    kind: str
    entries: int
    expires: bool = False


@dataclass(frozen=True)
class OperatorSummary:
    """The state of an operator.

    Args:
        id: by which a job finds the state: the operator's uid, or what stands for it.
        subtasks: how many subtasks have written it.
        max_parallelism: how many key groups there are.
        key_groups: how many of them have state.
        size: in bytes.
        states: its states.
    """

    id: str
    subtasks: int
    max_parallelism: int
    key_groups: int
    size: int
    states: tuple[StateSummary, ...]


@dataclass(frozen=True)
class SourceSummary:
    """The positions of a source.

    Args:
        id: by which a job finds them.
        positions: one for each split that is not read to its end.
    """

    id: str
    positions: tuple[Any, ...]


class CheckpointContents:
    """A checkpoint or savepoint as data.

    Args:
        path: its folder, or its ``_metadata``.
        configuration: says how file systems are reached.
        trusted: whether to load classes of the job, which runs their code. Objects of other classes
            than Python's and PyFlink's are ``Opaque`` otherwise.

    Raises:
        CheckpointError: it is not there, or damaged.
    """

    def __init__(
        self,
        path: str,
        configuration: Mapping[str, str] | None = None,
        *,
        trusted: bool = False,
    ) -> None:
        place = find_checkpoint(path, configuration)
        self.path = place.shown
        self.metadata: Metadata = read_metadata(place)
        self._whole: SlotState = read_states(place, self.metadata)
        self._load: Callable[[bytes], Any] = deserialize if trusted else load_safely

    def operators(self) -> list[OperatorSummary]:
        """Return what there is of each operator that has state."""
        found = self._whole.operators.items()
        return [self._summary(name, parts) for name, parts in found if any(parts.values())]

    def sources(self) -> list[SourceSummary]:
        """Return how far each source has read."""
        return [
            SourceSummary(
                name,
                tuple(
                    position
                    for index in sorted(positions)
                    for position in self._load(_bytes(positions[index]))
                ),
            )
            for name, positions in self._whole.sources.items()
        ]

    def entries(self, operator: str, state: str) -> Iterator[StateEntry]:
        """Iterate over the entries of a state, one key group after the other.

        Args:
            operator: the operator's id, or an unambiguous part of it.
            state: the state's name; ``timers`` for the timers, whose values are queue and time.

        Raises:
            CheckpointError: there is no such operator or state.
        """
        parts = self._parts(operator)
        known = False
        for part in parts.values():
            for tables, metas, timers in self._groups(part):
                known = known or state in metas
                yield from _entries(tables, metas.get(state), state)
                if state == TIMERS:
                    known = True
                    yield from (StateEntry(k, n, (queue, time)) for queue, time, k, n in timers)
            for _, name, values in _without_keys(self._load(_bytes(part.operator))):
                if name == state:
                    known = True
                    yield from (StateEntry(None, None, value) for value in values)
        if not known and state != TIMERS:
            names = ", ".join(s.name for s in self._summary(operator, parts).states)
            raise CheckpointError(
                f"the operator {operator!r} has no state {state!r}, only: {names}"
            )

    def _parts(self, operator: str) -> dict[int, OperatorPart]:
        operators = self._whole.operators
        if operator in operators:
            return operators[operator]
        found = [
            name for name, parts in operators.items() if operator in name and any(parts.values())
        ]
        if len(found) == 1:
            return operators[found[0]]
        known = ", ".join(found or [summary.id for summary in self.operators()])
        what = "more than one operator" if found else "no operator with state"
        raise CheckpointError(f"{operator!r} is {what} of {self.path}: {known}")

    def _summary(self, name: str, parts: Mapping[int, OperatorPart]) -> OperatorSummary:
        counts: Counter[tuple[str, str, bool]] = Counter()
        groups: set[int] = set()
        for part in parts.values():
            groups.update(part.keyed)
            for tables, metas, timers in self._groups(part):
                for state, meta in metas.items():
                    spaces = tables.get(state, {}).values()
                    counts[state, meta.kind, bool(meta.stamped)] += sum(map(len, spaces))
                if timers:
                    counts[TIMERS, TIMERS, False] += len(timers)
            for kind, state, values in _without_keys(self._load(_bytes(part.operator))):
                counts[state, kind, False] += len(values)
        states = (StateSummary(s, kind, n, stamped) for (s, kind, stamped), n in counts.items())
        return OperatorSummary(
            name,
            len(parts),
            next(iter(parts.values())).max_parallelism,
            len(groups),
            sum(part.size for part in parts.values()),
            tuple(states),
        )

    def _groups(self, part: OperatorPart) -> Iterator[_Group]:
        """Yield the tables, the states and the timers of each key group, its changes applied."""
        for group in sorted(part.keyed):
            pieces = read_in_turn((None, content) for content in part.keyed[group])
            yield _united(self._load(content) for _, content in pieces)


_Group = tuple[
    dict[str, dict[Hashable, dict[Any, Any]]],
    dict[str, StateMeta],
    list[tuple[str, int, Any, Hashable]],
]


def _united(pieces: Iterator[Piece]) -> _Group:
    tables: dict[str, dict[Hashable, dict[Any, Any]]] = {}
    metas: dict[str, StateMeta] = {}
    timers: dict[tuple[str, int, Any, Hashable], None] = {}
    for piece in pieces:
        metas |= piece.states
        for name, namespace, key, value in piece.entries:
            table = tables.setdefault(name, {}).setdefault(namespace, {})
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        if isinstance(piece, KeyGroupState):
            timers |= dict.fromkeys(piece.timers)
            continue
        for timer, present in piece.timers:
            if present:
                timers[timer] = None
            else:
                timers.pop(timer, None)
    return tables, metas, list(timers)


def _entries(tables: Any, meta: StateMeta | None, state: str) -> Iterator[StateEntry]:
    if meta is None:
        return
    plain = _UNSTAMPED.get(meta.kind, lambda entry: entry[1]) if meta.stamped else None
    for namespace, table in tables.get(state, {}).items():
        for key, value in table.items():
            yield StateEntry(key, namespace, value if plain is None else plain(value))


def _without_keys(snapshot: OperatorSnapshot) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield kind, name and values of the states without keys."""
    for kind, lists in (("split", snapshot.split), ("union", snapshot.union)):
        for name, values in lists.items():
            yield kind, name, list(values)
    for name, entries in snapshot.broadcast.items():
        yield "broadcast", name, list(entries.items())


def _bytes(content: Content) -> bytes:
    return content if isinstance(content, bytes) else content.read()
