"""Event timestamps and watermarks of elements, and which elements are late."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from pyflink_on_spark._runtime.contract.operator import OperatorContext
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, MIN_TIMESTAMP, Cursor
from pyflink_on_spark._runtime.elements.time import WatermarkRhythm
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.types.codec import time_in_ms
from pyflink_on_spark._runtime.user_code import UserFunction

_DROPPED = "numLateRecordsDropped"
_RATE = "lateRecordsDroppedRate"
_LATENCY = "watermarkLatency"


class AssignTimestamps(FusableOperator):
    """The last operator of its chain: gives elements timestamps, and the chain watermarks.

    The chain's output emits the watermarks, when the job's rhythm says so. It gets elements as they
    are when they are emitted: copies of those that may change.

    Args:
        assigner: the user's TimestampAssigner, or None to keep the timestamps that there are.
        out_of_orderness: how much older (ms) than the largest timestamp an element may be; None for
            no watermarks.
        idle_after: after how long without elements (ms) the stream holds others back no more; None
            for never.
        rhythm: how often a watermark is emitted.
    """

    emits_timestamps = True
    ends_chain = True
    preserves_elements = True

    at_once = False
    """True if ``advances`` checks the results of ``process``, a bundle at a time."""

    def __init__(
        self,
        assigner: UserFunction | None,
        out_of_orderness: int | None,
        idle_after: int | None = None,
        rhythm: WatermarkRhythm | None = None,
    ) -> None:
        self._assigner = assigner
        self._delay = out_of_orderness
        self.idle_after = idle_after
        self.rhythm = rhythm or WatermarkRhythm()
        self._largest = self._handed_on = MIN_TIMESTAMP
        self._timestamps: list[int | None] = []

    def for_job(self, rhythm: WatermarkRhythm) -> AssignTimestamps:
        """Return the same with the job's rhythm."""
        return AssignTimestamps(self._assigner, self._delay, self.idle_after, rhythm)

    def open(self, context: OperatorContext) -> None:
        """Load the user's assigner."""
        self._cursor: Cursor = context.cursor
        self._extract: Any = (
            self._assigner.load().extract_timestamp if self._assigner is not None else None
        )

    @property
    def fusable(self) -> bool:
        """True if timestamps are extracted one by one."""
        return not self.at_once

    def write_lines(self, code: LoopCode) -> None:
        """Note the element's timestamp, which ``take_timestamps`` returns."""
        cursor, note = code.bind("cursor", self._cursor), code.bind("note", self._timestamps.append)
        if self._extract is None:
            code.add(f"{note}({cursor}.timestamp)")
        else:
            time, before = code.new_value(), f"{cursor}.timestamp"
            known = f"({MIN_TIMESTAMP} if {before} is None else {before})"
            code.call(time, "extract_timestamp", self._extract, code.value, known)
            is_int = code.learn_result(time)
            if is_int is None or is_int.kind is not int or is_int.high > MAX_WATERMARK:
                in_ms = f"{code.bind('time_in_ms', time_in_ms)}({time})"
                code.add(
                    f"if type({time}) is not int or {time} > {MAX_WATERMARK}: {time} = {in_ms}"
                )
            code.add(f"{note}({time})")
        code.isolate()

    def timestamps_of(self, values: list[object]) -> list[int | None] | None:
        """Return the timestamps of elements that had none, as ``process`` would give them."""
        extract = self._extract
        if extract is None:
            return [None] * len(values)
        timestamps: list[int | None] = []
        note = timestamps.append
        for value in values:
            timestamp = extract(value, MIN_TIMESTAMP)
            if type(timestamp) is not int:
                timestamp = time_in_ms(timestamp)
            note(timestamp)
        if timestamps:
            self._largest = max(self._largest, time_in_ms(max(timestamps)))  # type: ignore[type-var]
        return timestamps

    def advances(self, values: list[object], emitted: int, most: int) -> Iterator[int]:
        """Note the timestamps of elements; yield after how many of them a watermark is due.

        It is due where it is further from the last one than the rhythm says.

        Args:
            values: the elements that come next.
            emitted: the last watermark (ms).
            most: how often to yield.
        """
        return iter(())

    def take_timestamps(self) -> list[int | None]:
        """Return, once, the timestamps of the elements that were yielded."""
        taken = self._timestamps[:]
        self._timestamps.clear()
        known: Any = taken
        if self._extract is None:
            known = [time for time in taken if time is not None]
        self._largest = max(self._largest, max(known, default=MIN_TIMESTAMP))
        return taken

    def handed_on(self) -> None:
        """Note that all elements so far were handed on: the watermark follows them."""
        self._handed_on = self._largest

    @property
    def watermark(self) -> int:
        """The event time (ms) that the elements handed on so far have reached."""
        if self._delay is None or self._handed_on == MIN_TIMESTAMP:
            return MIN_TIMESTAMP
        return self._handed_on - self._delay - 1


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
