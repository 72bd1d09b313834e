"""Gives rows their keys."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.codegen.program import Program

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class KeyBy(Operator):
    """Makes of each element a pair of its key and itself.

    Args:
        program: a function of a row that returns its key.
        changelog: whether elements are pairs of the kind and the row.
    """

    emits_pairs = True
    frozen = True
    preserves_elements = True

    def __init__(self, program: Program, changelog: bool) -> None:
        self._program, self._changelog = program, changelog

    def open(self, context: OperatorContext) -> None:
        """Compile the function."""
        self._key = self._program.load(context).function

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        key = self._key
        if self._changelog:
            return ((key(element[1]), element) for element in elements)
        return ((key(row), row) for row in elements)
