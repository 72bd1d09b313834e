"""Drives one operator by hand: elements in, results and their timestamps out."""

from __future__ import annotations

import pickle
from typing import Any

from pyflink_on_spark._runtime.contract.operator import OperatorContext, RuntimeContext, TaskInfo
from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK, Cursor, timed
from pyflink_on_spark._runtime.elements.immutability import wrap_key
from pyflink_on_spark._runtime.state.backend import KeyedStateBackend
from pyflink_on_spark._runtime.state.operator_state import OperatorState


class FakeClock:
    """A clock that stands still until a test moves it."""

    def __init__(self, time: int = 0) -> None:
        self.time = time

    def now(self) -> int:
        return self.time


class Tag:
    """The part of an OutputTag that the runtime uses."""

    _is_output_tag = True

    def __init__(self, tag_id: str) -> None:
        self.tag_id = tag_id


class Harness:
    """An opened operator.

    Args:
        operator: travels through pickle first, as on its way to a worker.
        batch: whether the job has BATCH semantics.
        backend: keyed state, for example one that was restored.
        operator_state: state without keys, for example one that was restored.
        restored: the checkpoint that the states are from.
    """

    def __init__(
        self,
        operator: Any,
        batch: bool = False,
        backend: KeyedStateBackend | None = None,
        operator_state: OperatorState | None = None,
        restored: int | None = None,
    ) -> None:
        self.operator = pickle.loads(pickle.dumps(operator))
        self.clock = FakeClock()
        self.backend = backend or KeyedStateBackend(self.clock, track_changes=False)
        self.operator_state = operator_state or OperatorState()
        self.cursor = Cursor()
        self.side: list[tuple[str, Any, int | None]] = []
        self.timestamps: list[int | None] = []
        task = TaskInfo("task", 0, 1, batch=batch)
        self._heads = self.operator.inputs()
        self.operator.open(
            OperatorContext(
                task=task,
                cursor=self.cursor,
                clock=self.clock,
                side_output=lambda tag, value: self.side.append(
                    (tag, value, self.cursor.timestamp)
                ),
                driver=lambda channel: lambda things: None,
                keyed_state=self.backend if self.operator.keyed else None,
                runtime_context=RuntimeContext(task, self.backend if self.operator.keyed else None),
                operator_state=self.operator_state,
                restored=restored,
            )
        )

    def feed(self, *elements: Any, port: int = 0, at: list[int] | None = None) -> list[Any]:
        """Process elements, with timestamps."""
        source: Any = iter(elements)
        self.cursor.timestamp = None
        if at is not None:
            source = timed(elements, at, self.cursor)
        return self._drain(self._heads[port](source))

    def watermark(self, watermark: int) -> list[Any]:
        """Advance event time."""
        return self._drain(self.operator.advance_watermark(watermark))

    def time(self, now: int) -> list[Any]:
        """Advance processing time."""
        self.clock.time = now
        return self._drain(self.operator.advance_processing_time(now))

    def end(self) -> list[Any]:
        """End the input."""
        return self.watermark(MAX_WATERMARK) + self._drain(self.operator.end_input())

    def _drain(self, results: Any) -> list[Any]:
        out = []
        self.timestamps = []
        for result in results:
            out.append(result)
            self.timestamps.append(self.cursor.timestamp)
            self.cursor.timestamp = -99  # whoever comes downstream may move it
        return out


def keyed(*pairs: tuple[Any, Any]) -> list[tuple[Any, Any]]:
    """Return pairs of key and value as the engine has them."""
    return [(wrap_key(key), value) for key, value in pairs]
