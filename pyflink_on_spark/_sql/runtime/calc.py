"""Filters rows and computes columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark._sql.codegen.event_clock import EventClock
from pyflink_on_spark._sql.codegen.program import LoadedProgram, Program

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class CalcOperator(Operator):
    """Runs a compiled generator function over its elements.

    Args:
        program: a function of an iterator that returns an iterator.
    """

    frozen = True

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loaded: LoadedProgram | None = None

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._loaded = self._program.load(context)
        opened = (thing for _, thing in self._loaded.opened)
        self._clocks = [thing for thing in opened if isinstance(thing, EventClock)]
        self.advance_watermark(MIN_TIMESTAMP)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows that are kept, with their new columns."""
        assert self._loaded is not None
        result: Iterator[Any] = self._loaded.function(elements)
        return result

    def advance_watermark(self, watermark: int) -> Iterable[Any]:
        """Tell the functions that ask for the watermark."""
        for clock in self._clocks:
            clock.watermark = watermark
        return ()

    def close(self) -> None:
        """Release what the function uses."""
        if self._loaded is not None:
            self._loaded.close()
