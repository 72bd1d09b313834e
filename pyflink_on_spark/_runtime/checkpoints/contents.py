"""The content of a checkpoint or savepoint, for people and programs that read it as data."""

from __future__ import annotations

import io
import pickle
import pickletools
import re
from collections import Counter, OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Self

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Metadata,
    find_checkpoint,
    read_metadata,
    read_states,
)
from pyflink_on_spark._runtime.checkpoints.slot_state import OperatorPart, SlotState
from pyflink_on_spark._runtime.checkpoints.state_file import Content, read_in_turn
from pyflink_on_spark._runtime.coders import own_module
from pyflink_on_spark._runtime.elements.immutability import Key, deserialize, unwrap_key
from pyflink_on_spark._runtime.state.moved_in import MAP, PIECES
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, Piece, StateMeta, Tables, Timer

_UNSTAMPED: dict[str, Callable[[Any], object]] = {
    "list": lambda entry: [value for _, value in entry],
    "map": lambda entry: {key: value for key, (_, value) in entry.items()},
}
_UNSTAMPED |= {PIECES: _UNSTAMPED["list"], MAP: _UNSTAMPED["map"]}
_STAMPED: dict[str, Callable[[int, Any], object]] = {
    "list": lambda stamp, value: [(stamp, one) for one in value],
    "map": lambda stamp, value: {key: (stamp, one) for key, one in value.items()},
}
_STAMP: dict[str, Callable[[Any], int]] = {
    "list": lambda entry: max(stamp for stamp, _ in entry),
    "map": lambda entry: max(stamp for stamp, _ in entry.values()),
}


@dataclass(slots=True)
class KeyGroupContents:
    """The states and timers of the keys of one key group.

    Args:
        states: what has to be known of each state.
        tables: the entries.
        timers: the timers, in the order in which they were registered.
    """

    states: dict[str, StateMeta] = field(default_factory=dict)
    tables: Tables = field(default_factory=dict)
    timers: dict[Timer, None] = field(default_factory=dict)

    @classmethod
    def of(cls, pieces: Iterable[Piece]) -> KeyGroupContents:
        """Merge the pieces of a key group, the older ones first."""
        contents = cls()
        for piece in pieces:
            contents._take(piece)
        return contents

    def to_piece(self) -> KeyGroupState:
        """Return the contents as a checkpoint has them."""
        return KeyGroupState(self.states, self.tables, list(self.timers))

    def __bool__(self) -> bool:
        return bool(self.timers) or any(
            entries for namespaces in self.tables.values() for entries in namespaces.values()
        )

    def _take(self, piece: Piece) -> None:
        self.states |= piece.states
        for name, namespace, key, value in piece.entries:
            table = self.tables.setdefault(name, {}).setdefault(namespace, {})
            if value is None:
                table.pop(key, None)
            else:
                table[key] = value
        if isinstance(piece, KeyGroupState):
            self.timers |= dict.fromkeys(piece.timers)
            return
        for timer, present in piece.timers:
            if present:
                self.timers[timer] = None
            else:
                self.timers.pop(timer, None)


Reader = Callable[[object], object]


def reader_of(meta: StateMeta) -> Reader:
    """Return a function that removes the time stamps of a time to live from an entry."""
    if not meta.stamped:
        return lambda entry: entry
    return _UNSTAMPED.get(meta.kind, lambda entry: entry[1])


def rewritten(meta: StateMeta, entry: Any, value: object) -> object:
    """Return an entry with another value, which is as old as the entry.

    Args:
        meta: of the state.
        entry: as it was.
        value: the new value, without stamps; not empty.
    """
    if not meta.stamped:
        return value
    if meta.kind not in _STAMPED:
        return entry[0], value
    return _STAMPED[meta.kind](_STAMP[meta.kind](entry), value)


_PLAIN = {
    "builtins": {"complex", "range"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "uuid": {"SafeUUID", "UUID"},
    "pyflink_on_spark.common.time": {"Duration", "Instant", "Time"},
    "pyflink_on_spark.common.types": {"Row", "RowKind", "_create_row"},
    "pyflink_on_spark.datastream.window.windows": {"CountWindow", "GlobalWindow", "TimeWindow"},
    "pyflink_on_spark._runtime.state.operator_state": {"OperatorSnapshot"},
    "pyflink_on_spark._runtime.state.snapshot": {"KeyGroupState", "StateDelta", "StateMeta"},
}
"""The classes that a pickle may contain, by module: none of them runs other code."""

_KEY = ("pyflink_on_spark._runtime.elements.immutability", "_restore")
_CONTAINERS: dict[tuple[str, str], Callable[..., object]] = {
    ("builtins", "bytearray"): bytearray,
    ("builtins", "dict"): dict,
    ("builtins", "frozenset"): frozenset,
    ("builtins", "list"): list,
    ("builtins", "set"): set,
    ("builtins", "tuple"): tuple,
    ("collections", "OrderedDict"): OrderedDict,
    ("collections", "deque"): deque,
}
_CONTENTS = (bytes, dict, list, set, tuple)
"""The contents of containers in a pickle. A number or a range could fill the memory."""


class Opaque:
    """Stands for an object of a class that is not loaded.

    Attributes:
        of: the name of the class.
        content: what the object was made of.
    """

    of = ""

    def __init__(self, *arguments: object, **named: object) -> None:
        self.content: list[object] = [*arguments, *([named] if named else [])]

    def __new__(cls, *_: object, **__: object) -> Self:
        """Return one that has no content yet; pickles often make objects without ``__init__``."""
        made = super().__new__(cls)
        made.content = []
        return made

    def __setstate__(self, state: object) -> None:
        self.content.append(state)

    def append(self, item: object) -> None:
        """Take an item of a list."""
        self.content.append(item)

    def extend(self, items: Any) -> None:
        """Take items of a list."""
        self.content.extend(items)

    def __setitem__(self, key: object, value: object) -> None:
        self.content.append((key, value))

    def __call__(self, *arguments: object, **named: object) -> Opaque:
        return type(self)(*arguments, **named)

    def __reduce_ex__(self, protocol: object) -> Any:
        raise CheckpointError(
            f"there is an object of the class {self.of}, which was not loaded: load the classes of "
            "the job to write the object (trusted=True, or --trusted)"
        )

    def __repr__(self) -> str:
        return f"<{self.of}: {', '.join(map(repr, self.content))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Opaque) and repr(self) == repr(other)

    def __hash__(self) -> int:
        return hash(self.of)


class _SafeUnpickler(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> object:
        module = own_module(module)
        if (module, name) == _KEY:
            return _key
        if (module, name) in _CONTAINERS:
            return partial(_container, _CONTAINERS[module, name])
        if name in _PLAIN.get(module, ()):
            return super().find_class(module, name)
        return type("Opaque", (Opaque,), {"of": f"{module}.{name}"})


def _container(kind: Callable[..., object], *arguments: object) -> object:
    if arguments and not isinstance(arguments[0], _CONTENTS):
        raise ValueError(f"a {kind.__name__} of a {type(arguments[0]).__name__}")
    return kind(*arguments)


def _key(value: bytes, identity: Hashable) -> Key:
    return Key(load_safely(value), identity)


_SUSPICIOUS = re.compile(rb"[pr\x8b\x8d\x8e\x96]")
"""Codes with which a pickle may ask for more memory than the pickle has bytes."""
_ARGUMENTS = {ord(each.code): 0 if each.arg is None else each.arg.n for each in pickletools.opcodes}
_TWO_LINES = frozenset(b"ci")
_LENGTHS = {
    pickletools.TAKEN_FROM_ARGUMENT1: 1,
    pickletools.TAKEN_FROM_ARGUMENT4: 4,
    pickletools.TAKEN_FROM_ARGUMENT4U: 4,
    pickletools.TAKEN_FROM_ARGUMENT8U: 8,
}
_PUT, _LONG_PUT, _STOP = ord("p"), ord("r"), ord(".")


def _check_sizes(content: bytes) -> None:
    """Look at the numbers in a pickle for which Python would allocate memory before it reads.

    Raises:
        ValueError: a number is larger than the pickle.
    """
    place, end = 0, len(content)
    while place < end:
        code = content[place]
        kind, place = _ARGUMENTS.get(code, 0), place + 1
        if kind >= 0:
            number = int.from_bytes(content[place : place + kind], "little")
            place += kind
            too_large = code == _LONG_PUT and number > end
        elif kind == pickletools.UP_TO_NEWLINE:
            line_end = content.find(b"\n", place) + 1 or end
            too_large = code == _PUT and int(content[place : line_end - 1] or b"0") > end
            place = line_end
            if code in _TWO_LINES:
                place = content.find(b"\n", place) + 1 or end
        else:
            width = _LENGTHS[kind]
            number = int.from_bytes(content[place : place + width], "little")
            place += width + number
            too_large = place > end
        if too_large:
            raise ValueError("a number in the pickle is larger than the pickle")
        if code == _STOP:
            return


def load_safely(content: bytes) -> object:
    """Return the pickled object; objects of the job's own classes are ``Opaque``.

    Raises:
        CheckpointError: the content is no pickle, or is damaged.
    """
    try:
        if _SUSPICIOUS.search(content) is not None:
            _check_sizes(content)
        return _SafeUnpickler(io.BytesIO(content)).load()
    except CheckpointError:
        raise
    except (Exception, RecursionError) as error:
        raise CheckpointError(f"a pickle in the checkpoint is damaged: {error!r}") from error


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

    key: object
    namespace: object
    value: object


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
    meaning: Mapping[str, object] | None = None


@dataclass(frozen=True)
class SourceSummary:
    """The positions of a source.

    Args:
        id: by which a job finds them.
        positions: one for each split that is not read to its end.
    """

    id: str
    positions: tuple[object, ...]


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
        """Return a summary of each operator that has state."""
        found = self.whole.operators.items()
        with self._checked():
            return [self._summary(name, parts) for name, parts in found if any(parts.values())]

    def operator(self, operator: str) -> OperatorSummary:
        """Return the summary of an operator.

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

    def placed_keys(self, part: OperatorPart) -> Iterator[tuple[int, object]]:
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
    """The number of entries of states, and the types of their keys and values."""

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

    def unkeyed(self, kind: str, state: str, values: list[object]) -> None:
        """Take note of a state without keys."""
        self._entries[state, kind, False] += len(values)
        self._types.setdefault(state, (set(), set()))[1].update(map(type, values))

    def summaries(self) -> tuple[StateSummary, ...]:
        """Return a summary of each state that was read, with its types."""
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


def without_keys(snapshot: OperatorSnapshot) -> Iterator[tuple[str, str, list[object]]]:
    """Yield kind, name and values of the states without keys."""
    for kind, lists in (("split", snapshot.split), ("union", snapshot.union)):
        for name, values in lists.items():
            yield kind, name, list(values)
    for name, entries in snapshot.broadcast.items():
        yield "broadcast", name, list(entries.items())


def content_bytes(content: Content) -> bytes:
    """Return the bytes of a record."""
    return content if isinstance(content, bytes) else content.read()
