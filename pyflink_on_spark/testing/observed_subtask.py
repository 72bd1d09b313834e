"""A subtask that lets a test look at its state, and at side outputs that nothing consumes."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._runtime.immutability import serialize
from pyflink_on_spark._runtime.operators.context import OperatorContext
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.task.subtask import Subtask
from pyflink_on_spark.testing.output import SIDE_CHANNEL, SideRecord


class ObservedSubtask(Subtask):
    """A subtask; ``keyed_states`` are those of its operators. For its arguments see ``Subtask``."""

    def __init__(self, *args: Any) -> None:
        self.keyed_states: list[KeyedStateBackend] = []
        super().__init__(*args)

    def report_metrics(self) -> None:
        """Tell the driver what metrics are worth now, without waiting for the time to do so."""
        self._report_metrics()

    def _context(self, *args: Any) -> OperatorContext:
        context = super()._context(*args)
        if context.keyed_state is not None:
            self.keyed_states.append(context.keyed_state)
        emit, tell, cursor = context.side_output, context.driver(SIDE_CHANNEL), context.cursor

        def side_output(tag_id: str, value: Any) -> None:
            tell([SideRecord(tag_id, serialize(value), cursor.timestamp)])
            emit(tag_id, value)

        context.side_output = side_output
        return context
