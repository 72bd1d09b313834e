"""The parts of expressions: operands, constants and types."""

from __future__ import annotations

import datetime
import decimal
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.parser.statements import parse_type
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark._sql.syntax.expressions import Literal
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import from_decimal
from pyflink_on_spark._sql.types.external import from_python, to_logical, to_python
from pyflink_on_spark._sql.types.logical import LogicalType
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table._inner import syntax_of

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression.expression import Expression


def literal(value: object, kind: LogicalType | None = None) -> Literal:
    """Return the constant for a Python value.

    Args:
        value: the value.
        kind: its type; that of the value if not given.

    Raises:
        ValidationError: there are no constants of such a type.
    """
    if kind is None:
        kind = _type_of(value)
    if value is None:
        return Literal(None, kind)
    convert = from_python(kind)
    return Literal(value if convert is None else convert(value), kind)


def _type_of(value: object) -> LogicalType:
    simple = _SIMPLE.get(type(value))
    if simple is not None:
        return simple if value is None else simple.with_nullable(False)
    if isinstance(value, int):
        kind = logical.INT if -(2**31) <= value < 2**31 else logical.BIGINT
        return kind.with_nullable(False)
    if isinstance(value, str):
        return logical.char(len(value)).with_nullable(False)
    if isinstance(value, decimal.Decimal):
        return _decimal_type(value).with_nullable(False)
    raise ValidationError(f"a {type(value).__name__} cannot be a constant: {value!r}")


def _decimal_type(value: decimal.Decimal) -> LogicalType:
    digits, exponent = value.as_tuple()[1:]
    if not isinstance(exponent, int):
        raise ValidationError(f"{value} cannot be a constant")
    scale = max(-exponent, 0)
    kind = logical.decimal(max(len(digits) + max(exponent, 0), scale), scale)
    assert from_decimal(value, kind) is not None
    return kind


_SIMPLE: dict[type, LogicalType] = {
    type(None): logical.NULL,
    bool: logical.BOOLEAN,
    float: logical.DOUBLE,
    datetime.date: logical.DATE,
    datetime.time: logical.time(0),
    datetime.datetime: logical.timestamp(3),
}


def logical_type(given: DataType | str) -> LogicalType:
    """Return the type that a user means.

    Raises:
        SqlParseError: a text is no type.
        TypeError: it is neither a DataType nor a text.
    """
    if isinstance(given, str):
        return parse_type(given)
    if not isinstance(given, DataType):
        raise TypeError(f"a type has to be a DataType or a str, not {given!r}")
    return to_logical(given)


class Operand:
    """Something that functions can be called with."""

    _unresolved: Any

    def _new(self, written: syntax.Expression) -> Expression[Any]:
        """Wrap syntax as an expression for users."""
        raise NotImplementedError

    def _of(self, name: str, *operands: object, symbols: tuple[str, ...] = ()) -> Expression[Any]:
        """Return a function of this and of other operands, without those that are None."""
        given = [operand for operand in operands if operand is not None]
        args = (self._unresolved, *map(written_operand, given))
        return self._new(syntax.Call(name, args, symbols=symbols))


def written_operand(operand: object) -> syntax.Expression:
    """Return the syntax of an operand: an expression, or a constant."""
    return syntax_of(operand) if isinstance(operand, Operand) else literal(operand)


def constant(written: syntax.Expression) -> Any:
    """The Python value of a constant, or of a row, an array or a map of constants.

    Raises:
        ValidationError: a column or a function stands in it.
    """
    if isinstance(written, Literal):
        convert = to_python(written.type)
        return written.value if convert is None or written.value is None else convert(written.value)
    if isinstance(written, syntax.Call) and written.name in {"ROW", "ARRAY", "MAP"}:
        values = [constant(arg) for arg in written.args]
        if written.name == "MAP":
            return dict(zip(values[::2], values[1::2]))
        return tuple(values) if written.name == "ROW" else values
    raise ValidationError("from_elements takes constants, and rows, arrays and maps of them")


def function(name: str, document: str) -> Any:
    """Return a property that is a function of the expression.

    Args:
        name: the function's, as SQL has it.
        document: what the property is.
    """

    def get(self: Operand) -> Expression[Any]:
        return self._of(name)

    return property(get, doc=document)
