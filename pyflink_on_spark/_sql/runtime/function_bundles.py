"""Operators whose user functions see some rows before results come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from pyflink_on_spark._runtime.elements.bundle import MAX_WATERMARK
from pyflink_on_spark._sql.runtime.program_operator import KeyedProgramOperator, ProgramOperator


@dataclass
class FunctionBundle:
    """The elements for which results are still to come.

    Args:
        size: how many elements complete it.
        milliseconds: how long after its first element it is complete.
    """

    size: int
    milliseconds: int
    elements: list[Any] = field(default_factory=list)
    begun: int = 0

    def take(self) -> Iterator[Any]:
        """Return its elements, and begin the next bundle."""
        elements, self.elements = self.elements, []
        return iter(elements)


class BundlingOperator(ProgramOperator):
    """Lets elements wait until a bundle of them is complete, and processes it at once.

    A bundle is complete at a barrier and at the end of the input as well. Watermarks between its
    elements come before its results, which have no times.

    Args:
        bundle: how large bundles are.
    """

    def __init__(self, bundle: FunctionBundle | None) -> None:
        self._bundle = bundle
        self._now: Callable[[], int] = int

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of the bundles that are complete."""
        bundle = self._bundle
        if bundle is None:
            yield from self.process_bundle(elements)
            return
        while True:
            part = list(islice(elements, bundle.size - len(bundle.elements)))
            if not part:
                return
            if not bundle.elements:
                bundle.begun = self._now()
            bundle.elements += part
            if len(bundle.elements) >= bundle.size:
                yield from self.process_bundle(bundle.take())

    def process_bundle(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the results of some elements."""
        raise NotImplementedError

    def finish_bundle(self) -> Iterable[Any]:
        """Yield the results of the elements that wait."""
        if self._bundle is None or not self._bundle.elements:
            return ()
        return self.process_bundle(self._bundle.take())

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Finish the bundle before the last watermark."""
        return self.finish_bundle() if watermark == MAX_WATERMARK else ()

    def advance_processing_time(self, now: int) -> Iterable[Any]:
        """Finish a bundle that has waited long enough."""
        yield from super().advance_processing_time(now)
        bundle = self._bundle
        if bundle is None or now - bundle.begun < bundle.milliseconds:
            return
        yield from self.finish_bundle()

    def end_input(self) -> Iterable[Any]:
        """Finish the bundle."""
        return self.finish_bundle()

    def prepare_barrier(self) -> Iterable[Any]:
        """Finish the bundle."""
        return self.finish_bundle()


class KeyedBundlingOperator(BundlingOperator, KeyedProgramOperator):
    """Lets elements with keys wait until a bundle of them is complete."""
