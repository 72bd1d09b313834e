"""Finds the key of each element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from pyflink_on_spark._runtime.keys import PLAIN_KEY_TYPES, unwrap_key, wrap_key
from pyflink_on_spark._runtime.operators.context import OperatorContext
from pyflink_on_spark._runtime.operators.function_loop import OneCall
from pyflink_on_spark._runtime.operators.operator import Operator
from pyflink_on_spark._runtime.operators.stateless import FunctionOperator
from pyflink_on_spark._runtime.types import key_converter
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common.types import Row

KEYS_KEPT = 100_000
_VALUE = itemgetter(1)


class SelectKeyOperator(FunctionOperator, OneCall):
    """Makes of each element a pair of its key and itself.

    Args:
        function: the user's KeySelector.
        key_type: the declared type of the keys, or None.
    """

    method = "get_key"
    line = (
        "{result} = {call}({value}); "
        "{result} = {result} if type({result}) in PLAIN_KEY_TYPES else wrap_key({result}), {value}"
    )
    emits_pairs = True
    preserves_elements = True

    def __init__(self, function: UserFunction, key_type: Any = None) -> None:
        super().__init__(function)
        self.key_type = key_type

    def open(self, context: OperatorContext) -> None:
        """Load the user's selector, compile the key's conversion."""
        super().open(context)
        self._known: dict[Any, Any] = {}
        self._convert = None if self.key_type is None else key_converter(self.key_type)
        if self._convert is not None:
            self.line = ""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        if self._convert is None:
            return super().process(elements)
        return self._converted(elements, self._convert)

    def _converted(self, elements: Iterator[Any], convert: Callable[[Any], Any]) -> Iterator[Any]:
        select, plain, known = self.call, PLAIN_KEY_TYPES, self._known
        for value in elements:
            found = select(value)
            key = known.get(found) if type(found) in plain else None
            if key is None:
                key = wrap_key(convert(found))
                if type(found) in plain:
                    if len(known) >= KEYS_KEPT:
                        known.clear()
                    known[found] = key
            yield key, value


class DropKeyOperator(Operator):
    """Makes of each pair of key and element the element again."""

    keyed = True
    preserves_elements = True
    sorted_in_batch = False

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the elements."""
        return map(_VALUE, elements)


class KeyedRowsOperator(Operator):
    """Makes of each pair of key and element a row of both."""

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows."""
        return keyed_rows(elements)


def keyed_rows(pairs: Iterator[Any]) -> Iterator[Row]:
    """Yield a row of the user's key and the element for each pair."""
    return (Row(f0=unwrap_key(key), f1=value) for key, value in pairs)
