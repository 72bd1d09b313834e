"""map, flat_map and filter on a stream without key."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any

from pyflink_on_spark._runtime.operators.context import OperatorContext
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.rich_function import UdfOperator
from pyflink_on_spark._runtime.types import print_text
from pyflink_on_spark._runtime.user_code.user_function import UserFunction, close_function, code_of


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
        self._call: Any = getattr(self._loaded, self.method)

    def close(self) -> None:
        """Close the user's function."""
        if self._loaded is not None:
            close_function(self._loaded)

    def code_of_functions(self) -> Iterable[Any]:
        """Return the user's method."""
        return () if self._loaded is None else (getattr(self._loaded, self.method, None),)

    def results(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield what the function makes of each element.

        A function without Python code leaves no frame in a traceback: then one of ours, which
        holds the element, has to be there.
        """
        if code_of(self._call) is not None:
            return map(self._call, elements)
        return self._with_frame(elements)

    def _with_frame(self, elements: Iterator[Any]) -> Iterator[Any]:
        call = self._call
        for value in elements:
            yield call(value)


class MapOperator(FunctionOperator):
    """One element for each."""

    method = "map"

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the function's results."""
        return self.results(elements)


class FlatMapOperator(FunctionOperator):
    """Any number of elements for each."""

    method = "flat_map"

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield what is in the function's results."""
        return chain.from_iterable(self.results(elements))


class FilterOperator(FunctionOperator):
    """Those elements for which the function is true."""

    method = "filter"

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements to be kept."""
        if code_of(self._call) is not None:
            return filter(self._call, elements)
        return self._kept(elements)

    def _kept(self, elements: Iterator[Any]) -> Iterator[Any]:
        call = self._call
        for value in elements:
            if call(value):
                yield value


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
