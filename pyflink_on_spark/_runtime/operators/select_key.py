"""Finds the key of each element."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from operator import itemgetter
from typing import Any

from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.keys import unwrap_key, wrap_key
from pyflink_on_spark._runtime.operators.function_loop import OneCall
from pyflink_on_spark._runtime.operators.stateless import FunctionOperator
from pyflink_on_spark._runtime.types import key_converter
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common.types import Row

KEYS_KEPT = 100_000
_VALUE = itemgetter(1)


class _ConvertedKeys(dict[Any, Any]):
    """What stands for plain keys in the engine, once they have been converted.

    Args:
        convert: makes a key what its declared type says.
    """

    def __init__(self, convert: Callable[[Any], Any]) -> None:
        super().__init__()
        self._convert = convert

    def __missing__(self, found: Any) -> Any:
        if len(self) >= KEYS_KEPT:
            self.clear()
        key = self[found] = self.convert(found)
        return key

    def convert(self, found: Any) -> Any:
        """Return what stands for a key of any type."""
        return wrap_key(self._convert(found))


class SelectKeyOperator(FunctionOperator, OneCall):
    """Makes of each element a pair of its key and itself.

    Args:
        function: the user's KeySelector.
        key_type: the declared type of the keys, or None.
        selects: what is selected, if that is known without a look into code.
    """

    method = "get_key"
    line = (
        "{result} = {call}({value}); "
        "{result} = {result} if type({result}) in PLAIN_KEY_TYPES else wrap_key({result}), {value}"
    )
    emits_pairs = True
    preserves_elements = True

    def __init__(
        self, function: UserFunction, key_type: Any = None, selects: str | None = None
    ) -> None:
        super().__init__(function)
        self.key_type, self.selects = key_type, selects

    def open(self, context: OperatorContext) -> None:
        """Load the user's selector, compile the key's conversion."""
        super().open(context)
        convert = None if self.key_type is None else key_converter(self.key_type)
        if convert is not None:
            self.own = _ConvertedKeys(convert)
            self.line = (
                "{result} = {call}({value}); "
                "{result} = {own}[{result}] if type({result}) in PLAIN_KEY_TYPES "
                "else {own}.convert({result}), {value}"
            )


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
