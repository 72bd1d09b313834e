"""map, flat_map and filter on a stream without key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.operators.function_loop import OneCall
from pyflink_on_spark._runtime.operators.rich_function import UdfOperator
from pyflink_on_spark._runtime.types import print_text
from pyflink_on_spark._runtime.user_code.user_function import UserFunction


class FunctionOperator(UdfOperator):
    """An operator around one user function.

    Args:
        function: its object has the method that ``method`` names.
    """

    method: str = ""

    def __init__(self, function: UserFunction) -> None:
        self.function = function
        self._loaded: Any = None

    def open(self, context: OperatorContext) -> None:
        """Load and open the user's function."""
        self._loaded = self.function.load()
        self._open_function(self._loaded, context)
        self.call: Any = getattr(self._loaded, self.method)

    def close(self) -> None:
        """Close the user's function."""
        if self._loaded is not None:
            self._close_function(self._loaded)


class MapOperator(FunctionOperator, OneCall):
    """One element for each."""

    method = "map"
    line = "{result} = {call}({value})"


class FlatMapOperator(FunctionOperator, OneCall):
    """Any number of elements for each."""

    method = "flat_map"
    line = "for {result} in {call}({value}):"


class FilterOperator(FunctionOperator, OneCall):
    """Those elements for which the function is true."""

    method = "filter"
    line = "if not {call}({value}): continue"


class ProjectOperator(Operator):
    """Some fields of each tuple, as a tuple.

    Args:
        positions: which fields, in their new order.
    """

    def __init__(self, positions: tuple[int, ...]) -> None:
        self._positions = positions

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the shorter tuples."""
        positions = self._positions
        return (tuple([value[position] for position in positions]) for value in elements)


class TextOperator(Operator):
    """Makes the text of each element that ``print`` shows.

    Args:
        type_info: the declared type of the stream.
    """

    def __init__(self, type_info: Any) -> None:
        self._type_info = type_info

    def open(self, context: OperatorContext) -> None:
        """Compile the rendering."""
        self._text = print_text(self._type_info)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the texts."""
        text = self._text
        for value in elements:
            yield text(value)
