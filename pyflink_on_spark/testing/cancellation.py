"""Ending a job from outside, without waiting for the end of a bundle."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from pyflink_on_spark._runtime.contract.connector import Source, SourceReader, SplitEnumerator
from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.contract.plan import OperatorChainPlan, StagePlan, VertexPlan
from pyflink_on_spark._runtime.diagnosis.failure import Interruption
from pyflink_on_spark._runtime.elements.bundle import Bundle, ChannelStatus, Watermark
from pyflink_on_spark.testing.same_process import SameProcess


class Cancelled(Interruption):
    """Goes through everything up to the job; no ``except Exception`` may hold it up."""


class Cancellation(SameProcess):
    """The cancellation of a job."""

    def __init__(self) -> None:
        super().__init__()
        self._event = threading.Event()
        self._drawn: weakref.WeakValueDictionary[int, _Watched] = weakref.WeakValueDictionary()

    def cancel(self) -> None:
        """Ask the job to end."""
        self._event.set()
        for reference in self._drawn.valuerefs():
            elements = reference()
            if elements is not None:
                elements.clear()

    def empty_when_cancelled(self, elements: _Watched) -> None:
        """Remove all elements of a list as soon as the job is cancelled.

        Raises:
            Cancelled: if it was.
        """
        self._drawn[id(elements)] = elements
        self.check()

    def __bool__(self) -> bool:
        return self._event.is_set()

    def check(self) -> None:
        """Raise if the job was cancelled.

        Raises:
            Cancelled: if it was.
        """
        if self._event.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> None:
        """Wait some time, or until the job is cancelled."""
        self._event.wait(seconds)


def cancellable(stages: Sequence[StagePlan], cancellation: Cancellation) -> list[StagePlan]:
    """Return a job's stages with sources that stop between two elements."""

    def chain(plan: OperatorChainPlan) -> OperatorChainPlan:
        if plan.source is None:
            return plan
        return replace(plan, source=_CancellableSource(plan.source, cancellation))

    def vertex(plan: VertexPlan) -> VertexPlan:
        return replace(plan, chains=tuple(map(chain, plan.chains)))

    return [StagePlan(tuple(map(vertex, stage.vertices))) for stage in stages]


class _CancellableSource(Source):
    def __init__(self, source: Source, cancellation: Cancellation) -> None:
        self._source, self._cancellation = source, cancellation
        self.asked = source.asked

    def splits(self, parallelism: int) -> list[Any]:
        return self._source.splits(parallelism)

    def enumerator(self, restored: Sequence[Any] | None) -> SplitEnumerator:
        return self._source.enumerator(restored)

    def reader(
        self, splits: Sequence[Any], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        reader = self._source.reader(splits, restored, context)
        return _CancellableReader(reader, self._cancellation)


class _CancellableReader(SourceReader):
    def __init__(self, reader: SourceReader, cancellation: Cancellation) -> None:
        self._reader, self._cancellation = reader, cancellation

    @property
    def ended(self) -> bool:  # type: ignore[override]
        return self._reader.ended

    def poll(self) -> Bundle | Watermark | ChannelStatus | None:
        self._reader.limit = self.limit
        event = self._reader.poll()
        if isinstance(event, Bundle):
            values = _Watched(event.values, self._cancellation)
            return Bundle(values, event.timestamps, event.keys)
        return event

    def splits_wanted(self) -> int:
        return self._reader.splits_wanted()

    def add_splits(self, splits: Sequence[Any], *, at_once: bool) -> None:
        self._reader.add_splits(splits, at_once=at_once)

    def stop(self) -> bool:
        return self._reader.stop()

    def backlog(self) -> int | None:
        return self._reader.backlog()

    def prepare_checkpoint(self, checkpoint_id: int) -> None:
        self._reader.prepare_checkpoint(checkpoint_id)

    def snapshot(self) -> list[Any]:
        return self._reader.snapshot()

    def notify_checkpoint_complete(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_complete(checkpoint_id)

    def notify_checkpoint_aborted(self, checkpoint_id: int) -> None:
        self._reader.notify_checkpoint_aborted(checkpoint_id)

    def close(self) -> None:
        self._reader.close()


class _Watched(list[Any]):
    """Elements that come to an end when the job is cancelled; so do slices of them.

    A look at the cancellation before each element would take longer than a small function. So the
    cancellation empties the lists whose elements are being drawn.
    """

    def __init__(self, values: Iterable[Any], cancellation: Cancellation) -> None:
        super().__init__(values)
        self._cancellation = cancellation

    def __iter__(self) -> Iterator[Any]:
        self._cancellation.empty_when_cancelled(self)
        return chain(super().__iter__(), self._end())

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return _Watched(found, self._cancellation) if isinstance(index, slice) else found

    def _end(self) -> Iterator[Any]:
        self._cancellation.check()
        yield from ()
