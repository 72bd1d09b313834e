"""Joins of two tables that end."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator, Process
from pyflink_on_spark._sql.codegen.program import Program

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class BatchJoinOperator(Operator):
    """Joins the rows of both sides at the end.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        outer: whether rows without partners are kept, for both sides.
        null_keys: for each side a function that tells whether a key has NULL, or None.
    """

    frozen = True

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        outer: tuple[bool, bool],
        null_keys: tuple[Program | None, Program | None],
    ) -> None:
        self._condition, self._widths = condition, widths
        self._outer, self._null_keys = outer, null_keys

    def open(self, context: OperatorContext) -> None:
        """Compile the functions."""
        self._matches: Callable[[Any, Any], Any] = lambda left, right: True
        if self._condition is not None:
            self._matches = self._condition.load(context).function
        self._has_null = [
            None if program is None else program.load(context).function
            for program in self._null_keys
        ]
        self._lefts: list[Any] = []
        self._rights: dict[Any, list[Any]] = {}
        self._alone: list[Any] = []

    def inputs(self) -> tuple[Process, ...]:
        """Return what processes the elements of each input."""
        return self._take_left, self._take_right

    def _take_left(self, elements: Iterator[Any]) -> Iterator[Any]:
        self._lefts += elements
        return iter(())

    def _take_right(self, elements: Iterator[Any]) -> Iterator[Any]:
        has_null = self._has_null[1]
        for key, row in elements:
            if has_null is not None and has_null(row):
                self._alone.append(row)
            else:
                self._rights.setdefault(key, []).append([row, False])
        return iter(())

    def end_input(self) -> Iterable[Any]:
        """Yield the pairs, and what has no partner."""
        left_pad, right_pad = ((None,) * width for width in self._widths)
        for row, found in self._matched():
            for other in found:
                other[1] = True
                yield row + other[0]
            if not found and self._outer[0]:
                yield row + right_pad
        if self._outer[1]:
            for rows in self._rights.values():
                for row, joined in rows:
                    if not joined:
                        yield left_pad + row
            for row in self._alone:
                yield left_pad + row

    def _matched(self) -> Iterator[tuple[Any, list[Any]]]:
        """Yield the left rows, each with its partners."""
        has_null = self._has_null[0]
        for key, row in self._lefts:
            partners = () if has_null is not None and has_null(row) else self._rights.get(key, ())
            yield row, [other for other in partners if self._matches(row, other[0])]


class BatchSemiJoinOperator(BatchJoinOperator):
    """Gives the left rows that have partners, or those that have none, at the end.

    Args:
        condition: a function of a left and a right row, or None for all pairs of a key.
        widths: how many columns the rows of both sides have.
        anti: whether rows without partners come out.
        null_keys: for each side a function that tells whether a key has NULL, or None.
    """

    def __init__(
        self,
        condition: Program | None,
        widths: tuple[int, int],
        anti: bool,
        null_keys: tuple[Program | None, Program | None],
    ) -> None:
        super().__init__(condition, widths, (False, False), null_keys)
        self._anti = anti

    def end_input(self) -> Iterable[Any]:
        """Yield the rows."""
        for row, found in self._matched():
            if bool(found) is not self._anti:
                yield row
