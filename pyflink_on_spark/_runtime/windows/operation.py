"""What windows of one operator share: the user's parts, and where results go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._runtime.elements.keys import unwrap_key
from pyflink_on_spark._runtime.operators.late_rows import LateRows
from pyflink_on_spark._runtime.operators.process import IS_TAG
from pyflink_on_spark._runtime.windows.contexts import AssignerContext, FunctionContext

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.state.backend import KeyedStateBackend


class WindowDescription(Protocol):
    """What a window operation consists of; the mirror's WindowOperationDescriptor is one."""

    assigner: Any
    trigger: Any
    allowed_lateness: int
    late_data_output_tag: Any
    window_state_descriptor: Any
    window_serializer: Any
    internal_window_function: Any


@dataclass(frozen=True)
class WindowGrid:
    """Windows of event time at regular distances. All in ms.

    Args:
        size: how long they are.
        slide: the distance between the starts of two.
        offset: a time at which one starts, if it were long ago or to come.
    """

    size: int
    slide: int
    offset: int


class WindowOperation:
    """The parts of an operation in a subtask.

    Args:
        description: the parts, loaded.
        context: of the operator.
        backend: the keyed state of the operator.
        merging: whether windows merge.
        passes_through: whether the contents themselves are the result, without a function.
    """

    def __init__(
        self,
        description: WindowDescription,
        context: OperatorContext,
        backend: KeyedStateBackend,
        *,
        merging: bool,
        passes_through: bool,
    ) -> None:
        self.assigner = description.assigner
        self.trigger = description.trigger
        self.lateness = description.allowed_lateness
        self.contents = description.window_state_descriptor
        self.batch = context.task.batch
        self.event_time: bool = description.assigner.is_event_time()
        self.merging = merging
        self.passes_through = passes_through
        self.backend = backend
        self.timers = backend.timers
        self.cursor = context.cursor
        self.runtime_context = context.runtime_context
        self.assigner_context = AssignerContext(context.clock, context.runtime_context)
        self._late = LateRows(context)
        self._side_output: Callable[[str, Any], None] = context.side_output
        tag = description.late_data_output_tag
        self._late_tag: str | None = None if tag is None else tag.tag_id
        function = description.internal_window_function
        self._function = None if passes_through else function
        self._function_context = FunctionContext(backend, merging)

    def emit(self, window: Any, contents: Any, timestamp: int | None) -> Iterator[Any]:
        """Yield the results of the current key's window, with a timestamp in ms."""
        cursor = self.cursor
        if self._function is None:
            cursor.timestamp = timestamp
            yield contents
            return
        context = self._function_context
        context.window = window
        key = unwrap_key(self.backend.key)
        cursor.timestamp = timestamp
        for result in self._function.process(key, window, context, contents):
            cursor.timestamp = timestamp
            if type(result) is tuple and len(result) == 2 and IS_TAG[type(result[0])]:
                self._side_output(result[0].tag_id, result[1])
            else:
                yield result

    def clear(self, window: Any) -> None:
        """Let the user's function clear what it keeps for the current key's window."""
        if self._function is not None:
            self._function_context.window = window
            self._function.clear(window, self._function_context)

    def too_late(self, value: Any, timestamp: int | None) -> None:
        """Put an element that belongs to no window any more into its side output, or count it."""
        if self._late_tag is None:
            self._late.drop()
        else:
            self.cursor.timestamp = timestamp
            self._side_output(self._late_tag, value)

    def cleanup_time(self, window: Any) -> int:
        """Return when a window is cleared (ms); 2**63 - 1 for never.

        Raises:
            OverflowError: if the window ends after all time.
        """
        last: int = window.max_timestamp()
        if last > MAX_WATERMARK:
            raise OverflowError(
                f"{window} ends after the largest timestamp, {MAX_WATERMARK}. "
                "In BATCH mode the results of reduce, sum and the like have that timestamp."
            )
        if not self.event_time:
            return last
        if self.lateness < 0:
            return MAX_WATERMARK  # nonsense, which PyFlink takes for an overflow
        return min(last + self.lateness, MAX_WATERMARK)
