"""The sink that calls a sink function."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.functions.context import FunctionSinkContext
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.user_code.user_function import (
    FunctionCheckpoints,
    UserFunction,
    close_function,
    open_function,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.operator import OperatorContext


class FunctionWriter(SinkWriter):
    """Calls a sink function.

    Args:
        function: a copy of the user's function.
        context: the context of the subtask.
    """

    def __init__(self, function: Any, context: OperatorContext) -> None:
        self._function = function
        self._sink_context = FunctionSinkContext(context.cursor, context.clock)
        self._checkpoints = FunctionCheckpoints(function, context)
        self._checkpoints.initialize()
        open_function(function, context.runtime_context)

    def write(self, elements: Iterator[object]) -> None:
        invoke, context = self._function.invoke, self._sink_context
        for value in elements:
            invoke(value, context)

    def advance_watermark(self, watermark: int) -> None:
        self._sink_context.watermark = watermark

    def prepare_commit(self) -> list[object]:
        self._function.finish()
        return []

    def prepare_checkpoint(self, checkpoint_id: int) -> list[object]:
        self._checkpoints.snapshot(checkpoint_id)
        return []

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._checkpoints.complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self._checkpoints.aborted(checkpoint_id)

    def close(self) -> None:
        close_function(self._function)


class FunctionSink(Sink):
    """Calls ``invoke`` of a function for each element.

    Args:
        function: the user's function.
    """

    def __init__(self, function: UserFunction) -> None:
        self._function = function

    def writer(self, context: OperatorContext) -> SinkWriter:
        return FunctionWriter(self._function.load(), context)
