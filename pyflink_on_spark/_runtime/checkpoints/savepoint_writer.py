"""Writes a savepoint from data: a new one, or another one with changes."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    METADATA,
    Copied,
    complete,
    find_checkpoint,
    read_committables,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    Committables,
    Folder,
    StateFile,
    StateFileWriter,
    state_file,
    store_frames,
)
from pyflink_on_spark._runtime.checkpoints.contents import (
    TIMERS,
    CheckpointContents,
    KeyGroupContents,
    Opaque,
    StateEntry,
    content_bytes,
    key_group_contents,
    reader_of,
    rewritten,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorPart, SlotState
from pyflink_on_spark._runtime.checkpoints.state_file import (
    KEYED,
    OPERATOR,
    SOURCE,
    RecordHead,
    read_in_turn,
)
from pyflink_on_spark._runtime.contract.state_meaning import Meanings
from pyflink_on_spark._runtime.elements.immutability import (
    deserialize,
    serialize,
    unwrap_key,
    wrap_key,
)
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, StateMeta
from pyflink_on_spark._runtime.types.converters import key_converter

if TYPE_CHECKING:
    from pyflink_on_spark.common.typeinfo import TypeInformation


_CHUNK = 1024 * 1024
EVENT, PROCESSING = "event", "processing"


def entries_by_key_group(
    descriptor: object,
    entries: Iterable[tuple[object, Hashable, object]],
    max_parallelism: int,
    key_type: TypeInformation | None,
) -> dict[int, KeyGroupState]:
    """Return the entries of a state as a checkpoint has them.

    Args:
        descriptor: of the state.
        entries: key, namespace and value of each. The value of a list state is an iterable, of a
            map state a dict, of an aggregating state the accumulator.
        max_parallelism: the number of key groups.
        key_type: the declared type of the keys, or None.

    Raises:
        ConversionError: a key or a value does not have its declared type.
        TypeError: a value is not what the kind of state takes.
    """
    backend = _backend(max_parallelism, key_type)
    state = backend.described(descriptor)
    as_key = _keys(key_type)
    for key, namespace, value in entries:
        try:
            backend.key = as_key(key)
            state.set_current_namespace(namespace)
            state.put_whole(value)
        except (TypeError, ValueError) as error:
            error.add_note(f"It is the entry of the key {key!r}.")
            raise
    return backend.snapshot()


def timers_by_key_group(
    timers: Iterable[tuple[object, int]],
    queue: str,
    max_parallelism: int,
    key_type: TypeInformation | None,
) -> dict[int, KeyGroupState]:
    """Return timers as a checkpoint has them.

    Args:
        timers: key and time (ms) of each.
        queue: ``EVENT`` or ``PROCESSING``.
        max_parallelism: the number of key groups.
        key_type: the declared type of the keys, or None.
    """
    backend = _backend(max_parallelism, key_type)
    as_key = _keys(key_type)
    for key, time in timers:
        backend.timers.apply((queue, time, as_key(key), None), True)
    return backend.snapshot()


def _backend(max_parallelism: int, key_type: TypeInformation | None) -> KeyedStateBackend:
    return KeyedStateBackend(SystemClock(), max_parallelism, key_type, converted=True)


def _keys(key_type: TypeInformation | None) -> Callable[[object], object]:
    convert = key_converter(key_type)
    return wrap_key if convert is None else lambda key: wrap_key(convert(key))


Change = Callable[[StateEntry], Any]
"""Takes an entry, returns its new value; None removes the entry."""


class Edit:
    """A change to the state of an operator."""

    key_groups: Collection[int] = ()
    """The key groups that have state after the change, whatever they had before."""

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Change a key group."""

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Change the state without keys of one subtask of several."""


@dataclass(frozen=True)
class DropState(Edit):
    """Removes a state.

    Args:
        state: its name.
    """

    state: str

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Remove the state from a key group."""
        if self.state == TIMERS:
            contents.timers.clear()
        contents.states.pop(self.state, None)
        contents.tables.pop(self.state, None)

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Remove the state from a subtask."""
        for states in _kinds(snapshot):
            states.pop(self.state, None)


@dataclass(frozen=True)
class RenameState(Edit):
    """Gives a state another name.

    Args:
        state: the name before.
        name: the name after.
    """

    state: str
    name: str

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Rename the state in a key group."""
        for by_name in (contents.states, contents.tables):
            self._rename(by_name)

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Rename the state in a subtask."""
        for states in _kinds(snapshot):
            self._rename(states)

    def _rename(self, by_name: dict[str, Any]) -> None:
        if self.state in by_name:
            by_name[self.name] = by_name.pop(self.state)


@dataclass(frozen=True)
class ChangeState(Edit):
    """Changes the entries of a state one by one; those with a time to live stay as old as they are.

    Args:
        state: its name.
        change: what is done to an entry.
    """

    state: str
    change: Change

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Change the entries of a key group."""
        meta = contents.states.get(self.state)
        if meta is not None:
            meta.type = None  # what the new values are declared to be, the job knows
        for namespace, entries in contents.tables.get(self.state, {}).items():
            assert meta is not None
            plain = reader_of(meta)
            for key, entry in list(entries.items()):
                value = self.change(StateEntry(unwrap_key(key), namespace, plain(entry)))
                if _is_nothing(meta, value):
                    del entries[key]
                else:
                    entries[key] = rewritten(meta, entry, value)

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Change the elements of a subtask's lists, and the values of a broadcast state."""
        for lists in (snapshot.split, snapshot.union):
            if self.state in lists:
                changed = [self.change(StateEntry(None, None, one)) for one in lists[self.state]]
                lists[self.state] = [one for one in changed if one is not None]
        if self.state in snapshot.broadcast:
            pairs = snapshot.broadcast[self.state].items()
            changed = [self.change(StateEntry(None, None, pair)) for pair in pairs]
            snapshot.broadcast[self.state] = dict(pair for pair in changed if pair is not None)


class PutKeyed(Edit):
    """Sets entries and adds timers.

    Args:
        groups: what there is to set, by key group.
    """

    def __init__(self, groups: dict[int, KeyGroupState]) -> None:
        self._groups = groups
        self.key_groups = groups.keys()

    def keyed(self, group: int, contents: KeyGroupContents) -> None:
        """Set the entries of a key group.

        Raises:
            CheckpointError: a state is there, of another kind.
        """
        new = self._groups.get(group)
        if new is None:
            return
        for name, meta in new.states.items():
            known = contents.states.setdefault(name, meta)
            _check_kind(name, known, meta)
            if known.type != meta.type:
                known.type = None
        for name, namespaces in new.tables.items():
            for namespace, entries in namespaces.items():
                contents.tables.setdefault(name, {}).setdefault(namespace, {}).update(entries)
        contents.timers |= dict.fromkeys(new.timers)


@dataclass(frozen=True)
class PutList(Edit):
    """Replaces a list without keys.

    Args:
        state: its name.
        values: the elements.
        union: whether every subtask gets all of them.
    """

    state: str
    values: list[object]
    union: bool

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Give a subtask its share."""
        for states in _kinds(snapshot):
            states.pop(self.state, None)
        lists = snapshot.union if self.union else snapshot.split
        lists[self.state] = self.values[part::parts]


@dataclass(frozen=True)
class PutBroadcast(Edit):
    """Sets the entries of a broadcast state, which all subtasks have.

    Args:
        state: its name.
        entries: the entries.
    """

    state: str
    entries: dict[Hashable, object]

    def unkeyed(self, part: int, parts: int, snapshot: OperatorSnapshot) -> None:
        """Set the entries in a subtask."""
        snapshot.broadcast[self.state] = dict(self.entries)


def _kinds(snapshot: OperatorSnapshot) -> tuple[dict[str, Any], ...]:
    return snapshot.split, snapshot.union, snapshot.broadcast


def _is_nothing(meta: StateMeta, value: object) -> bool:
    """True for a value that leaves no entry in the state."""
    return value is None or (meta.kind in {"list", "map", "sorted map"} and not value)


def _check_kind(name: str, before: StateMeta, after: StateMeta) -> None:
    if before.kind != after.kind:
        raise CheckpointError(
            f"the state {name!r} is a {before.kind} state: drop it first to write a {after.kind} "
            "state of that name"
        )
    if bool(before.stamped) != bool(after.stamped):
        has, gets = ("a", "no") if before.stamped else ("no", "a")
        raise CheckpointError(
            f"the state {name!r} has {has} time to live, and the descriptor has {gets} time to live"
        )


_FILE, _PROCESS = "slot-0", 0
_FIRST = 1


class SavepointWriter:
    """Writes a savepoint from data, which a job can start from.

    Without contents the savepoint is new: sources start at their beginnings, and operators without
    state in the savepoint start empty. With contents, all that no call changes is copied. Calls
    are applied in their order when the savepoint is written. Operators that change are rewritten
    one key group at a time; what ``put`` receives is in memory until then.

    Args:
        contents: a checkpoint or savepoint to begin with. To change states with objects of the
            job's own classes, open it with ``trusted=True``.
        max_parallelism: the number of key groups of operators that are not in the contents. A job
            that sets its max parallelism needs the same number.
        job_name: the name of the job in a new savepoint.

    Example:
        ::

            from pyflink.common import Types
            from pyflink.datastream.state import ValueStateDescriptor

            writer = SavepointWriter()
            count = ValueStateDescriptor("count", Types.LONG())
            writer.put("counter", count, [("a", 3), ("b", 5)], key_type=Types.STRING())
            writer.write("file:///savepoints/bootstrapped")
    """

    def __init__(
        self,
        contents: CheckpointContents | None = None,
        *,
        max_parallelism: int = 128,
        job_name: str = "savepoint",
    ) -> None:
        self._contents = contents
        self._max_parallelism = max_parallelism
        self._job_name = job_name
        self._whole = SlotState() if contents is None else contents.whole
        self._load = deserialize if contents is None else contents.load
        self._edits: dict[str, list[Edit]] = {}
        self._names: dict[str, str | None] = {}

    def put(
        self,
        operator: str,
        descriptor: object,
        entries: Iterable[object],
        *,
        key_type: TypeInformation | None = None,
    ) -> Self:
        """Set entries of a keyed state; other entries stay.

        Args:
            operator: the operator's ``uid()``.
            descriptor: the descriptor of the state, as the job creates it.
            entries: pairs of key and value, or ``StateEntry`` objects; or a pandas or Spark
                DataFrame with the columns ``key`` and ``value``. The value of a list state is an
                iterable, of a map state a dict, of an aggregating state the accumulator.
            key_type: the ``key_type`` of the job's ``key_by``: both decide in which subtask the job
                looks for a key.

        Raises:
            TypeError: a key or a value does not have its declared type.
        """
        groups = entries_by_key_group(
            descriptor, _entries(entries), self._key_groups(operator), key_type
        )
        return self._edit(operator, PutKeyed(groups))

    def put_timers(
        self,
        operator: str,
        timers: Iterable[tuple[object, int]],
        *,
        key_type: TypeInformation | None = None,
        processing_time: bool = False,
    ) -> Self:
        """Add timers of a process function.

        Args:
            operator: the operator's ``uid()``.
            timers: pairs of key and time in ms.
            key_type: the ``key_type`` of the job's ``key_by``.
            processing_time: whether the timers are processing-time timers.
        """
        queue = PROCESSING if processing_time else EVENT
        groups = timers_by_key_group(timers, queue, self._key_groups(operator), key_type)
        return self._edit(operator, PutKeyed(groups))

    def put_list(
        self, operator: str, state: str, values: Iterable[object], *, union: bool = False
    ) -> Self:
        """Replace a list state without keys.

        Args:
            operator: the operator's ``uid()``.
            state: the name of the state.
            values: its elements.
            union: whether every subtask gets all elements.
        """
        return self._edit(operator, PutList(state, list(values), union))

    def put_broadcast(self, operator: str, state: str, entries: Mapping[object, object]) -> Self:
        """Replace a broadcast state.

        Args:
            operator: the operator's ``uid()``.
            state: the name of the state.
            entries: its entries.
        """
        return self._edit(operator, PutBroadcast(state, dict(entries)))

    def change(self, operator: str, state: str, change: Change) -> Self:
        """Change a state entry by entry.

        Args:
            operator: the operator's id, or an unambiguous part of it.
            state: the name of the state.
            change: takes a ``StateEntry``, and returns the entry's new value; None removes the
                entry.

        Raises:
            CheckpointError: there is no such operator or state.
        """
        return self._edit(self._known(operator, state), ChangeState(state, change))

    def rename(self, operator: str, state: str, name: str) -> Self:
        """Give a state another name.

        Args:
            operator: the operator's id, or an unambiguous part of it.
            state: the name of the state.
            name: its new name.

        Raises:
            CheckpointError: there is no such operator or state, or the new name is taken.
        """
        found = self._known(operator, state)
        if name in self._states(found):
            raise CheckpointError(f"the operator {found!r} has a state {name!r} already")
        return self._edit(found, RenameState(state, name))

    def drop(self, operator: str, state: str) -> Self:
        """Remove a state; ``timers`` names the timers.

        Args:
            operator: the operator's id, or an unambiguous part of it.
            state: the name of the state.

        Raises:
            CheckpointError: there is no such operator or state.
        """
        return self._edit(self._known(operator, state), DropState(state))

    def drop_operator(self, operator: str) -> Self:
        """Remove all state of an operator, or the positions of a source.

        Without positions a source starts where its settings say.

        Args:
            operator: the operator's or the source's id.

        Raises:
            CheckpointError: there is no such operator or source.
        """
        self._names[self._owner(operator)] = None
        return self

    def rename_operator(self, operator: str, name: str) -> Self:
        """Give the state of an operator, source or sink to another one.

        Args:
            operator: the id, or an unambiguous part of it.
            name: the ``uid()`` that it has in the job from now on.

        Raises:
            CheckpointError: there is no such operator or source, or the new name is taken.
        """
        found = self._owner(operator)
        if name in self._whole.operators or name in self._whole.sources:
            raise CheckpointError(f"there is state of {name!r} already")
        self._names[found] = name
        return self

    def write(self, path: str, configuration: Mapping[str, str] | None = None) -> str:
        """Write the savepoint.

        Args:
            path: a folder that does not exist yet.
            configuration: says how file systems are reached.

        Returns:
            The path for ``run -s``.

        Raises:
            CheckpointError: there is a savepoint already, or the savepoint cannot be written.
        """
        place = find_checkpoint(path, configuration)
        if METADATA in place.names():
            raise CheckpointError(f"there is a checkpoint or savepoint in {place.shown} already")
        with state_file(place, _FILE) as file:
            self._write_operators(file)
            self._write_sources(file)
        old = None if self._contents is None else self._contents.metadata
        complete(
            place,
            checkpoint_id=_FIRST if old is None else old.checkpoint_id,
            job_id=uuid.uuid4().hex if old is None else old.job_id,
            job_name=self._job_name if old is None else old.job_name,
            time=SystemClock().now(),
            savepoint=True,
            files=[file.result()],
            committables=self._committables(place),
            meanings=self._meanings(),
        )
        return place.shown

    def _write_operators(self, file: StateFileWriter) -> None:
        for name in {**self._whole.operators, **self._edits}:
            target = self._names.get(name, name)
            if target is None:
                continue
            parts = self._whole.operators.get(name) or {
                0: OperatorPart(0, max_parallelism=self._max_parallelism)
            }
            if name in self._edits:
                self._write_changed(file, target, parts, self._edits[name])
            else:
                _copy(file, target, parts)

    def _write_changed(
        self,
        file: StateFileWriter,
        name: str,
        parts: Mapping[int, OperatorPart],
        edits: list[Edit],
    ) -> None:
        added = {group for edit in edits for group in edit.key_groups}
        added -= {group for part in parts.values() for group in part.keyed}
        for number, (index, part) in enumerate(parts.items()):
            snapshot = self._load(content_bytes(part.operator))
            for edit in edits:
                edit.unkeyed(number, len(parts), snapshot)
            head = RecordHead(OPERATOR, name, index, part.max_parallelism)
            file.write((head, serialize(snapshot)))
            for group in sorted({*part.keyed, *(added if number == 0 else ())}):
                contents = key_group_contents(part.keyed.get(group, ()), self._load)
                for edit in edits:
                    edit.keyed(group, contents)
                if contents:
                    piece = serialize(contents.to_piece())
                    file.write((RecordHead(KEYED, name, index, group), piece))

    def _write_sources(self, file: StateFileWriter) -> None:
        for name, positions in self._whole.sources.items():
            target = self._names.get(name, name)
            if target is not None:
                for index, content in positions.items():
                    file.write((RecordHead(SOURCE, target, index, 0), content_bytes(content)))

    def _committables(self, place: Folder) -> Committables | Copied:
        """The committables under their new names; nothing is loaded of those that stay."""
        if self._contents is None:
            return []
        old, metadata = self._contents.place, self._contents.metadata
        found = read_committables(old, metadata, self._contents.load)
        digests = not place.signed or all(file.digest for file in metadata.frames)
        if digests and not any(name in self._names for name, _ in found):
            for file in metadata.frames:
                _copy_file(file, old, place)
            return Copied(metadata.committables.read(old), metadata.frames)
        named = ((self._names.get(name, name), what) for name, what in found)
        kept = [(name, what) for name, what in named if name is not None]
        if any(isinstance(what, Opaque) for _, what in kept):
            raise CheckpointError(
                f"{old.shown} has what sinks have to commit, which is not to be written again as "
                "it is: load the classes of the job (trusted=True, or --trusted)"
            )
        return store_frames(kept, place, _PROCESS)

    def _meanings(self) -> Meanings:
        if self._contents is None:
            return {}
        told = self._contents.metadata.state_meanings.items()
        named = ((self._names.get(name, name), meaning) for name, meaning in told)
        return {name: meaning for name, meaning in named if name is not None}

    def _key_groups(self, operator: str) -> int:
        parts = self._whole.operators.get(operator)
        return self._max_parallelism if not parts else next(iter(parts.values())).max_parallelism

    def _edit(self, operator: str, edit: Edit) -> Self:
        self._edits.setdefault(operator, []).append(edit)
        return self

    def _owner(self, name: str) -> str:
        if name in self._whole.sources or name in self._whole.operators:
            return name
        return self._in_contents().operator_id(name)

    def _known(self, operator: str, state: str) -> str:
        found = self._in_contents().operator_id(operator)
        states = self._states(found)
        if state not in states:
            raise CheckpointError(
                f"the operator {found!r} has no state {state!r}, only: {', '.join(states)}"
            )
        return found

    def _states(self, operator: str) -> list[str]:
        """Return the names of an operator's states after the calls so far."""
        names = [state.name for state in self._in_contents().operator(operator).states]
        for edit in self._edits.get(operator, ()):
            if isinstance(edit, RenameState):
                names = [edit.name if name == edit.state else name for name in names]
            elif isinstance(edit, DropState):
                names.remove(edit.state)
        return names

    def _in_contents(self) -> CheckpointContents:
        if self._contents is None:
            raise CheckpointError("a new savepoint has no state that could be changed")
        return self._contents


def _copy_file(file: StateFile, old: Folder, new: Folder) -> None:
    """Copy a file of records as it is."""
    with file.open(old) as stream, state_file(new, file.name) as copy:
        while chunk := stream.read(_CHUNK):
            copy.write_bytes(chunk)
    if copy.result().checksum != file.checksum:
        raise file.damaged(old, file.size)


def _copy(file: StateFileWriter, name: str, parts: Mapping[int, OperatorPart]) -> None:
    """Copy the state of an operator, without making objects of it."""
    for index, part in parts.items():
        head = RecordHead(OPERATOR, name, index, part.max_parallelism)
        file.write((head, content_bytes(part.operator)))
        pieces = ((group, piece) for group, found in part.keyed.items() for piece in found)
        for group, content in read_in_turn(pieces):
            file.write((RecordHead(KEYED, name, index, group), content))


def _entries(entries: Any) -> Iterator[tuple[object, Hashable, object]]:
    """Yield key, namespace and value of the entries that a user gives."""
    if hasattr(entries, "toLocalIterator"):
        entries = ((row["key"], row["value"]) for row in entries.toLocalIterator())
    elif hasattr(entries, "itertuples"):
        entries = zip(entries["key"].tolist(), entries["value"].tolist(), strict=True)
    for entry in entries:
        if isinstance(entry, StateEntry):
            yield entry.key, entry.namespace, entry.value
        else:
            key, value = entry
            yield key, None, value
