"""What a checkpoint has of a subtask. Picklable."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot
from pyflink_on_spark._runtime.state.snapshot import KeyGroupState, StateChunks, StateFiles


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
    sources: dict[str, list[Any]] = field(default_factory=dict)
    savepoint: bool = False

    @property
    def entries(self) -> int:
        """How many entries of keyed state there are, of those that are not made yet."""
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
