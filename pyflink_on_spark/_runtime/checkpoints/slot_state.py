"""The state of a slot's subtasks in a checkpoint, in pieces that can be redistributed."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from pyflink_on_spark._runtime.checkpoints.state_file import (
    KEYED,
    OPERATOR,
    SOURCE,
    Content,
    Record,
    RecordHead,
    StoredFile,
    read_in_turn,
    stored_records,
    write_record,
)
from pyflink_on_spark._runtime.contract.connector import OwnPositions
from pyflink_on_spark._runtime.contract.plan import StagePlan, VertexPlan
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.key_groups import key_groups_of
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, redistribute
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, Piece, StateChunks, StateFiles


@dataclass(slots=True)
class OperatorSubtaskState:
    """The state of one operator in one subtask.

    Args:
        keyed: by key group; of a checkpoint that is being written or restored, made piece by piece.
        operator: what belongs to no key.
        max_parallelism: how many key groups there are.
    """

    keyed: dict[int, KeyGroupState] | StateChunks = field(default_factory=dict)
    operator: OperatorSnapshot = field(default_factory=OperatorSnapshot)
    max_parallelism: int = 128


@dataclass(slots=True)
class TaskStateSnapshot:
    """The state of one subtask.

    Args:
        checkpoint_id: the checkpoint that it belongs to.
        operators: by the stable name of each.
        sources: the positions of each source, by its stable name. In a subtask's share of a
            checkpoint: those of all subtasks, since the reader picks its own.
        savepoint: whether it is of a savepoint.
    """

    checkpoint_id: int
    operators: dict[str, OperatorSubtaskState] = field(default_factory=dict)
    sources: dict[str, list[object]] = field(default_factory=dict)
    savepoint: bool = False

    @property
    def entries(self) -> int:
        """The number of entries in keyed state that is not serialized yet."""
        return sum(part.entries for part in self._chunks())

    @property
    def files(self) -> list[StateFiles]:
        """The files that a copy of this process needs to make the entries."""
        return [part.files for part in self._chunks() if part.files is not None]

    def note_taken(self) -> None:
        """Note that the state is written, or a copy of this process has the state."""
        for part in self._chunks():
            part.note_taken()

    def _chunks(self) -> Iterator[StateChunks]:
        parts = (operator.keyed for operator in self.operators.values())
        return (part for part in parts if isinstance(part, StateChunks))


DRIVER = -1
"""Instead of the number of a subtask: what the driver has of a source."""
_NOTHING = serialize(OperatorSnapshot())
T = TypeVar("T")


@dataclass(slots=True)
class OperatorPart:
    """The state of one operator in one subtask, pickled piece by piece.

    Args:
        index: which subtask it was.
        max_parallelism: how many key groups there are.
        keyed: the pieces of each key group, which count in their order.
        operator: the state without keys.
    """

    index: int
    max_parallelism: int = 128
    keyed: dict[int, list[Content]] = field(default_factory=dict)
    operator: Content = _NOTHING

    def __bool__(self) -> bool:
        if self.keyed or len(self.operator) != len(_NOTHING):
            return True
        return _bytes(self.operator) != _NOTHING

    @property
    def size(self) -> int:
        """The size in bytes."""
        return len(self.operator) + sum(len(c) for pieces in self.keyed.values() for c in pieces)


@dataclass(slots=True)
class SlotState:
    """The state of the subtasks of one slot, or of all of them.

    Args:
        operators: the parts of each operator, by its stable name and subtask.
        sources: the positions of each source, by its stable name and subtask, or DRIVER.
    """

    operators: dict[str, dict[int, OperatorPart]] = field(default_factory=dict)
    sources: dict[str, dict[int, Content]] = field(default_factory=dict)

    def add(self, index: int, state: TaskStateSnapshot) -> None:
        """Add the state of a subtask, which may change afterwards."""
        for head, content in records_of(index, state):
            self.take(head, content)

    def take(self, head: RecordHead, content: Content) -> None:
        """Add one record; earlier records of the same subtask are older."""
        if head.kind == SOURCE:
            self.sources.setdefault(head.name, {})[head.index] = content
            return
        parts = self.operators.setdefault(head.name, {})
        part = parts.get(head.index)
        if part is None:
            part = parts[head.index] = OperatorPart(head.index)
        if head.kind == OPERATOR:
            part.operator, part.max_parallelism = content, head.number
        else:
            part.keyed.setdefault(head.number, []).append(content)

    def merge(self, other: SlotState) -> None:
        """Take in another slot's state."""
        for name, parts in other.operators.items():
            self.operators.setdefault(name, {}).update(parts)
        for name, positions in other.sources.items():
            self.sources.setdefault(name, {}).update(positions)

    def renamed(self, names: Mapping[str, str | None]) -> SlotState:
        """Return the same under other names.

        Args:
            names: the new name of each that gets one; None to leave it out.
        """
        if not names:
            return self
        return SlotState(_renamed(self.operators, names), _renamed(self.sources, names))

    def to_bytes(self) -> bytes:
        """Serialise the state in the format of a state file."""
        stream = io.BytesIO()
        for record in self._records():
            write_record(stream, record)
        return stream.getvalue()

    @classmethod
    def from_bytes(cls, content: bytes) -> SlotState:
        """Deserialise the state that ``to_bytes`` wrote."""
        state = cls()
        file = StoredFile("a snapshot", len(content), lambda: io.BytesIO(content))
        for head, stored in stored_records(file):
            state.take(head, stored)
        return state

    def _records(self) -> Iterator[Record]:
        for name, parts in self.operators.items():
            for index, part in parts.items():
                head = RecordHead(OPERATOR, name, index, part.max_parallelism)
                yield head, _bytes(part.operator)
                for group, pieces in part.keyed.items():
                    for piece in pieces:
                        yield RecordHead(KEYED, name, index, group), _bytes(piece)
        for name, positions in self.sources.items():
            for index, content in positions.items():
                yield RecordHead(SOURCE, name, index, 0), _bytes(content)


def records_of(index: int, state: TaskStateSnapshot) -> Iterator[Record]:
    """Yield the state of a subtask as records, each made when its turn comes."""
    for name, data in state.operators.items():
        yield RecordHead(OPERATOR, name, index, data.max_parallelism), serialize(data.operator)
        for group, piece in data.keyed.items():
            yield RecordHead(KEYED, name, index, group), serialize(piece)
    for name, positions in state.sources.items():
        yield RecordHead(SOURCE, name, index, 0), serialize(positions)


def shares(
    stages: Iterable[StagePlan],
    slot: int,
    whole: SlotState,
    checkpoint_id: int,
    *,
    savepoint: bool = False,
) -> dict[int, TaskStateSnapshot]:
    """Return the share of a checkpoint that each subtask of a slot restores, by target.

    Args:
        stages: the job's.
        slot: which subtask of each vertex.
        whole: the state of all slots, as they were.
        checkpoint_id: the checkpoint's number.
        savepoint: whether it is a savepoint.
    """
    found: dict[int, TaskStateSnapshot] = {}
    for stage in stages:
        for vertex in stage.vertices:
            if slot < vertex.parallelism:
                state = _share(vertex, slot, whole, checkpoint_id)
                state.savepoint = savepoint
                found[vertex.first_subtask_id + slot] = state
    return found


def _share(
    vertex: VertexPlan, slot: int, whole: SlotState, checkpoint_id: int
) -> TaskStateSnapshot:
    state = TaskStateSnapshot(checkpoint_id)
    for chain in vertex.chains:
        for plan in chain.operators:
            parts = whole.operators.get(plan.state_id or "")
            if plan.state_id is not None and parts:
                ordered = [parts[index] for index in sorted(parts)]
                state.operators[plan.state_id] = _operator_share(ordered, slot, vertex.parallelism)
        if chain.source is not None and chain.source_id in whole.sources:
            positions = whole.sources[chain.source_id]
            contents = [positions[index] for index in sorted(positions)]
            state.sources[chain.source_id] = positions_of(contents)
    return state


def _operator_share(parts: list[OperatorPart], slot: int, parallelism: int) -> OperatorSubtaskState:
    maximum = parts[0].max_parallelism
    groups = key_groups_of(slot, parallelism, maximum)

    def pieces() -> Iterator[tuple[int, Piece]]:
        for part in parts:
            found = ((group, content) for group in groups for content in part.keyed.get(group, ()))
            for group, content in read_in_turn(found):
                yield group, deserialize(content)

    without_keys = redistribute([deserialize(_bytes(part.operator)) for part in parts], parallelism)
    return OperatorSubtaskState(StateChunks(pieces), without_keys[slot], maximum)


def own_states(
    stages: Iterable[StagePlan], slot: int, whole: SlotState, checkpoint_id: int
) -> dict[int, TaskStateSnapshot]:
    """Return the state that each subtask of a slot wrote, by target: nothing is redistributed.

    Args:
        stages: the job's.
        slot: which subtask of each vertex.
        whole: the state of the slot.
        checkpoint_id: the checkpoint's number.
    """
    found: dict[int, TaskStateSnapshot] = {}
    for stage in stages:
        for vertex in stage.vertices:
            if slot >= vertex.parallelism:
                continue
            state = TaskStateSnapshot(checkpoint_id)
            for chain in vertex.chains:
                for plan in chain.operators:
                    part = whole.operators.get(plan.state_id or "", {}).get(slot)
                    if part is not None:
                        state.operators[plan.state_id or ""] = _own(part)
                if slot in whole.sources.get(chain.source_id, {}):
                    positions = whole.sources[chain.source_id][slot]
                    own = OwnPositions(deserialize(_bytes(positions)))
                    state.sources[chain.source_id] = own
            found[vertex.first_subtask_id + slot] = state
    return found


def _own(part: OperatorPart) -> OperatorSubtaskState:
    def pieces() -> Iterator[tuple[int, Piece]]:
        for group, contents in part.keyed.items():
            for content in contents:
                yield group, deserialize(_bytes(content))

    operator = deserialize(_bytes(part.operator))
    return OperatorSubtaskState(StateChunks(pieces), operator, part.max_parallelism)


def _renamed(found: Mapping[str, T], names: Mapping[str, str | None]) -> dict[str, T]:
    named = ((names.get(name, name), what) for name, what in found.items())
    return {name: what for name, what in named if name is not None}


def positions_of(contents: Iterable[Content]) -> list[object]:
    """Return the positions that subtasks have written."""
    return [position for content in contents for position in deserialize(_bytes(content))]


def operator_snapshots(whole: SlotState, name: str) -> list[OperatorSnapshot]:
    """Return the snapshots of an operator without keyed state, one per subtask."""
    parts = whole.operators.get(name, {})
    return [deserialize(_bytes(parts[index].operator)) for index in sorted(parts)]


def stateful_operators(whole: SlotState) -> dict[str, int]:
    """Return the operators that have any state, and the number of key groups of each."""
    return {
        name: next(iter(parts.values())).max_parallelism
        for name, parts in whole.operators.items()
        if any(parts.values())
    }


def _bytes(content: Content) -> bytes:
    return content if isinstance(content, bytes) else content.read()
