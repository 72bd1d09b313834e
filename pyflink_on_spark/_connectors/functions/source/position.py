"""How far a source function has come, for a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

from pyflink_on_spark._runtime.immutability import serialize, deserialize
from pyflink_on_spark._connectors.functions.source.event_queue import Item
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot, redistribute


@dataclass(slots=True)
class FunctionPosition:
    """The state of one subtask's function. Picklable.

    Args:
        subtask: which one.
        returned: whether ``run`` has returned, so that it must not run again.
        state: what the function keeps.
        waiting: what it has emitted, by its state, and was not handed on yet.
    """

    subtask: int
    returned: bool
    state: OperatorSnapshot = field(default_factory=OperatorSnapshot)
    waiting: list[Item] = field(default_factory=list)


class SealedPosition:
    """A position as it was at one moment, whatever becomes of what is in it.

    Pickled and unpickled it is a FunctionPosition again.

    Args:
        position: nothing may change in it while this is made.
    """

    __slots__ = ("_content",)

    def __init__(self, position: FunctionPosition) -> None:
        self._content = serialize(position)

    def __reduce__(self) -> tuple[Any, ...]:
        return deserialize, (self._content,)


def share_of(
    positions: Sequence[FunctionPosition], subtask: int, parallelism: int
) -> FunctionPosition:
    """Return what a subtask goes on from.

    With another parallelism every function runs again, unless all have returned; what waited is
    dealt out without its watermarks, which hold for the function that emitted them.

    Args:
        positions: of all subtasks.
        subtask: which one it is.
        parallelism: how many there are now.
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
