"""Rows of databases as rows of a query, and the other way round."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.contract.operator import Operator
from pyflink_on_spark._sql.plan.schema import Schema
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.decimals import parse_decimal
from pyflink_on_spark._sql.types.external import from_python, row_converter, to_python
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import parse_date, parse_time, parse_timestamp

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class FromDatabase(Operator):
    """Makes rows of what a driver returns.

    Args:
        schema: the columns.
    """

    frozen = True

    def __init__(self, schema: Schema) -> None:
        self._schema = schema

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._convert = from_database(self._schema)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows."""
        convert = self._convert
        for element in elements:
            yield convert(element)


class ToDatabase(Operator):
    """Makes of rows what a driver takes.

    Args:
        schema: the columns.
        changelog: whether elements are pairs of the kind and the row.
    """

    def __init__(self, schema: Schema, changelog: bool) -> None:
        self._schema, self._changelog = schema, changelog

    def open(self, context: OperatorContext) -> None:
        """Choose the conversions."""
        self._convert = row_converter(self._schema.types, to_python)

    def process(self, elements: Iterator[Any]) -> Iterator[Any]:
        """Yield the rows, in pairs with the kind if they come so."""
        convert = self._convert
        if not self._changelog:
            for row in elements:
                yield tuple(convert(row))
            return
        for kind, row in elements:
            yield kind, tuple(convert(row))


def from_database(schema: Schema) -> Callable[[Any], tuple[Any, ...]]:
    """Return what makes a row of what a driver returns.

    Args:
        schema: the columns.
    """
    convert = row_converter(schema.types, _reader)
    return lambda element: tuple(convert(element))


def _reader(kind: LogicalType) -> Callable[[Any], Any] | None:
    """Return the conversion of a type; some databases have only texts and numbers."""
    convert, parse = from_python(kind), _parser(kind)
    root = kind.root
    if root is Root.BOOLEAN:
        return bool
    if root in logical.INTEGERS:
        return int
    if root in logical.APPROXIMATE:
        return float
    if root in logical.CHARACTERS:
        return lambda value: value if type(value) is str else str(value)
    if parse is None:
        return convert

    def read(value: Any) -> Any:
        if type(value) in {str, float, int}:
            return parse(str(value))
        return value if convert is None else convert(value)

    return read


def _parser(kind: LogicalType) -> Callable[[str], Any] | None:
    root = kind.root
    if root is Root.DECIMAL:
        return lambda text: parse_decimal(text, kind.scale or 0, kind.precision or 10)
    if root is Root.DATE:
        return parse_date
    if root is Root.TIME:
        return parse_time
    return parse_timestamp if root in logical.TIMESTAMPS else None
