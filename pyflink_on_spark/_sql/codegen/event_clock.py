"""The watermark of the operator that computes an expression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._sql.codegen.program import Binding

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class EventClock:
    """Knows the watermark, if its operator sets it."""

    watermark: int | None = None
    """In ms."""

    def micros(self) -> int | None:
        """Return the watermark in microseconds; None before the first one.

        Raises:
            RuntimeError: the operator does not set it.
        """
        if self.watermark is None:
            raise RuntimeError("CURRENT_WATERMARK has a value in SELECT and WHERE only")
        return None if self.watermark == MIN_TIMESTAMP else self.watermark * 1000


class EventClockBinding(Binding):
    """Makes the clock of a subtask."""

    def load(self, context: OperatorContext | None) -> Any:
        """Return the clock."""
        return EventClock()
