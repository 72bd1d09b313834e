"""A job's keyed state, saved and restored as slots do it, without a job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from pyflink_on_spark._runtime.checkpoints.checkpoint import (
    Metadata,
    complete,
    read_metadata,
    read_states,
    verify,
)
from pyflink_on_spark._runtime.checkpoints.checkpoint_files import Folder, StateFile, state_file
from pyflink_on_spark._runtime.checkpoints.slot_state import (
    OperatorSubtaskState,
    TaskStateSnapshot,
    records_of,
    shares,
)
from pyflink_on_spark._runtime.checkpoints.snapshot_writer import BASE, DELTA, WHOLE, file_name
from pyflink_on_spark._runtime.checkpoints.state_file import Record
from pyflink_on_spark._runtime.contract.connector import Source
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.contract.plan import (
    OperatorChainPlan,
    OperatorPlan,
    StagePlan,
    VertexPlan,
)
from pyflink_on_spark._runtime.key_groups import KeyGroups, subtask_of_key_group
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from tests.runtime.state.backends import new_backend
from tests.runtime.state.descriptors import Adding, Descriptor

MAXIMUM = 8
_TAKEN = {
    WHOLE: KeyedStateBackend.pieces,
    BASE: KeyedStateBackend.base_pieces,
    DELTA: KeyedStateBackend.change_pieces,
}


class NoSplits(Source):
    """A source of nothing."""

    def splits(self, parallelism: int) -> list[Any]:
        return []


class Slot:
    """One subtask of an operator with a state of each kind, of a list, and of a source."""

    def __init__(self, index: int = 0) -> None:
        self.index = index
        self.backend = new_backend(max_parallelism=MAXIMUM, track_changes=True)
        self.elements: list[Any] = []
        self.positions: list[Any] = []
        self.states = {
            "value": self.backend.value_state(Descriptor("value", "v")),
            "list": self.backend.list_state(Descriptor("list", "l")),
            "map": self.backend.map_state(Descriptor("map", "m")),
            "reducing": self.backend.reducing_state(Descriptor("reducing", "r", Adding())),
        }

    def state(self, checkpoint_id: int, contents: str) -> TaskStateSnapshot:
        keyed = _TAKEN[contents](self.backend)
        operator = OperatorSnapshot({"elements": list(self.elements)})
        return TaskStateSnapshot(
            checkpoint_id,
            {"op": OperatorSubtaskState(keyed, operator, MAXIMUM)},
            {"src": list(self.positions)},
        )

    def restore(self, state: TaskStateSnapshot) -> None:
        if "op" in state.operators:
            self.backend.restore(state.operators["op"].keyed.values())
            self.elements = state.operators["op"].operator.split.get("elements", [])
        self.positions = state.sources.get("src", [])


def slots(count: int) -> list[Slot]:
    return [Slot(index) for index in range(count)]


def slot_of(all_slots: list[Slot], key: Any) -> Slot:
    index = subtask_of_key_group(KeyGroups(MAXIMUM).of(key), MAXIMUM, len(all_slots))
    all_slots[index].backend.key = key
    return all_slots[index]


def write_file(
    place: Folder, name: str, records: Iterable[Record], *, shared: bool = False
) -> StateFile:
    with state_file(place, name, shared=shared) as file:
        for record in records:
            file.write(record)
    return file.result()


def write(
    place: Folder, all_slots: list[Slot], checkpoint_id: int, contents: str
) -> dict[int, StateFile]:
    return {slot.index: _write_slot(place, slot, checkpoint_id, contents) for slot in all_slots}


def _write_slot(place: Folder, slot: Slot, checkpoint_id: int, contents: str) -> StateFile:
    state = slot.state(checkpoint_id, contents)
    name = file_name(contents, checkpoint_id, slot.index)
    file = write_file(place, name, records_of(slot.index, state), shared=contents != WHOLE)
    state.note_taken()
    return file


def finish(place: Folder, checkpoint_id: int, files: list[StateFile]) -> Metadata:
    return complete(
        place,
        checkpoint_id=checkpoint_id,
        job_id="j",
        job_name="job",
        time=7,
        savepoint=False,
        files=files,
        committables=[("sink", checkpoint_id)],
    )


def stages(parallelism: int) -> tuple[StagePlan, ...]:
    operator = OperatorPlan(0, "op", Operator(), "op", MAXIMUM, state_id="op")
    chain = OperatorChainPlan((operator,), source=NoSplits(), source_id="src")
    return (StagePlan((VertexPlan("r", parallelism, 0, (chain,)),)),)


def restored(place: Folder, parallelism: int) -> list[Slot]:
    metadata = read_metadata(place)
    verify(place, metadata)
    again = slots(parallelism)
    for slot in again:
        whole = read_states(place, metadata)
        found = shares(stages(parallelism), slot.index, whole, metadata.checkpoint_id)
        slot.restore(found[slot.index])
    return again


def content(all_slots: list[Slot]) -> tuple[set[Any], list[Any]]:
    entries, timers = set(), []
    for slot in all_slots:
        for group, piece in slot.backend.snapshot().items():
            assert subtask_of_key_group(group, MAXIMUM, len(all_slots)) == slot.index
            entries |= {(name, space, key, repr(v)) for name, space, key, v in piece.entries}
            timers += piece.timers
    return entries, sorted(timers, key=repr)
