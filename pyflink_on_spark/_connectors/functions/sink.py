"""The sink around a sink function."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.bundle import MIN_TIMESTAMP
from pyflink_on_spark._runtime.user_code.function_checkpoints import FunctionCheckpoints
from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.user_code.user_function import UserFunction, close_function, open_function

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.clock import Clock
    from pyflink_on_spark._runtime.cursor import Cursor
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class SinkContext:
    """What ``invoke`` gets besides the element.

    Args:
        cursor: has the element's timestamp.
        clock: processing time.
    """

    __slots__ = ("_clock", "_cursor", "watermark")

    def __init__(self, cursor: Cursor, clock: Clock) -> None:
        self._cursor, self._clock = cursor, clock
        self.watermark = MIN_TIMESTAMP

    def timestamp(self) -> int | None:
        """Return the element's timestamp in ms, or None."""
        return self._cursor.timestamp

    def current_watermark(self) -> int:
        """Return the event time in ms; -2**63 before the first watermark."""
        return self.watermark

    def current_processing_time(self) -> int:
        """Return the clock's time in ms."""
        return self._clock.now()


class FunctionSink(Sink):
    """Calls ``invoke`` of a function for each element.

    Args:
        function: the user's.
    """

    def __init__(self, function: UserFunction) -> None:
        self._function = function

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return what calls the function of one subtask, opened."""
        return _FunctionWriter(self._function.load(), context)


class _FunctionWriter(SinkWriter):
    def __init__(self, function: Any, context: OperatorContext) -> None:
        self._function = function
        self._sink_context = SinkContext(context.cursor, context.clock)
        self._checkpoints = FunctionCheckpoints(function, context)
        self._checkpoints.initialize()
        open_function(function, context.runtime_context)

    def write(self, elements: Iterator[Any]) -> None:
        invoke, context = self._function.invoke, self._sink_context
        for value in elements:
            invoke(value, context)

    def advance_watermark(self, watermark: int) -> None:
        self._sink_context.watermark = watermark

    def prepare_commit(self) -> list[Any]:
        self._function.finish()
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[Any]:
        self._checkpoints.snapshot(checkpoint_id)
        return []

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._checkpoints.complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self._checkpoints.aborted(checkpoint_id)

    def close(self) -> None:
        close_function(self._function)

    def code_of_functions(self) -> Iterable[Any]:
        return (self._function.invoke, self._function.finish)
