"""Writes a savepoint of ours from one of Flink, with the state of PyFlink's operators."""

from __future__ import annotations

import re
import struct
import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.errors import CheckpointError
from pyflink_on_spark._runtime.checkpoints.checkpoint import METADATA, complete
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import (
    Folder,
    StateFileWriter,
    state_file,
)
from pyflink_on_spark._runtime.checkpoints.state_file import KEYED, OPERATOR, SOURCE, RecordHead
from pyflink_on_spark._runtime.coders import DataInput
from pyflink_on_spark._runtime.contract.connector import FlinkSplits, Versioned
from pyflink_on_spark._runtime.contract.state_meaning import FlinkStates, StateLayout, TableState
from pyflink_on_spark._runtime.elements.immutability import serialize, wrap_key
from pyflink_on_spark._runtime.elements.time import SystemClock
from pyflink_on_spark._runtime.key_groups import KeyGroups, subtask_of_key_group
from pyflink_on_spark._runtime.operators.stateless import WRITER
from pyflink_on_spark._runtime.state.moved_in import ENCODED, MAP, PIECES
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, StateMeta
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    ListTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    wrapped_type_of,
)
from pyflink_on_spark.common.types import Row
from pyflink_on_spark.flink_state.contents import FlinkCheckpoint, LostFileError, shown
from pyflink_on_spark.flink_state.keyed_state import (
    EVENT_TIMERS,
    PROCESSING_TIMERS,
    TIMERS,
    FlinkEntry,
    StateHeader,
)
from pyflink_on_spark.flink_state.metadata import FlinkOperator
from pyflink_on_spark.flink_state.serializers import FlinkWindow, Void

if TYPE_CHECKING:
    from pyflink_on_spark.flink_state.contents import ElementsOfState


_PYTHON, _REDUCE = "python-state-", "_reduce_state"
ROLLING = "_rolling"
"""The name of our state for the results of ``reduce``, ``sum`` and the like."""
_TYPED = {"list": PIECES, "map": MAP}
_WINDOW = {"time": ">qq", "count": ">q", "global": ">x"}
_FILE = "slot-0"
_READER_STATE = "SourceReaderState"
_FUNCTION_STATES = frozenset({"topic-partition-offset-states", "Kinesis-Stream-Shard-State"})
"""Those in which FlinkKafkaConsumer and FlinkKinesisConsumer have their positions."""
_POSITIONS = {_READER_STATE, *_FUNCTION_STATES}
_COORDINATOR = 1
_COMMITTER, _WRITERS = "streaming_committer_raw_states", "writer_raw_states"
_COMMITTER_VERSION, _COMMITTABLES = 2, 0xB91F252C - (1 << 32)
_CHECKPOINT = 16
"""The bytes before the subtasks of a checkpoint: its number, and two of the format's."""
_EMPTY_SUBTASK = 20
"""The bytes of a subtask without committables: its number, and zeros."""
_NODE = re.compile(r"^(.*)\[(\d+)\]$")
"""The name of an operator of tables: its kind, and the number of the node in the plan."""
_OF_TABLES = (
    "it is one of a table or of SQL, and only a job with the same query can take over its state"
)
_AT_ONCE = 100_000
"""The number of entries of tables that are in memory until they are written."""
_WATERMARK = "watermark"
_UNFINISHED = (
    "it is a sink that may have files or transactions which are not finished, and what is in those "
    "would be missing: stop the job of Flink with --drain, which finishes them, or make sure that "
    "there are none"
)


@dataclass(frozen=True)
class Heir:
    """An operator of ours that takes over the state of one of Flink.

    Args:
        name: its stable name.
        key_type: the declared type of its keys; None if untyped.
        positions: makes the positions of a source; None for an operator that is no source.
        unfinished: makes the snapshots of a sink's writers; None for an operator that is no sink.
        table: takes over the state of an operator of tables; None for other operators.
        refusal: why it takes over nothing after all; None if it does.
    """

    name: str
    key_type: object = None
    positions: Callable[[FlinkSplits], list[object]] | None = None
    unfinished: Callable[[Sequence[Versioned]], list[object]] | None = None
    table: TableState | None = None
    refusal: str | None = None


ReadKey = Callable[[object], object]
Heirs = Callable[[FlinkOperator], Heir | None]
"""Finds the heir of an operator of Flink; None if there is none."""


@dataclass
class Conversion:
    """The result of converting a savepoint of Flink.

    Args:
        taken: what was taken over, by operator.
        refused: what was not, and why; one sentence each.
        damaged: those of the refused whose state is there and cannot be read to its end.
    """

    taken: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)
    damaged: list[str] = field(default_factory=list)


def node_of_table(operator: FlinkOperator) -> tuple[str, int] | None:
    """Return the kind and the number of an operator of tables; None for other operators."""
    found = _NODE.match(operator.name or "")
    return None if found is None else (found[1], int(found[2]))


def heirs_without_job(operator: FlinkOperator) -> Heir:
    """Give each operator an heir of the same name, for those who only look at the state."""
    return Heir(operator.uid or operator.name or operator.hash)


def convert(
    checkpoint: FlinkCheckpoint, place: Folder, heirs: Heirs, load: Callable[[bytes], object]
) -> Conversion:
    """Write a savepoint of ours.

    Values stay bytes: the operators of the job, which know their types, read them.

    Args:
        checkpoint: of Flink.
        place: a folder without a savepoint.
        heirs: finds the operators of ours.
        load: makes objects of the pickles of untyped keys.

    Raises:
        CheckpointError: the checkpoint is damaged, or there is a savepoint already.
    """
    if METADATA in place.names():
        raise CheckpointError(f"there is a checkpoint or savepoint in {place.shown} already")
    halves: dict[str, CheckpointError] = {}
    while True:
        found = Conversion()
        try:
            with state_file(place, _FILE) as file:
                for operator in checkpoint.metadata.operators:
                    writer = _Operator(checkpoint, operator, heirs(operator), load, found)
                    writer.write(file, halves.get(operator.hash))
            break
        except _HalfWritten as half:
            halves[half.operator] = half.reason
    complete(
        place,
        checkpoint_id=checkpoint.metadata.checkpoint_id,
        job_id=uuid.uuid4().hex,
        job_name="savepoint of Flink",
        time=SystemClock().now(),
        savepoint=True,
        files=[file.result()],
        committables=[],
    )
    return found


class _OtherState(CheckpointError):
    """Reports whole state that the heir cannot take over."""


class _HalfWritten(Exception):
    """Ends the writing of a file with a part of the state of an operator, which has to go."""

    def __init__(self, operator: str, reason: CheckpointError) -> None:
        super().__init__(operator, reason)
        self.operator, self.reason = operator, reason


class _Operator:
    """One operator on its way."""

    def __init__(
        self,
        checkpoint: FlinkCheckpoint,
        operator: FlinkOperator,
        heir: Heir | None,
        load: Callable[[bytes], object],
        found: Conversion,
    ) -> None:
        self._checkpoint, self._operator, self._found = checkpoint, operator, found
        self._heir, self._load = heir, load
        self._entries = 0
        self._begun = False

    def write(self, file: StateFileWriter, half: CheckpointError | None) -> None:
        """Write the state that the heir takes over, and note it.

        Args:
            file: for the state of all operators.
            half: why the state ended in the middle when it was written before.

        Raises:
            _HalfWritten: the state ends in the middle.
        """
        before = len(self._found.refused)
        try:
            if half is not None:
                raise half
            self._write(file)
        except CheckpointError as error:
            if self._begun:
                raise _HalfWritten(self._operator.hash, error) from error
            self._refuse(str(error))
            lost = half is not None or isinstance(error, LostFileError)
            if self._heir is not None and lost and not isinstance(error, _OtherState):
                self._found.damaged.append(self._found.refused[-1])
        if self._heir is not None and len(self._found.refused) == before and self._entries:
            self._note_taken(self._heir, f"{self._entries:,} entries")

    def _note_taken(self, heir: Heir, what: str) -> None:
        """Note what was taken over; of an operator of tables also from whom, as it has no uid."""
        of = f" of {self._operator.name}" if node_of_table(self._operator) else ""
        self._found.taken[heir.name] = what + of

    def _write(self, file: StateFileWriter) -> None:
        operator, heir = self._operator, self._heir
        if any(state.raw or state.raw_keyed for state in operator.subtasks.values()):
            self._refuse("it has state in a format of its own")
            return
        lists = list(self._checkpoint.lists(operator))
        keyed = any(state.keyed for state in operator.subtasks.values())
        if any(state.name == _COMMITTER for _, state, *_ in lists):
            if not all(
                _commits_nothing(DataInput(element, self._checkpoint.path))
                for *_, elements in lists
                for element in elements
            ):
                self._refuse(_UNFINISHED)
            return
        if heir is None or (node_of_table(operator) and not heir.table and not heir.positions):
            self._refuse_unowned(lists, keyed)
            return
        if heir.table is not None:
            self._write_table(file, heir, heir.table, lists)
            return
        if _is_source(operator, lists) and heir.positions is None:
            self._refuse("it is a source, whose positions only a source of the job can take over")
            return
        if heir.positions is not None:
            self._write_positions(file, heir, lists)
            return
        if heir.unfinished is not None:
            self._write_unfinished(file, heir, heir.unfinished, lists)
            return
        if keyed or lists:
            self._write_keyless(file, heir, lists)
            self._write_keyed(file, heir)

    def _refuse_unowned(
        self, lists: list[tuple[int, StateHeader, str, list[object]]], keyed: bool
    ) -> None:
        """Refuse state that no operator of the job may take over."""
        operator = self._operator
        has_state = keyed or any(elements for *_, elements in lists)
        is_source = any(state.name in _POSITIONS for _, state, *_ in lists)
        if node_of_table(operator):
            if has_state or is_source:
                why = None if self._heir is None else self._heir.refusal
                self._refuse(why or _OF_TABLES)
        elif has_state:
            self._refuse(
                "the job has no operator of its uid or name; an operator with "
                f'set_uid_hash("{operator.hash}") gets its state'
            )
        elif is_source:
            self._refuse("the job has no source of this uid or id")

    def _write_positions(
        self,
        file: StateFileWriter,
        heir: Heir,
        lists: list[tuple[int, StateHeader, str, list[object]]],
    ) -> None:
        assert heir.positions is not None
        if any(state.name not in _POSITIONS and elements for _, state, _, elements in lists):
            self._refuse("it is a source of a kind whose positions are not known")
            return
        splits = splits_of(self._operator, lists, self._checkpoint.path)
        try:
            positions = heir.positions(splits)
        except ValueError as error:
            self._refuse(str(error))
            return
        file.write((RecordHead(SOURCE, heir.name, 0, 0), serialize(positions)))
        self._note_taken(heir, "its positions")

    def _write_unfinished(
        self,
        file: StateFileWriter,
        heir: Heir,
        make: Callable[[Sequence[Versioned]], list[object]],
        lists: list[ElementsOfState],
    ) -> None:
        where = f"{self._checkpoint.path}: the sink {shown(self._operator)}"
        if any(state.name != _WRITERS and elements for _, state, _, elements in lists):
            self._refuse(_UNFINISHED)
            return
        written = [
            _versioned(DataInput(element, where)) for *_, elements in lists for element in elements
        ]
        try:
            snapshots = make(written) if written else []
        except (ValueError, UnicodeDecodeError, struct.error) as error:
            self._refuse(f"{error}; {_UNFINISHED}")
            return
        if not snapshots:
            return
        self._entries += len(snapshots)
        head = RecordHead(OPERATOR, heir.name, 0, self._operator.max_parallelism)
        file.write((head, serialize(OperatorSnapshot(split={WRITER: snapshots}))))

    def _write_keyless(
        self,
        file: StateFileWriter,
        heir: Heir,
        lists: list[ElementsOfState],
    ) -> None:
        snapshots: dict[int, OperatorSnapshot] = {
            index: OperatorSnapshot() for index in self._operator.subtasks
        }
        for index, state, mode, elements in lists:
            name = _own_name(state.name)
            if mode == "broadcast" and name is not None:
                snapshots[index].broadcast[ENCODED + name] = dict(elements)
                self._entries += len(elements)
            elif elements:
                self._refuse(f"its state {state.name!r} is not one of Python functions")
        self._write_snapshots(file, heir, snapshots)

    def _write_snapshots(
        self, file: StateFileWriter, heir: Heir, snapshots: Mapping[int, OperatorSnapshot]
    ) -> None:
        """Write state without keys, which also says how many key groups there are."""
        for index, snapshot in snapshots.items():
            head = RecordHead(OPERATOR, heir.name, index, self._operator.max_parallelism)
            file.write((head, serialize(snapshot)))

    def _write_keyed(self, file: StateFileWriter, heir: Heir) -> None:
        owners = {
            group: index
            for index, state in self._operator.subtasks.items()
            if state.keyed is not None
            for group in range(state.keyed.first, state.keyed.first + state.keyed.count)
        }
        states = self._checkpoint.keyed_states(self._operator)
        foreign = [name for name, state in states.items() if _role(state) is None]
        if foreign:
            self._refuse(f"its state {foreign[0]!r} is not one of Python functions")
            return
        read_key = key_reader(heir.key_type, self._load)
        self._begun = True
        for group, entries in self._checkpoint.key_groups(self._operator):
            piece = self._piece(entries, read_key)
            if piece.tables or piece.timers:
                head = RecordHead(KEYED, heir.name, owners[group], group)
                file.write((head, serialize(piece)))

    def _write_table(
        self,
        file: StateFileWriter,
        heir: Heir,
        table: TableState,
        lists: list[ElementsOfState],
    ) -> None:
        """Write the state of an operator of tables, whose keys are in other groups here."""
        times = [t for _, state, _, found in lists if state.name == _WATERMARK for t in found]
        found = FlinkStates(
            str(self._checkpoint.key_type(self._operator)),
            {
                name: _layout(state)
                for name, state in self._checkpoint.keyed_states(self._operator).items()
                if state.kind != TIMERS
            },
            min(times, default=None),
        )
        if any(elements and state.name != _WATERMARK for _, state, _, elements in lists):
            self._refuse("it has state without keys that has no counterpart here")
            return
        reason = table.refusal(found)
        if reason is not None:
            self._refuse(f"{reason}: is it the same query?")
            return
        self._write_snapshots(
            file, heir, dict.fromkeys(self._operator.subtasks, OperatorSnapshot())
        )
        groups = KeyGroups(self._operator.max_parallelism)
        metas, held = table.metas(found), 0
        self._begun = True
        pieces: dict[int, KeyGroupState] = {}
        for _, entries in self._checkpoint.key_groups(self._operator):
            given = (
                (e.state.name, e.key, e.namespace, e.value)
                for e in entries
                if e.state.kind != TIMERS
            )
            try:
                for name, namespace, key, entry in table.taken(found, given):
                    piece = pieces.setdefault(groups.of(key), KeyGroupState(dict(metas)))
                    piece.tables.setdefault(name, {}).setdefault(namespace, {})[key] = entry
                    held += 1
            except ValueError as error:
                raise _OtherState(f"{error}: is it the same query?") from None
            if held >= _AT_ONCE:
                self._write_pieces(file, heir, pieces)
                pieces, held = {}, 0
        self._write_pieces(file, heir, pieces)

    def _write_pieces(
        self, file: StateFileWriter, heir: Heir, pieces: dict[int, KeyGroupState]
    ) -> None:
        operator = self._operator
        for group, piece in pieces.items():
            self._entries += len(piece.entries)
            index = subtask_of_key_group(group, operator.max_parallelism, operator.parallelism)
            file.write((RecordHead(KEYED, heir.name, index, group), serialize(piece)))

    def _piece(self, entries: Iterable[FlinkEntry], read_key: ReadKey) -> KeyGroupState:
        piece = KeyGroupState({})
        for entry in entries:
            state, key, namespace = entry.state, read_key(entry.key), _namespace(entry.namespace)
            self._entries += 1
            if state.kind == TIMERS:
                piece.timers.append((str(_role(state)), entry.value, key, namespace))
                continue
            name = str(_role(state))
            piece.states[name] = StateMeta(_TYPED[state.kind], _is_stamped(state))
            table = piece.tables.setdefault(name, {}).setdefault(namespace, {})
            if key in table:
                raise _OtherState(
                    "a key has several results of reduce(): the job of Flink was restarted, after "
                    "which PyFlink's reduce() starts empty and keeps the old results as well, and "
                    "nothing says which ones are newer"
                )
            table[key] = entry.value
        return piece

    def _refuse(self, why: str) -> None:
        self._found.refused.append(f"the operator {shown(self._operator)} of Flink: {why}")


def _role(state: StateHeader) -> str | None:
    """Return our name for a state, or the queue of timers; None for what is not PyFlink's."""
    if state.kind == TIMERS:
        if state.name.startswith(EVENT_TIMERS):
            return "event"
        return "processing" if state.name.startswith(PROCESSING_TIMERS) else None
    return _own_name(state.name) if _holds_bytes(state) else None


def _own_name(name: str) -> str | None:
    if not name.startswith(_PYTHON):
        return None
    name = name.removeprefix(_PYTHON)
    return ROLLING if name.startswith(_REDUCE) else name


def _holds_bytes(state: StateHeader) -> bool:
    if state.kind not in _TYPED:
        return False
    parts = state.serializers["value"].parts
    value = parts[-1].parts[-1] if _is_stamped(state) else parts[-1]
    return all(part.name == "bytes" for part in (*parts[:-1], value))


def _layout(state: StateHeader) -> StateLayout:
    """Describe a state of an operator of tables."""
    value = state.serializers["value"]
    parts = value.parts if state.kind in _TYPED else (value,)
    stamped = parts[-1].name == "stamped"
    if stamped:
        parts = (*parts[:-1], parts[-1].parts[-1])
    return StateLayout(state.kind, tuple(map(str, parts)), stamped)


def _is_stamped(state: StateHeader) -> bool:
    return state.serializers["value"].parts[-1].name == "stamped"


def _namespace(namespace: Void | FlinkWindow | bytes) -> bytes | None:
    """Return a namespace as the window serializers of Python write it."""
    if isinstance(namespace, Void):
        return None
    if isinstance(namespace, bytes):
        return namespace
    return struct.pack(_WINDOW[namespace.kind], *namespace.numbers)


def key_reader(key_type: object, load: Callable[[bytes], object]) -> ReadKey:
    """Make what turns keys of Flink, which are rows of one field, into keys of the engine.

    Args:
        key_type: the declared type of the keys; None if nobody knows, or there is none.
        load: makes objects of pickles.
    """
    untyped = key_type is None or isinstance(key_type, PickledBytesTypeInfo)

    def read_key(key: object) -> object:
        value = key[0] if isinstance(key, Row) and len(key) == 1 else key
        if untyped:
            return wrap_key(load(value) if isinstance(value, bytes) else value)
        return wrap_key(_as_declared(value, key_type))

    return read_key


def _as_declared(value: Any, type_info: object) -> object:
    """Give a value what Java does not keep: the names of a row's fields."""
    if isinstance(type_info, ExternalTypeInfo):
        return _as_declared(value, wrapped_type_of(type_info))
    if isinstance(type_info, RowTypeInfo):
        fields = map(_as_declared, value, type_info.get_field_types())
        row = Row(*fields)
        row.set_field_names(list(type_info.get_field_names()))
        row.set_row_kind(value.get_row_kind())
        return row
    if isinstance(type_info, TupleTypeInfo):
        return tuple(map(_as_declared, value, type_info.get_field_types()))
    if isinstance(type_info, ListTypeInfo):
        return [_as_declared(part, type_info.elem_type) for part in value]
    return value


def splits_of(operator: FlinkOperator, lists: list[ElementsOfState], path: str) -> FlinkSplits:
    """Take the splits of a source out of its operator's state.

    Args:
        operator: the operator of the source.
        lists: its state without keys.
        path: the savepoint, for errors.

    Raises:
        CheckpointError: they are damaged.
    """
    where = f"{path}: the source {operator.uid or operator.name!r}"
    splits = tuple(
        _versioned(DataInput(element, where))
        for _, state, _, elements in lists
        if state.name == _READER_STATE
        for element in elements
    )
    if operator.coordinator is None:
        return FlinkSplits(splits, of_function=_of_function(lists))
    data = DataInput(operator.coordinator, f"{where}, its enumerator")
    version = data.integer()
    if version != _COORDINATOR:
        raise data.refused(f"the state of an enumerator of version {version} is not known", 0)
    return FlinkSplits(splits, _versioned(data))


def _is_source(
    operator: FlinkOperator, lists: list[tuple[int, StateHeader, str, list[object]]]
) -> bool:
    return operator.coordinator is not None or any(
        state.name in _POSITIONS for _, state, *_ in lists
    )


def _of_function(
    lists: list[tuple[int, StateHeader, str, list[object]]],
) -> dict[str, list[object]]:
    """Return the elements of the states in which source functions have their positions."""
    found: dict[str, list[object]] = {}
    for _, state, _, elements in lists:
        if state.name in _FUNCTION_STATES:
            found.setdefault(state.name, []).extend(elements)
    return found


def _commits_nothing(data: DataInput) -> bool:
    """True if the committer of a sink has nothing to commit, as far as that can be seen."""
    try:
        version, content = _versioned(data)
        if version != _COMMITTER_VERSION or content.integer() != _COMMITTABLES:
            return False
        content.integer()
        for _ in range(content.count("checkpoints", 8)):
            piece = DataInput(content.take(content.count("bytes")), content.where)
            piece.take(_CHECKPOINT)
            for _ in range(piece.count("subtasks", 4)):
                subtask = piece.take(piece.count("bytes"))
                if len(subtask) != _EMPTY_SUBTASK or any(subtask[4:]):
                    return False
            if piece.left:
                return False
    except CheckpointError:
        return False
    return not content.left


def _versioned(data: DataInput) -> tuple[int, DataInput]:
    """Read a version, and what was written with it."""
    version = data.integer()
    length = data.count("bytes")
    base = data.offset(data.position)
    return version, DataInput(data.take(length), data.where, base)
