"""Conversions of elements at the places where PyFlink would serialise them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from pyflink_on_spark._runtime.contract.context import OperatorContext
from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._runtime.elements.cursor import Cursor
from pyflink_on_spark._runtime.operators.function_loop import FusableOperator, LoopCode
from pyflink_on_spark._runtime.types import StreamConverter, boundary_converter, collect_converter
from pyflink_on_spark._runtime.types.fitting import unchanged_fields_test, unchanged_test
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TupleTypeInfo
from pyflink_on_spark.common.types import Row


class ConvertOperator(FusableOperator):
    """Makes elements what their declared type says.

    Args:
        type_info: the declared type.
        pairs: whether elements are pairs of key and value; the value is converted.
        collected: whether they go to the driver's program, and not to another function.
        timestamped: whether they have timestamps; without, they are not looked after.
    """

    def __init__(
        self,
        type_info: Any,
        pairs: bool = False,
        collected: bool = False,
        timestamped: bool = True,
    ) -> None:
        self._type_info = type_info
        self.emits_pairs = self.takes_pairs = pairs
        self._collected = collected
        self._timestamped = timestamped
        self._convert: StreamConverter | None = None

    def open(self, context: OperatorContext) -> None:
        """Compile the conversion."""
        make = collect_converter if self._collected else boundary_converter
        self._convert = make(self._type_info)
        self._cursor = context.cursor

    @property
    def fusable(self) -> bool:
        """True for a type whose values can be tested in line."""
        if self._convert is None or self._convert.changes_results:
            return False
        if isinstance(self._type_info, RowTypeInfo):
            return _fields_test(self._type_info) is not None
        return unchanged_test(self._type_info, "value") is not None

    def write_lines(self, code: LoopCode) -> None:
        """Convert a value unless it has its declared form."""
        assert self._convert is not None
        convert, value = code.bind("convert", self._convert.one), code.value
        if isinstance(self._type_info, RowTypeInfo):
            _write_row(code, self._type_info, f"{convert}({value})")
            return
        kind, items = self._type_info, code.items(value)
        if not isinstance(kind, TupleTypeInfo) or len(items) != len(kind.get_field_types()):
            items = code.parts[value] = []
        test = unchanged_test(kind, value, items, code.facts)
        code.replace_unless(test or "False", f"{convert}({value})")
        code.learn_type(kind, code.value)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the converted elements."""
        if self._convert is None:
            return elements
        if self.fusable:
            return super().process(elements)
        if self.emits_pairs:
            return _in_pairs(self._convert, elements, self._cursor)
        if not self._timestamped:
            return self._convert(elements)
        return _with_timestamps(self._convert, elements, self._cursor)

    def parts(self) -> Iterable[Any]:
        """Return the conversion of a stream, and the conversion of a value."""
        return () if self._convert is None else (self._convert, self._convert.codec)


class CopyMutableOperator(FusableOperator):
    """Makes sure that an element does not change any more: yields it as it is now.

    Args:
        pairs: whether elements are pairs of key and value.
    """

    def __init__(self, pairs: bool = False) -> None:
        self.emits_pairs = self.takes_pairs = pairs

    def write_lines(self, code: LoopCode) -> None:
        """Copy an element unless nothing can change inside it."""
        code.isolate()


class IdentityOperator(Operator):
    """Changes nothing; stands where PyFlink has an operator of its own."""

    preserves_elements = True

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Return the elements."""
        return elements


def _fields(type_info: RowTypeInfo) -> list[str]:
    return [f"field{index}" for index in range(len(type_info.get_field_types()))]


def _fields_test(type_info: RowTypeInfo) -> str | None:
    return unchanged_fields_test(type_info, _fields(type_info))


def _write_row(code: LoopCode, type_info: RowTypeInfo, converted: str) -> None:
    """Write what makes a row of the declared type; nobody else can change it."""
    value, row, fields = code.value, code.new_value(), ", ".join(_fields(type_info))
    kind, new = code.bind("Row", Row), code.bind("new", Row.__new__)
    names = code.bind("names", list(type_info.get_field_names()))
    alike = f"({value}._names is None or {value}._names == {names})"
    count = f"len({value}._values) == {len(type_info.get_field_types())}"
    code.add(f"{row} = None")
    code.add(f"if type({value}) is {kind} and {alike} and {count}:")
    code.add(f" {fields}, = {value}._values")
    code.add(f" if {_fields_test(type_info)}:")
    code.add(f"  {row} = {new}({kind})")
    code.add(f"  {row}._names, {row}._values = {names}, [{fields}]")
    code.add(f"  {row}._row_kind = {value}._row_kind")
    code.add(f"if {row} is None: {row} = {converted}")
    code.value = row


def _with_timestamps(
    convert: StreamConverter, elements: Iterator[Any], cursor: Cursor
) -> Iterator[Any]:
    """Convert elements; a conversion reads ahead, so each gets its own timestamp back."""
    timestamps: deque[int | None] = deque()
    next_timestamp = timestamps.popleft
    for value in convert(_noting(elements, cursor, timestamps.append)):
        cursor.timestamp = next_timestamp()
        yield value


def _noting(
    elements: Iterator[Any], cursor: Cursor, note: Callable[[int | None], None]
) -> Iterator[Any]:
    for value in elements:
        timestamp = cursor.timestamp
        note(timestamp)
        yield value
        cursor.timestamp = timestamp


def _in_pairs(convert: StreamConverter, pairs: Iterator[Any], cursor: Cursor) -> Iterator[Any]:
    keys: deque[tuple[Any, int | None]] = deque()
    for value in convert(_values(pairs, cursor, keys.append)):
        key, cursor.timestamp = keys.popleft()
        yield key, value


def _values(
    pairs: Iterator[Any], cursor: Cursor, note: Callable[[tuple[Any, int | None]], None]
) -> Iterator[Any]:
    for key, value in pairs:
        timestamp = cursor.timestamp
        note((key, timestamp))
        yield value
        cursor.timestamp = timestamp
