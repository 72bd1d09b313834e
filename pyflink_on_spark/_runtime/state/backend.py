"""The keyed state of one operator in one subtask, and how its keys are sorted."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from functools import cached_property
from itertools import chain, islice
from typing import Any, TypeVar

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._options.own import CHANGED_STATE, DROP, REFUSE, TAKE
from pyflink_on_spark._runtime.elements.time import Clock
from pyflink_on_spark._runtime.key_groups import KeyGroups
from pyflink_on_spark._runtime.state.disk import DiskStore
from pyflink_on_spark._runtime.state.expiring_states import (
    Expiring,
    ExpiringAggregatingState,
    ExpiringListState,
    ExpiringMapState,
    ExpiringReducingState,
    ExpiringValueState,
)
from pyflink_on_spark._runtime.state.keyed_state import (
    AggregatingState,
    KeyedRows,
    KeyedState,
    ListState,
    NoKeyYetError,
    ReducingState,
    StateTable,
    ValueState,
)
from pyflink_on_spark._runtime.state.map_state import MapState
from pyflink_on_spark._runtime.state.moved_in import interpret, is_moved_in, read_windows
from pyflink_on_spark._runtime.state.snapshot import (
    Entry,
    KeyGroupState,
    Piece,
    StateChunks,
    StateDelta,
    StateMeta,
    Timer,
)
from pyflink_on_spark._runtime.state.time_to_live import TimeToLive
from pyflink_on_spark._runtime.state.timers import Timers

S = TypeVar("S", bound=KeyedState)
_FLINKS: dict[str, type[KeyedState]] = {
    state.kind: state
    for state in (ValueState, ListState, MapState, ReducingState, AggregatingState)
}
_EXPIRING: dict[str, object] = {
    "value": ExpiringValueState,
    "list": ExpiringListState,
    "map": ExpiringMapState,
    "reducing": ExpiringReducingState,
    "aggregating": ExpiringAggregatingState,
}
_PIECE = 20_000
_AT_ONCE = 10_000


class NoKey:
    """Fails when it is looked up, so that no access has to ask whether there is a key."""

    __slots__ = ()
    error: type[RuntimeError] = RuntimeError

    def __hash__(self) -> int:
        raise self.error(
            "No key set: keyed state belongs to the key of an element or of a timer. There is no "
            "key in open(), nor for an element of a broadcast stream."
        )

    def __repr__(self) -> str:
        return "<no key>"


class _NoKeyYet(NoKey):
    """Stands for the key in ``open()``."""

    __slots__ = ()
    error = NoKeyYetError


NO_KEY = NoKey()
NO_KEY_YET = _NoKeyYet()


class KeyedStateBackend:
    """Holds the states and the timers of all keys.

    ``key`` is the current key, as the engine holds it; who processes elements sets it. Values are
    kept by reference, on disk until their turn to be written comes. An object in a state that is
    changed without ``update``, ``put`` or the like is not noted as changed.

    Args:
        clock: processing time.
        max_parallelism: the number of key groups.
        key_type: the declared type of the keys, or None.
        track_changes: whether checkpoints of changes will be asked for.
        converted: whether values are kept as their declared type makes them.
        disk: where the entries are, if not in memory. Timers are in memory always.
        changed: what happens to restored entries of another kind or type, as the option says.
    """

    def __init__(
        self,
        clock: Clock,
        max_parallelism: int = 128,
        key_type: object = None,
        track_changes: bool = False,
        converted: bool = False,
        disk: DiskStore | None = None,
        changed: str = REFUSE,
    ) -> None:
        self.key: object = NO_KEY_YET
        self._changed_state = changed
        self._restored: dict[str, StateMeta] = {}
        self.converted = converted
        self._disk = disk
        self._clock = clock
        self._max_parallelism, self._key_type = max_parallelism, key_type
        self._track = track_changes
        self._tables: dict[str, StateTable] = {}
        self._states: dict[str, Any] = {}
        self._types: dict[str, str] = {}
        self.checked_per_record: list[Expiring] = []
        """The states that look for expired entries whenever a record comes."""

    @cached_property
    def timers(self) -> Timers:
        """The timers of the keys; made for an operator that asks for them."""
        return Timers(self._clock, self._track)

    @cached_property
    def _key_groups(self) -> KeyGroups:
        return KeyGroups(self._max_parallelism, self._key_type)

    def value_state(self, descriptor: object) -> ValueState:
        """Return the state that a ValueStateDescriptor describes."""
        return self._state(descriptor, ValueState)

    def list_state(self, descriptor: object) -> ListState:
        """Return the state that a ListStateDescriptor describes."""
        return self.state(descriptor, ListState)

    def map_state(self, descriptor: object) -> MapState:
        """Return the state that a MapStateDescriptor describes."""
        return self.state(descriptor, MapState)

    def reducing_state(self, descriptor: object) -> ReducingState:
        """Return the state that a ReducingStateDescriptor describes."""
        return self.state(descriptor, ReducingState)

    def aggregating_state(self, descriptor: object) -> AggregatingState:
        """Return the state that an AggregatingStateDescriptor describes."""
        return self.state(descriptor, AggregatingState)

    def state(self, descriptor: Any, state: type[S]) -> S:
        """Return a state of some kind.

        Args:
            descriptor: of the state.
            state: the class of the kind.

        Raises:
            TypeError: the descriptor describes another kind of state.
        """
        if getattr(descriptor, "_kind", state.kind) != state.kind:
            raise TypeError(f"{descriptor!r} does not describe a {state.kind} state")
        return self._state(descriptor, state)

    def described(self, descriptor: object) -> KeyedState:
        """Return the state of whatever kind that a descriptor describes.

        A descriptor of a kind that Flink's Python API does not have names the class of the kind.

        Raises:
            TypeError: it is not a descriptor.
        """
        state: type[KeyedState] | None = getattr(descriptor, "_state_class", None)
        if state is None:
            state = _FLINKS.get(getattr(descriptor, "_kind", ""))
        if state is None:
            raise TypeError(f"{descriptor!r} is no state descriptor")
        return self._state(descriptor, state)

    def table(self, name: str, kind: str) -> StateTable:
        """Return the table of a state, for an operator that keeps its own state.

        Raises:
            RuntimeError: the name belongs to a state of another kind.
        """
        table = self._tables.get(name)
        if table is None:
            disk = self._disk
            table = StateTable(kind, self._track) if disk is None else disk.table(kind, self._track)
            self._tables[name] = table
        elif table.kind != kind:
            raise RuntimeError(f"The state name '{name}' is already in use and not a {kind} state.")
        return table

    def typed_table(self, name: str, kind: str, type_info: object) -> StateTable:
        """Return the same, of values of a declared type, which PyFlink may have written.

        Raises:
            CheckpointError: PyFlink has written something else.
            RuntimeError: the name belongs to a state of another kind.
        """
        self._interpret(name, kind, type_info)
        return self.table(name, kind)

    def read_windows(self, serializer: object, merging: str) -> None:
        """Make windows of what PyFlink has written of them.

        Args:
            serializer: reads windows.
            merging: the name of the state of merged windows.
        """
        read_windows(self._tables, self.timers, serializer, merging)

    def rows(self, name: str, time_to_live: int = 0, kind: str = "value") -> KeyedRows:
        """Return the rows of an operator, which marks their changes and forgets old ones.

        Args:
            name: of the state.
            time_to_live: how long an entry is kept after its last change (ms); 0 for always.
            kind: what has an age of its own: ``value``, the entry; ``list``, each of its elements;
                ``map``, each of its values.
        """
        table = self.table(name, kind)
        table.set_stamped(bool(time_to_live), self._clock.now())
        return KeyedRows(table, TimeToLive(time_to_live, self._clock) if time_to_live else None)

    def observed(self, pairs: Iterator[object]) -> Iterator[Any]:
        """Return pairs of key and value as they are; states that want so do a little for each."""
        return self._checking(pairs) if self.checked_per_record else pairs

    def sizes(self) -> dict[str, int]:
        """Return how many entries each state has in memory."""
        return {name: table.size() for name, table in self._tables.items()}

    def drop_key(self, key: object) -> None:
        """Forget all state of a key."""
        for table in self._tables.values():
            table.drop_key(key)

    def snapshot(self) -> dict[int, KeyGroupState]:
        """Return everything, by key group; values by reference."""
        self._purge()
        sorter = KeyGroupPartitioner(self._meta(), self._key_groups)
        for name, table in self._tables.items():
            for namespace, entries in table.all_entries():
                sorter.add(name, namespace, entries)
        sorter.add_timers(self.timers.all())
        return sorter.take()

    def pieces(self) -> StateChunks:
        """Return everything, in pieces that are not all there at once if they are on disk."""
        return StateChunks(self._whole, self._size(), files=self._disk)

    def base_pieces(self) -> StateChunks:
        """Return everything; changes are counted from now on.

        The marks of changes go before a copy of this process is made: each key that is released
        afterwards would be a write to memory that the copy shares.
        """
        self._forget_changes()
        return self.pieces()

    def change_pieces(self) -> StateChunks:
        """Return the changes in chunks; once those are taken, tracking restarts."""
        return StateChunks(
            lambda: iter(changes_by_group(self._changes(), self._key_groups).items()),
            self._change_count(),
            self._forget_changes,
            self._disk,
        )

    def restore(self, groups: Iterable[Piece]) -> None:
        """Take over key groups and changes; nothing of this counts as a change."""
        for group in groups:
            if isinstance(group, StateDelta):
                self._apply(group)
                continue
            self._meet(group.states)
            for name, namespaces in group.tables.items():
                table = self._tables[name]
                for namespace, entries in namespaces.items():
                    table.put_all(namespace, entries)
            for timer in group.timers:
                self.timers.apply(timer, True)

    def _apply(self, changes: StateDelta) -> None:
        self._meet(changes.states)
        tables = self._tables
        for name, namespace, key, value in changes.entries:
            if value is None:
                tables[name].remove(namespace, key)
            else:
                tables[name].put(namespace, key, value)
        for timer, present in changes.timers:
            self.timers.apply(timer, present)

    def release(self) -> None:
        """Free the entries in memory, after which the state is of no use."""
        if self._disk is None:
            for table in self._tables.values():
                for entries in table.namespaces.values():
                    entries.clear()

    def close(self) -> None:
        """Release the files on disk."""
        if self._disk is not None:
            self._disk.close()

    def _changes(self) -> StateDelta:
        if not self._track:
            raise RuntimeError("changes of this keyed state are not tracked")
        entries: list[Entry] = []
        for name, table in self._tables.items():
            entries += [(name, *change) for change in table.changes()]
        return StateDelta(self._meta(), entries, self.timers.changes())

    def _size(self) -> int:
        return sum(table.count() for table in self._tables.values())

    def _change_count(self) -> int:
        return sum(table.change_count() for table in self._tables.values())

    def _forget_changes(self) -> None:
        for table in self._tables.values():
            table.forget_changes()
        self.timers.forget_changes()

    def _whole(self) -> Iterator[tuple[int, Piece]]:
        if self._disk is None:
            yield from self.snapshot().items()
            return
        self._purge()
        sorter = KeyGroupPartitioner(self._meta(), self._key_groups)
        for name, table in self._tables.items():
            for namespace, entries in table.all_entries():
                sorter.add(name, namespace, entries)
                if sorter.count >= _PIECE:
                    yield from sorter.take().items()
        sorter.add_timers(self.timers.all())
        yield from sorter.take().items()

    def _purge(self) -> None:
        for state in self._states.values():
            if isinstance(state, Expiring) and state.time_to_live.purged_by_snapshots:
                state.sweep.all()

    def _meet(self, states: dict[str, StateMeta]) -> None:
        for name, meta in states.items():
            self.table(name, meta.kind).stamped = meta.stamped
            known = self._restored.get(name, meta)
            same = meta.type if known.type == meta.type else None
            self._restored[name] = StateMeta(meta.kind, meta.stamped, same)

    def _meta(self) -> dict[str, StateMeta]:
        return {
            name: StateMeta(table.kind, table.stamped, self._type_of(name))
            for name, table in self._tables.items()
        }

    def _type_of(self, name: str) -> str | None:
        """Return the declared type of a state, or the one that it had in the checkpoint."""
        if name in self._types:
            return type_text(self._types[name])
        restored = self._restored.get(name)
        return None if restored is None else restored.type

    def _state(self, descriptor: Any, state: type[S]) -> S:
        name = descriptor.get_name()
        type_info = getattr(descriptor, "type_info", None)
        type_name = str(type_info)
        self._interpret(name, state.kind, type_info)
        if name in self._restored and name not in self._types:
            self._take_over(name, state.kind, type_text(type_name))
        table = self.table(name, state.kind)
        if self._types.setdefault(name, type_name) != type_name:
            raise RuntimeError(f"State name corrupted: {name}")
        if name not in self._states:
            self._states[name] = self._new_state(descriptor, state, table)
        return self._states[name]  # type: ignore[no-any-return]

    def _interpret(self, name: str, kind: str, type_info: object) -> None:
        table = self._tables.get(name)
        if table is not None and is_moved_in(table):
            interpret(table, name, kind, type_info)
            self._restored[name] = StateMeta(kind, table.stamped)

    def _take_over(self, name: str, kind: str, declared: str | None) -> None:
        """Check that restored entries are of the kind and type of the state that asks for them.

        Raises:
            CheckpointError: they are not, and the job wants to know.
        """
        restored = self._restored[name]
        same_type = declared is None or restored.type is None or restored.type == declared
        if same_type and restored.kind == kind:
            return
        if self._changed_state == TAKE and restored.kind == kind:
            return
        if self._changed_state != DROP:
            raise CheckpointError(
                f"the checkpoint has {_described(name, restored.kind, restored.type)}, and this "
                f"job declares {_described(name, kind, declared)}. Give the new state another "
                "name, or write its entries into a savepoint (pyflink_on_spark.state). "
                f"{CHANGED_STATE.key}={DROP} lets the state start empty, and {TAKE} lets it "
                "continue with values of another type."
            )
        table = self._tables.pop(name)
        for namespace, entries in list(table.all_entries()):
            for key in list(entries):
                table.remove(namespace, key)

    def _new_state(self, descriptor: Any, state: type[KeyedState], table: StateTable) -> object:
        config = getattr(descriptor, "_ttl_config", None)
        expires = config is not None and config.is_enabled()
        table.set_stamped(expires, self._clock.now() if expires else 0)
        made: Any = _EXPIRING[state.kind] if expires else state
        made = made(self, table, *state.arguments(descriptor))
        made.declare(descriptor.get_name(), getattr(descriptor, "type_info", None), self.converted)
        if expires:
            made.expire(TimeToLive.configured(config, self._clock), table)
            if made.time_to_live.checked_per_record:
                self.checked_per_record.append(made)
        return made

    def _checking(self, pairs: Iterator[object]) -> Iterator[object]:
        for pair in pairs:
            self.check_record()
            yield pair

    def check_record(self) -> None:
        """Let the states that want so look for expired entries."""
        for state in self.checked_per_record:
            state.sweep.some(state.time_to_live.checked_per_record)


def type_text(name: str) -> str | None:
    """Return the text of a type if it is the same in each process, else None."""
    return None if name == "None" or " at 0x" in name else name


def _described(name: str, kind: str, declared: str | None) -> str:
    return f"the {kind} state {name!r}" + ("" if declared is None else f" of type {declared}")


class KeyGroupPartitioner:
    """Collects entries and timers, and has them by key group.

    Args:
        states: what has to be known of all states.
        key_groups: the key groups of keys.
    """

    def __init__(self, states: dict[str, StateMeta], key_groups: KeyGroups) -> None:
        self.count = 0
        self._states, self._key_groups = states, key_groups
        self._groups: dict[int, KeyGroupState] = {}
        self._unsorted: list[tuple[str, Hashable, dict[object, object]]] = []
        self._unsorted_count = 0

    def add(self, name: str, namespace: Hashable, entries: dict[object, object]) -> None:
        """Take in entries of a state, which must not change before they are taken."""
        self.count += len(entries)
        self._unsorted.append((name, namespace, entries))
        self._unsorted_count += len(entries)
        if self._unsorted_count >= _AT_ONCE:
            self._sort()

    def add_timers(self, timers: Iterable[Timer]) -> None:
        """Take in timers."""
        timers = list(timers)
        of_timers = self._key_groups.of_all([timer[2] for timer in timers])
        for group, timer in zip(of_timers, timers, strict=True):
            self._group(group).timers.append(timer)

    def take(self) -> dict[int, KeyGroupState]:
        """Return the groups sorted so far, once."""
        self._sort()
        groups, self._groups, self.count = self._groups, {}, 0
        return groups

    def _sort(self) -> None:
        unsorted, self._unsorted, self._unsorted_count = self._unsorted, [], 0
        keys = chain.from_iterable(entries for _, _, entries in unsorted)
        groups = iter(self._key_groups.of_all(keys))
        for name, namespace, entries in unsorted:
            of_keys = islice(groups, len(entries))
            for group, found in _by_group(of_keys, entries).items():
                known = self._group(group).tables.setdefault(name, {})
                if namespace in known:
                    known[namespace].update(found)
                else:
                    known[namespace] = found

    def _group(self, group: int) -> KeyGroupState:
        found = self._groups.get(group)
        if found is None:
            found = self._groups[group] = KeyGroupState(self._states)
        return found


def _by_group(
    of_keys: Iterable[int], entries: dict[object, object]
) -> dict[int, dict[object, object]]:
    groups: dict[int, dict[object, object]] = {}
    find = groups.get
    for group, (key, value) in zip(of_keys, entries.items(), strict=True):
        found = find(group)
        if found is None:
            found = groups[group] = {}
        found[key] = value
    return groups


def changes_by_group(changes: StateDelta, key_groups: KeyGroups) -> dict[int, StateDelta]:
    """Return changes by key group."""
    groups: dict[int, StateDelta] = {}

    def of(group: int) -> StateDelta:
        found = groups.get(group)
        if found is None:
            found = groups[group] = StateDelta(changes.states, [], [])
        return found

    of_entries = key_groups.of_all([entry[2] for entry in changes.entries])
    for group, entry in zip(of_entries, changes.entries, strict=True):
        of(group).entries.append(entry)
    of_timers = key_groups.of_all([change[0][2] for change in changes.timers])
    for group, change in zip(of_timers, changes.timers, strict=True):
        of(group).timers.append(change)
    return groups
