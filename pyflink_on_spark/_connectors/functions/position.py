"""The position of a source function, for a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from pyflink_on_spark._connectors.functions.event_queue import Item
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, redistribute


@dataclass(slots=True)
class FunctionPosition:
    """The position of the function of one subtask. Picklable.

    Args:
        subtask: the index of the subtask.
        returned: whether ``run`` has returned; it is then not called again.
        state: the state of the function.
        waiting: the items that the function has emitted before this state, and that ``poll`` has
            not returned.
    """

    subtask: int
    returned: bool
    state: OperatorSnapshot = field(default_factory=OperatorSnapshot)
    waiting: list[Item] = field(default_factory=list)


class SealedPosition:
    """A position that later changes of the function's objects do not affect.

    Unpickled, it is a FunctionPosition again.

    Args:
        position: the position, which must not change during this call.
    """

    __slots__ = ("_content",)

    def __init__(self, position: FunctionPosition) -> None:
        self._content = serialize(position)

    def __reduce__(self) -> tuple[Any, ...]:
        return deserialize, (self._content,)


def share_of(
    positions: Sequence[FunctionPosition], subtask: int, parallelism: int
) -> FunctionPosition:
    """Return the position from which a subtask resumes.

    With another parallelism every function runs again, unless all have returned. Waiting elements
    are then distributed without watermarks, which are only valid for the function that has emitted
    them.

    Args:
        positions: the positions of all former subtasks.
        subtask: the index of the subtask.
        parallelism: the present number of subtasks.
    """
    known = sorted(positions, key=attrgetter("subtask"))
    if len(known) == parallelism:
        state = redistribute([position.state for position in known], parallelism)[subtask]
        return FunctionPosition(subtask, known[subtask].returned, state, known[subtask].waiting)
    running = [position.state for position in known if not position.returned]
    waiting: list[Item] = [
        item
        for position in known[subtask::parallelism]
        for item in position.waiting
        if type(item) is tuple
    ]
    state = redistribute(running, parallelism)[subtask]
    return FunctionPosition(subtask, not running, state, waiting)
