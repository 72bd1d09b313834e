"""Counts the elements that operators drop because the watermark has passed them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext

_DROPPED = "numLateRecordsDropped"
_RATE = "lateRecordsDroppedRate"
_LATENCY = "watermarkLatency"


class LateRows:
    """The metrics about late elements of an operator, under the names that they have in Flink.

    Args:
        context: the operator's.
        input_name: which of two inputs the elements come from; empty for the only one.
        rate: whether there is a rate, too.
    """

    def __init__(
        self, context: OperatorContext, input_name: str = "", *, rate: bool = False
    ) -> None:
        group = context.runtime_context.get_metrics_group()
        self._counter = group.counter(_name(input_name, _DROPPED))
        self._meter = group.meter(_name(input_name, _RATE)) if rate else None

    def drop(self) -> None:
        """Count an element that is dropped."""
        self._counter.inc()
        if self._meter is not None:
            self._meter.mark_event()


def register_watermark_latency(context: OperatorContext, watermark: Callable[[], int]) -> None:
    """Register the time (ms) from an operator's watermark to the clock's now.

    Args:
        context: the operator's.
        watermark: returns the operator's watermark (ms).
    """
    now = context.clock.now

    def latency() -> int:
        reached = watermark()
        return 0 if reached < 0 else now() - reached

    context.runtime_context.get_metrics_group().gauge(_LATENCY, latency)


def _name(input_name: str, name: str) -> str:
    return input_name + name[0].upper() + name[1:] if input_name else name
