"""The last operator of a branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark._runtime.contract.operator import Operator, OperatorContext
from pyflink_on_spark._runtime.state.operator_state import OperatorSnapshot

WRITER = "_writer"
"""The name of the state with the snapshots of writers."""


def writer_snapshots(states: Iterable[OperatorSnapshot]) -> list[Any]:
    """Return the writers' snapshots among the operator snapshots of a checkpoint."""
    return [thing for state in states for thing in state.split.get(WRITER, ())]


class SinkOperator(Operator):
    """Hands its elements to one subtask's writer of a sink.

    Args:
        sink: the sink.
        sink_id: its number in the job, by which the driver knows what to commit where.
    """

    def __init__(self, sink: Sink, sink_id: int) -> None:
        self._sink = sink
        self.sink_id = sink_id
        self._writer: SinkWriter | None = None
        self._prepared: list[Any] = []

    def place(self, job: str, operator: str) -> Sink:
        """Place the sink in its job; for the arguments see ``Sink.in_place``."""
        self._sink = self._sink.in_place(job, operator)
        return self._sink

    def open(self, context: OperatorContext) -> None:
        """Make the writer."""
        self._writer = self._sink.writer(context)
        self._in_progress = context.operator_state.list_state(WRITER)
        self._writer.restore(self._in_progress.get())

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Write everything; nothing comes out."""
        assert self._writer is not None
        self._writer.write(elements)
        return iter(())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Advance the watermark of the writer."""
        assert self._writer is not None
        self._writer.advance_watermark(watermark)
        return ()

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Advance the processing time of the writer."""
        assert self._writer is not None
        self._writer.advance_processing_time(now)
        return ()

    def end_input(self) -> Iterable[Any]:
        """Prepare the last committables."""
        assert self._writer is not None
        self._prepared += self._writer.prepare_commit()
        return ()

    def snapshot_state(self, checkpoint_id: int) -> None:
        """Prepare the committables of the checkpoint, and save the state of the writer."""
        assert self._writer is not None
        self._prepared += self._writer.prepare_checkpoint(checkpoint_id)
        self._in_progress.update(self._writer.snapshot())

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        """Notify the writer of a complete checkpoint."""
        assert self._writer is not None
        self._writer.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        """Notify the writer of an aborted checkpoint."""
        assert self._writer is not None
        self._writer.notify_checkpoint_aborted(checkpoint_id)

    def committables(self) -> list[Any]:
        """Return the committables for the driver: pairs of the sink's number and a committable."""
        prepared, self._prepared = self._prepared, []
        return [(self.sink_id, committable) for committable in prepared]

    def close(self) -> None:
        """Close the writer."""
        if self._writer is not None:
            self._writer.close()

    def parts(self) -> Iterable[Any]:
        """Return the writer."""
        return () if self._writer is None else (self._writer,)
