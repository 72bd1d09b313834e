"""The output of the operators under test."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from pyflink_on_spark._runtime.contract.operator import Operator, OperatorContext
from pyflink_on_spark._runtime.elements.bundle import Cursor, Watermark, noting
from pyflink_on_spark._runtime.elements.immutability import deserialize, serialize
from pyflink_on_spark._runtime.task.watermarks import WatermarkValve

MAIN_CHANNEL = "main output"
SIDE_CHANNEL = "side outputs"


@dataclass(frozen=True)
class Record:
    """An element that came out.

    Args:
        value: the element.
        timestamp: its event timestamp in ms, or None.
    """

    value: Any
    timestamp: int | None = None


class SideRecord(NamedTuple):
    """An element, pickled, that went to a side output."""

    tag_id: str
    value: bytes
    timestamp: int | None


class CaptureOperator(Operator):
    """The last operator: tells the test of elements and watermarks."""

    def open(self, context: OperatorContext) -> None:
        """Get ready."""
        self._cursor: Cursor = context.cursor
        self._subtask = context.task.subtask_index
        self._send: Callable[[list[Any]], None] = context.driver(MAIN_CHANNEL)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Send all elements; nothing comes out."""
        timestamps: list[int | None] = []
        values = map(serialize, noting(elements, self._cursor, timestamps))
        for value in values:
            self._send([(value, timestamps.pop())])
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Send the watermark."""
        self._send([(self._subtask, Watermark(watermark))])
        return ()


class Outputs:
    """Collects the output of all subtasks.

    Args:
        parallelism: how many subtasks tell of watermarks.
    """

    def __init__(self, parallelism: int) -> None:
        self.main: list[Record | Watermark] = []
        self.side: dict[str, list[Record]] = {}
        self._valve = WatermarkValve(range(parallelism))

    def take_main(self, things: list[Any]) -> None:
        """Take elements with their timestamps, and watermarks of single subtasks."""
        for thing, more in things:
            if not isinstance(more, Watermark):
                self.main.append(Record(deserialize(thing), more))
                continue
            combined = self._valve.watermark(thing, more.timestamp)
            if combined is not None:
                self.main.append(Watermark(combined))

    def take_side(self, records: list[SideRecord]) -> None:
        """Take elements of side outputs."""
        for record in records:
            values = self.side.setdefault(record.tag_id, [])
            values.append(Record(deserialize(record.value), record.timestamp))

    def clear(self) -> None:
        """Forget the output so far."""
        self.main.clear()
        self.side.clear()
