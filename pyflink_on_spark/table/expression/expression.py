"""Expressions over the columns of tables."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table.expression.collection_methods import CollectionMethods
from pyflink_on_spark.table.expression.json_methods import (
    JsonMethods,
)
from pyflink_on_spark.table.expression.missing_methods import MissingMethods
from pyflink_on_spark.table.expression.number_methods import (
    AggregateMethods,
    BitmapMethods,
    NumberMethods,
)
from pyflink_on_spark.table.expression.parts import logical_type, written_operand
from pyflink_on_spark.table.expression.text_methods import TextMethods
from pyflink_on_spark.table.expression.texts import expression_text
from pyflink_on_spark.table.expression.time_methods import (
    TimeMethods,
)

T = TypeVar("T")


def _call(name: str, *operands: Any) -> Expression:
    return Expression(syntax.Call(name, tuple(map(written_operand, operands))))


class Expression(
    NumberMethods,
    AggregateMethods,
    TextMethods,
    TimeMethods,
    CollectionMethods,
    JsonMethods,
    BitmapMethods,
    MissingMethods,
    Generic[T],
):
    """A column, a constant, or a function of other expressions.

    Args:
        j_expr_or_property_name: use ``col`` and ``lit`` of ``expressions``.

    Example:
        >>> from pyflink_on_spark.table.expressions import col
        >>> str(col("price") * 2 + 1)
        'plus(times(price, 2), 1)'
    """

    def __init__(self, j_expr_or_property_name):
        given = j_expr_or_property_name
        self._unresolved: syntax.Expression = (
            syntax.Name((given,)) if isinstance(given, str) else given
        )

    __hash__ = object.__hash__

    def _new(self, written: syntax.Expression) -> Expression:
        return Expression(written)

    def __str__(self):
        return expression_text(self._unresolved)

    def __abs__(self):
        return _call("ABS", self)

    # -- comparison ------------------------------------------------------------------------------

    def __eq__(self, other: Any) -> Expression[bool]:  # type: ignore[override]
        return _call("=", self, other)

    def __ne__(self, other: Any) -> Expression[bool]:  # type: ignore[override]
        return _call("<>", self, other)

    def __lt__(self, other: Any) -> Expression[bool]:
        return _call("<", self, other)

    def __gt__(self, other: Any) -> Expression[bool]:
        return _call(">", self, other)

    def __le__(self, other: Any) -> Expression[bool]:
        return _call("<=", self, other)

    def __ge__(self, other: Any) -> Expression[bool]:
        return _call(">=", self, other)

    # -- logic -----------------------------------------------------------------------------------

    def __and__(self, other: Any) -> Expression[bool]:
        return _call("AND", self, other)

    def __rand__(self, other: Any) -> Expression[bool]:
        return _call("AND", other, self)

    def __or__(self, other: Any) -> Expression[bool]:
        return _call("OR", self, other)

    def __ror__(self, other: Any) -> Expression[bool]:
        return _call("OR", other, self)

    def __invert__(self) -> Expression[bool]:
        return _call("IS NOT TRUE", self)

    # -- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Expression:
        return _call("+", self, other)

    def __radd__(self, other: Any) -> Expression:
        return _call("+", other, self)

    def __sub__(self, other: Any) -> Expression:
        return _call("-", self, other)

    def __rsub__(self, other: Any) -> Expression:
        return _call("-", other, self)

    def __mul__(self, other: Any) -> Expression:
        return _call("*", self, other)

    def __rmul__(self, other: Any) -> Expression:
        return _call("*", self, other)

    def __truediv__(self, other: Any) -> Expression:
        return _call("/", self, other)

    def __rtruediv__(self, other: Any) -> Expression:
        return _call("/", other, self)

    def __mod__(self, other: Any) -> Expression:
        return _call("%", self, other)

    def __rmod__(self, other: Any) -> Expression:
        return _call("%", other, self)

    def __pow__(self, other: Any) -> Expression:
        return _call("POWER", self, other)

    def __rpow__(self, other: Any) -> Expression:
        return _call("POWER", other, self)

    def __neg__(self, *args) -> Expression:
        return _call("UNARY -", self)

    # -- tests -----------------------------------------------------------------------------------

    @property
    def is_null(self) -> Expression[bool]:
        """True if the value is NULL."""
        return _call("IS NULL", self)

    @property
    def is_not_null(self) -> Expression[bool]:
        """True if the value is not NULL."""
        return _call("IS NOT NULL", self)

    @property
    def is_true(self) -> Expression[bool]:
        """True if the value is TRUE."""
        return _call("IS TRUE", self)

    @property
    def is_not_true(self) -> Expression[bool]:
        """True if the value is FALSE or NULL."""
        return _call("IS NOT TRUE", self)

    @property
    def is_false(self) -> Expression[bool]:
        """True if the value is FALSE."""
        return _call("IS FALSE", self)

    @property
    def is_not_false(self) -> Expression[bool]:
        """True if the value is TRUE or NULL."""
        return _call("IS NOT FALSE", self)

    def between(self, lower_bound, upper_bound) -> Expression[bool]:
        """True if the value lies between two bounds, or equals one of them."""
        return _call("BETWEEN", self, lower_bound, upper_bound)

    def not_between(self, lower_bound, upper_bound) -> Expression[bool]:
        """True if the value does not lie between two bounds."""
        return _call("NOT BETWEEN", self, lower_bound, upper_bound)

    def then(self, if_true, if_false) -> Expression:
        """Return one value where it is TRUE, and another one elsewhere."""
        return _call("IF", self, if_true, if_false)

    # -- names and types -------------------------------------------------------------------------

    def alias(self, name: str, *extra_names: str) -> Expression[T]:
        """The expression under a name, or under several names if it has several columns."""
        return Expression(syntax.Alias(self._unresolved, (name, *extra_names)))

    def cast(self, data_type: DataType) -> Expression:
        """The value, converted to another type."""
        return Expression(syntax.Cast(self._unresolved, logical_type(data_type)))

    def try_cast(self, data_type: DataType) -> Expression:
        """The value, converted to another type; NULL where the conversion fails."""
        return Expression(syntax.Cast(self._unresolved, logical_type(data_type), lenient=True))

    def get(self, name_or_index: str | int) -> Expression:
        """Return a field of a row."""
        kind = "INT NOT NULL" if isinstance(name_or_index, int) else "STRING"
        field = syntax.Literal(name_or_index, logical_type(kind))
        return Expression(syntax.Call("DOT", (self._unresolved, field)))

    def at(self, index) -> Expression:
        """Return an element of an array, counted from 1, or the value of a key of a map."""
        return _call("ITEM", self, index)

    def __getitem__(self, index):
        return self.at(index)

    __iter__ = None  # __getitem__ alone would make an endless iterator of it

    def __getattr__(self, name):
        """Return a field of a row, unless the name belongs to Python itself."""
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return self.get(name)

    @property
    def flatten(self) -> Expression:
        """The fields of a row, as columns."""
        return Expression(syntax.Alias(self._unresolved, ()))

    def in_(self, first_element_or_table, *remaining_elements) -> Expression:
        """True if the value equals one of some values."""
        return _call("IN", self, first_element_or_table, *remaining_elements)

    def if_null(self, null_replacement) -> Expression:
        """The value, or a replacement where it is NULL."""
        return _call("IFNULL", self, null_replacement)

    # -- order and windows -----------------------------------------------------------------------

    @property
    def asc(self) -> Expression:
        """Ascending order, for ``order_by``."""
        return _call("ASC", self)

    @property
    def desc(self) -> Expression:
        """Descending order, for ``order_by``."""
        return _call("DESC", self)

    def over(self, alias) -> Expression:
        """Compute an aggregate over a window of rows."""
        name = alias._unresolved
        assert isinstance(name, syntax.Name)
        call: Any = self._unresolved
        if isinstance(call, syntax.Call):
            call = syntax.AggregateCall(call)
        return Expression(syntax.OverCall(call, name.parts[-1]))
