"""Functions that keep nothing between elements: map, filter, key selectors, partitioners."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from operator import itemgetter
from typing import Any

from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.keys import unwrap_key, wrap_key
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.operators.rich_function import UdfOperator
from pyflink_on_spark._runtime.types import key_converter, print_text
from pyflink_on_spark._runtime.types.fitting import plain_key_test
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.common.types import Row


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


class MapOperator(FunctionOperator, FusableOperator):
    """One element for each."""

    method = "map"

    def write_lines(self, code: LoopCode) -> None:
        """Replace the element by the function's result."""
        code.assign_call("map", self.call)


class FlatMapOperator(FunctionOperator, FusableOperator):
    """Any number of elements for each."""

    method = "flat_map"
    nests = True

    def write_lines(self, code: LoopCode) -> None:
        """Go through the function's results."""
        code.repeat(f"{code.bind('flat_map', self.call)}({code.value})")


class FilterOperator(FunctionOperator, FusableOperator):
    """Those elements for which the function is true."""

    method = "filter"

    def write_lines(self, code: LoopCode) -> None:
        """Leave the element out unless the function is true."""
        code.leave_out_unless("filter", self.call)


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


KEYS_KEPT = 100_000
_VALUE = itemgetter(1)


class _ConvertedKeys(dict[Any, Any]):
    """A cache of plain keys in the engine's form, converted to their declared type.

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
        """Return the engine's form of a key of any type."""
        return wrap_key(self._convert(found))


class SelectKeyOperator(FunctionOperator, FusableOperator):
    """Makes of each element a pair of its key and itself.

    Args:
        function: the user's KeySelector.
        key_type: the declared type of the keys, or None.
        selects: what is selected, if that is known without a look into code.
    """

    method = "get_key"
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
        self._converted = None if convert is None else _ConvertedKeys(convert)

    def write_lines(self, code: LoopCode) -> None:
        """Find the element's key."""
        key = code.new_value()
        code.call(key, "get_key", self.call, code.value)
        code.learn_result(key)
        if self._converted is None:
            if not code.is_plain_key(key):
                code.add(f"if type({key}) not in PLAIN_KEY_TYPES: {key} = wrap_key({key})")
        else:
            keys = code.bind("keys", self._converted)
            plain, other = f"{keys}[{key}]", f"{keys}.convert({key})"
            convert = f"{key} = {plain} if type({key}) in PLAIN_KEY_TYPES else {other}"
            fits = partial(plain_key_test, self.key_type, facts=code.facts)
            test = code.note_test(key, fits)
            if test != "True":
                code.add(convert if test is None else f"if not ({test}): {convert}")
            code.learn_type(None if test is None else self.key_type, key)
        code.key = key


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


class PartitionOperator(SelectKeyOperator):
    """Makes of each element a pair of the index of the subtask that gets it, and itself.

    Args:
        partitioner: the user's Partitioner.
        selector: the user's KeySelector, which finds what the partitioner gets.
        receivers: how many subtasks there are. The job's graph knows, and says so with ``among``.
    """

    fusable = False

    def __init__(
        self, partitioner: UserFunction, selector: UserFunction, receivers: int = 1
    ) -> None:
        super().__init__(selector)
        self._partitioner, self._receivers = partitioner, receivers
        self._loaded_partitioner: Any = None

    def among(self, receivers: int) -> PartitionOperator:
        """Return the same for some number of receiving subtasks."""
        return PartitionOperator(self._partitioner, self.function, receivers)

    def open(self, context: OperatorContext) -> None:
        """Load and open both functions."""
        self._loaded_partitioner = self._partitioner.load()
        self._open_function(self._loaded_partitioner, context)
        super().open(context)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the pairs."""
        select, partition = self.call, self._loaded_partitioner.partition
        count = self._receivers
        for value in elements:
            key = select(value)
            index = partition(key, count)
            if type(index) is not int or not 0 <= index < count:
                raise ValueError(
                    f"the partitioner returned {index!r} for the key {key!r}; "
                    f"expected an int from 0 to {count - 1}"
                )
            yield index, value

    def close(self) -> None:
        """Close both functions."""
        if self._loaded_partitioner is not None:
            self._close_function(self._loaded_partitioner)
        super().close()
