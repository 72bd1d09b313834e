"""What a checkpoint or savepoint holds, for people and programs that read it as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Metadata,
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.key_group_contents import KeyGroupContents, reader_of
from pyflink_on_spark._runtime.checkpoints.safe_pickles import Opaque, load_safely
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorPart, SlotState
from pyflink_on_spark._runtime.checkpoints.state_file import Content, read_in_turn
from pyflink_on_spark._runtime.elements.immutability import deserialize
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot

TIMERS = "timers"


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
        key_types: the names of the classes of the keys.
        value_types: the names of the classes of the values.
        type: the declared type, as far as it is known.
    """

    name: str
    kind: str
    entries: int
    expires: bool = False
    key_types: tuple[str, ...] = ()
    value_types: tuple[str, ...] = ()
    type: str | None = None


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
        meaning: what its state means, as far as the checkpoint says it.
    """

    id: str
    subtasks: int
    max_parallelism: int
    key_groups: int
    size: int
    states: tuple[StateSummary, ...]
    meaning: Mapping[str, Any] | None = None


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

    Example:
        >>> folder = tempfile.mkdtemp()
        >>> state = ValueStateDescriptor("count", Types.LONG())
        >>> path = SavepointWriter().put("counter", state, [("a", 1), ("b", 2)]).write(folder)
        >>> contents = CheckpointContents(path)
        >>> sorted((entry.key, entry.value) for entry in contents.entries("counter", "count"))
        [('a', 1), ('b', 2)]
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
        self.whole: SlotState = read_states(place, self.metadata)
        """The state of all slots."""
        self.load: Callable[[bytes], Any] = deserialize if trusted else load_safely
        """Makes objects of bytes."""
        self.place = place

    def operators(self) -> list[OperatorSummary]:
        """Return what there is of each operator that has state."""
        found = self.whole.operators.items()
        with self._checked():
            return [self._summary(name, parts) for name, parts in found if any(parts.values())]

    def operator(self, operator: str) -> OperatorSummary:
        """Return what there is of an operator.

        Args:
            operator: the operator's id, or an unambiguous part of it.

        Raises:
            CheckpointError: there is no such operator.
        """
        name = self.operator_id(operator)
        with self._checked():
            return self._summary(name, self.whole.operators[name])

    def sources(self) -> list[SourceSummary]:
        """Return how far each source has read."""
        with self._checked():
            return [
                SourceSummary(
                    name,
                    tuple(
                        position
                        for index in sorted(positions)
                        for position in self.load(content_bytes(positions[index]))
                    ),
                )
                for name, positions in self.whole.sources.items()
            ]

    def entries(self, operator: str, state: str) -> Iterator[StateEntry]:
        """Iterate over the entries of a state, one key group after the other.

        Args:
            operator: the operator's id, or an unambiguous part of it.
            state: the state's name; ``timers`` for the timers, whose values are queue and time.

        Raises:
            CheckpointError: there is no such operator or state.
        """
        parts = self.whole.operators[self.operator_id(operator)]
        known = False
        for part in parts.values():
            for contents in self._groups(part):
                with self._checked():
                    known = known or state in contents.states
                    found = list(_entries(contents, state))
                yield from found
            with self._checked():
                unkeyed = list(without_keys(self.load(content_bytes(part.operator))))
            for _, name, values in unkeyed:
                if name == state:
                    known = True
                    yield from (StateEntry(None, None, value) for value in values)
        if not known and state != TIMERS:
            names = ", ".join(found.name for found in self.operator(operator).states)
            raise CheckpointError(
                f"the operator {operator!r} has no state {state!r}, only: {names}"
            )

    def placed_keys(self, part: OperatorPart) -> Iterator[tuple[int, Any]]:
        """Yield the keys of an operator in a subtask, as the engine has them, with their groups."""
        for group in sorted(part.keyed):
            contents = key_group_contents(part.keyed[group], self.load)
            for namespaces in contents.tables.values():
                for entries in namespaces.values():
                    yield from ((group, key) for key in entries)

    def operator_id(self, part: str) -> str:
        """Return the id of the operator that a part of the id names.

        Raises:
            CheckpointError: there is none with state, or more than one.
        """
        operators = self.whole.operators
        if part in operators:
            return part
        found = [name for name, parts in operators.items() if part in name and any(parts.values())]
        if len(found) == 1:
            return found[0]
        known = ", ".join(found or [summary.id for summary in self.operators()])
        what = "more than one operator" if found else "no operator with state"
        raise CheckpointError(f"{part!r} is {what} of {self.path}: {known}")

    def _summary(self, name: str, parts: Mapping[int, OperatorPart]) -> OperatorSummary:
        found = _Counts()
        meaning = self.metadata.state_meanings.get(name)
        groups: set[int] = set()
        for part in parts.values():
            groups.update(part.keyed)
            for contents in self._groups(part):
                found.keyed(contents)
            for kind, state, values in without_keys(self.load(content_bytes(part.operator))):
                found.unkeyed(kind, state, values)
        return OperatorSummary(
            name,
            len(parts),
            next(iter(parts.values())).max_parallelism,
            len(groups),
            sum(part.size for part in parts.values()),
            found.summaries(),
            None if meaning is None else meaning.content,
        )

    def _groups(self, part: OperatorPart) -> Iterator[KeyGroupContents]:
        """Yield the contents of each key group."""
        for group in sorted(part.keyed):
            with self._checked():
                contents = key_group_contents(part.keyed[group], self.load)
            yield contents

    @contextmanager
    def _checked(self) -> Iterator[None]:
        """Raise a CheckpointError for contents that are not those of a checkpoint."""
        try:
            yield
        except CheckpointError:
            raise
        except (Exception, RecursionError) as error:
            raise CheckpointError(f"{self.path} is damaged: {error!r}") from error


class _Counts:
    """How many entries states have, and of which types keys and values are."""

    def __init__(self) -> None:
        self._entries: Counter[tuple[str, str, bool]] = Counter()
        self._types: dict[str, tuple[set[type], set[type]]] = {}
        self._declared: dict[str, str | None] = {}

    def keyed(self, contents: KeyGroupContents) -> None:
        """Take note of a key group."""
        for state, meta in contents.states.items():
            plain = reader_of(meta)
            self._declared[state] = meta.type
            counted = state, meta.kind, bool(meta.stamped)
            self._entries[counted] += 0
            keys, values = self._types.setdefault(state, (set(), set()))
            for entries in contents.tables.get(state, {}).values():
                self._entries[counted] += len(entries)
                keys.update(map(type, map(unwrap_key, entries)))
                values.update(map(type, map(plain, entries.values())))
        if contents.timers:
            self._entries[TIMERS, TIMERS, False] += len(contents.timers)

    def unkeyed(self, kind: str, state: str, values: list[Any]) -> None:
        """Take note of a state without keys."""
        self._entries[state, kind, False] += len(values)
        self._types.setdefault(state, (set(), set()))[1].update(map(type, values))

    def summaries(self) -> tuple[StateSummary, ...]:
        """Return what was found."""
        found = []
        for (state, kind, expires), count in self._entries.items():
            keys, values = self._types.get(state, (set(), set()))
            declared = self._declared.get(state)
            found.append(
                StateSummary(state, kind, count, expires, _names(keys), _names(values), declared)
            )
        return tuple(found)


def _names(types: Iterable[type]) -> tuple[str, ...]:
    return tuple(sorted(map(_name, types)))


def _name(kind: type) -> str:
    if issubclass(kind, Opaque):
        return kind.of
    in_module = "" if kind.__module__ == "builtins" else f"{kind.__module__}."
    return f"{in_module}{kind.__qualname__}"


def key_group_contents(pieces: Iterable[Content], load: Callable[[bytes], Any]) -> KeyGroupContents:
    """Return a key group of a checkpoint.

    Args:
        pieces: what there is of it, the older first.
        load: makes objects of bytes.
    """
    in_turn = read_in_turn((None, content) for content in pieces)
    return KeyGroupContents.of(load(content) for _, content in in_turn)


def _entries(contents: KeyGroupContents, state: str) -> Iterator[StateEntry]:
    if state == TIMERS:
        for queue, time, key, namespace in contents.timers:
            yield StateEntry(unwrap_key(key), namespace, (queue, time))
    meta = contents.states.get(state)
    if meta is None:
        return
    plain = reader_of(meta)
    for namespace, table in contents.tables.get(state, {}).items():
        for key, entry in table.items():
            yield StateEntry(unwrap_key(key), namespace, plain(entry))


def without_keys(snapshot: OperatorSnapshot) -> Iterator[tuple[str, str, list[Any]]]:
    """Yield kind, name and values of the states without keys."""
    for kind, lists in (("split", snapshot.split), ("union", snapshot.union)):
        for name, values in lists.items():
            yield kind, name, list(values)
    for name, entries in snapshot.broadcast.items():
        yield "broadcast", name, list(entries.items())


def content_bytes(content: Content) -> bytes:
    """Return what is in a record."""
    return content if isinstance(content, bytes) else content.read()
