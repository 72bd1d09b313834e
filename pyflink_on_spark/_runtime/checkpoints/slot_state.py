"""What one slot writes into a checkpoint: the state of its subtasks, in pieces that can move."""

from __future__ import annotations

import pickle
from collections.abc import Iterable
from dataclasses import dataclass, field

from pyflink_on_spark._runtime.isolation import seal, unseal
from pyflink_on_spark._runtime.keys import key_groups_of
from pyflink_on_spark._runtime.plan import LevelPlan, RegionPlan
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, redistribute
from pyflink_on_spark._runtime.subtask_state import OperatorData, SubtaskState


_NOTHING = seal(OperatorSnapshot())


@dataclass(slots=True)
class OperatorPart:
    """The state of one operator in one subtask, pickled piece by piece.

    Args:
        index: which subtask it was.
        max_parallelism: how many key groups there are.
        keyed: each key group's state.
        operator: the state without keys.
    """

    index: int
    max_parallelism: int
    keyed: dict[int, bytes]
    operator: bytes

    def __bool__(self) -> bool:
        return bool(self.keyed) or self.operator != _NOTHING


@dataclass(slots=True)
class SlotState:
    """The state of the subtasks of one slot, or of all of them.

    Args:
        operators: the parts of each operator, by its stable name.
        sources: the positions of each source, by its stable name and subtask.
    """

    operators: dict[str, list[OperatorPart]] = field(default_factory=dict)
    sources: dict[str, dict[int, bytes]] = field(default_factory=dict)

    def add(self, index: int, state: SubtaskState) -> None:
        """Take in a subtask; what it is afterwards does not matter."""
        for name, data in state.operators.items():
            keyed = {group: seal(entries) for group, entries in data.keyed.items()}
            part = OperatorPart(index, data.max_parallelism, keyed, seal(data.operator))
            self.operators.setdefault(name, []).append(part)
        for name, positions in state.sources.items():
            self.sources.setdefault(name, {})[index] = seal(positions)

    def merge(self, other: SlotState) -> None:
        """Take in another slot's state."""
        for name, parts in other.operators.items():
            self.operators.setdefault(name, []).extend(parts)
        for name, positions in other.sources.items():
            self.sources.setdefault(name, {}).update(positions)

    def to_bytes(self) -> bytes:
        """Return it as it is written."""
        operators = {
            name: [(p.index, p.max_parallelism, p.keyed, p.operator) for p in parts]
            for name, parts in self.operators.items()
        }
        return pickle.dumps((operators, self.sources), 5)

    @classmethod
    def from_bytes(cls, content: bytes) -> SlotState:
        """Return what ``to_bytes`` made."""
        operators, sources = pickle.loads(content)
        return cls(
            {name: [OperatorPart(*part) for part in parts] for name, parts in operators.items()},
            sources,
        )


def shares(
    levels: Iterable[LevelPlan], slot: int, whole: SlotState, checkpoint_id: int
) -> dict[int, SubtaskState]:
    """Return what each subtask of a slot gets of a checkpoint, by target.

    Args:
        levels: the job's.
        slot: which subtask of each region.
        whole: the state of all slots, as they were.
        checkpoint_id: the checkpoint's number.
    """
    found: dict[int, SubtaskState] = {}
    for level in levels:
        for region in level.regions:
            if slot < region.parallelism:
                state = _share(region, slot, whole, checkpoint_id)
                found[region.first_target + slot] = state
    return found


def _share(region: RegionPlan, slot: int, whole: SlotState, checkpoint_id: int) -> SubtaskState:
    state = SubtaskState(checkpoint_id)
    for segment in region.segments:
        for plan in segment.operators:
            parts = whole.operators.get(plan.state_id or "")
            if plan.state_id is not None and parts:
                state.operators[plan.state_id] = _operator_share(parts, slot, region.parallelism)
        if segment.source is not None and segment.source_id in whole.sources:
            positions = whole.sources[segment.source_id]
            state.sources[segment.source_id] = [
                position for index in sorted(positions) for position in unseal(positions[index])
            ]
    return state


def _operator_share(parts: list[OperatorPart], slot: int, parallelism: int) -> OperatorData:
    parts = sorted(parts, key=lambda part: part.index)
    maximum = parts[0].max_parallelism
    groups = key_groups_of(slot, parallelism, maximum)
    keyed = {
        group: unseal(part.keyed[group])
        for part in parts
        for group in groups
        if group in part.keyed
    }
    without_keys = redistribute([unseal(part.operator) for part in parts], parallelism)
    return OperatorData(keyed, without_keys[slot], maximum)


def stateful_operators(whole: SlotState) -> dict[str, int]:
    """Return the operators that have any state, and the number of key groups of each."""
    return {name: parts[0].max_parallelism for name, parts in whole.operators.items() if any(parts)}
