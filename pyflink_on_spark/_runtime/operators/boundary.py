"""What happens to elements where PyFlink would serialise them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyflink_on_spark._runtime.context import OperatorContext
from pyflink_on_spark._runtime.isolation import isolated
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.types import boundary_converter, collect_converter


class ConvertOperator(Operator):
    """Makes elements what their declared type says.

    Args:
        type_info: the declared type.
        collected: whether they go to the driver's program, and not to another function.
    """

    def __init__(self, type_info: Any, collected: bool = False) -> None:
        self._type_info = type_info
        self._collected = collected

    def open(self, context: OperatorContext) -> None:
        """Compile the conversion."""
        make = collect_converter if self._collected else boundary_converter
        self._convert = make(self._type_info)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the converted elements."""
        return elements if self._convert is None else self._convert(elements)


class IsolateOperator(Operator):
    """Makes sure that an element does not change any more."""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements as they are now."""
        return isolated(elements)
