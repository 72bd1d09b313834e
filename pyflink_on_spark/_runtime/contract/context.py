"""What the runtime gives to an operator when it opens it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.connector.split_times import SplitTimes
from pyflink_on_spark._runtime.state.operator_state import OperatorState

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.runtime_context import RuntimeContext
    from pyflink_on_spark._runtime.contract.task_info import TaskInfo
    from pyflink_on_spark._runtime.elements.clock import Clock
    from pyflink_on_spark._runtime.elements.cursor import Cursor
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


@dataclass
class OperatorContext:
    """What an operator may use between its ``open`` and its ``close``.

    Args:
        task: who the subtask is.
        cursor: the element in flight; shared by the operators of a chain.
        clock: processing time.
        side_output: ``side_output(tag_id, value)`` emits with the cursor's timestamp.
        driver: ``driver(channel)`` gives a function that sends a list of things to the driver.
        keyed_state: the state of the keys of this subtask; None for an operator that is not keyed.
        operator_state: the operator's state that belongs to no key.
        restored: the number of the checkpoint that the state comes from; None at a fresh start.
        copied: whether that is a savepoint, whose job may continue beside this one.
        runtime_context: what the user's functions get in ``open``.
        checkpointed: whether the job makes checkpoints.
        head_state: the keyed state of the operator that heads the chain of Python operators that
            this one is in, and whose event time it sees.
        split_times: takes event times to the reader of a source; one for each subtask.
        asks: whether the driver hands out splits to readers that ask.
    """

    task: TaskInfo
    cursor: Cursor
    clock: Clock
    side_output: Callable[[str, Any], None]
    driver: Callable[[str], Callable[[list[Any]], None]]
    keyed_state: KeyedStateBackend | None
    runtime_context: RuntimeContext
    operator_state: OperatorState = field(default_factory=OperatorState)
    restored: int | None = None
    copied: bool = False
    checkpointed: bool = False
    head_state: KeyedStateBackend | None = None
    split_times: SplitTimes = field(default_factory=SplitTimes)
    asks: bool = False
