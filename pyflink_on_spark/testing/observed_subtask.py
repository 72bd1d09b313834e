"""A subtask whose side outputs a test sees, also those that nothing consumes."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.elements.immutability import serialize
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark._runtime.task.subtask_builder import SubtaskBuilder
from pyflink_on_spark.testing.output import SIDE_CHANNEL, SideRecord


class _ObservedBuilder(SubtaskBuilder):
    def _context(self, *args: Any) -> OperatorContext:
        context = super()._context(*args)
        emit, tell, cursor = context.side_output, context.driver(SIDE_CHANNEL), context.cursor

        def side_output(tag_id: str, value: Any) -> None:
            tell([SideRecord(tag_id, serialize(value), cursor.timestamp)])
            emit(tag_id, value)

        context.side_output = side_output
        return context


class ObservedSubtask(Subtask):
    """A subtask that sends what goes to side outputs to the test."""

    builder = _ObservedBuilder
