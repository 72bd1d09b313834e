"""The methods of expressions for numbers, aggregates and bitmaps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark.table.expression.parts import Operand, function, written_operand

if TYPE_CHECKING:
    from pyflink_on_spark.table.expression.expression import Expression


class NumberMethods(Operand):
    """The methods of numbers."""

    exp = function("EXP", "E to the power of it.")
    log10 = function("LOG10", "Its logarithm to the base 10.")
    log2 = function("LOG2", "Its logarithm to the base 2.")
    ln = function("LN", "Its natural logarithm.")
    sinh = function("SINH", "Its hyperbolic sine.")
    cosh = function("COSH", "Its hyperbolic cosine.")
    tanh = function("TANH", "Its hyperbolic tangent.")
    sin = function("SIN", "Its sine.")
    cos = function("COS", "Its cosine.")
    tan = function("TAN", "Its tangent.")
    cot = function("COT", "Its cotangent.")
    asin = function("ASIN", "Its arc sine.")
    acos = function("ACOS", "Its arc cosine.")
    atan = function("ATAN", "Its arc tangent.")
    degrees = function("DEGREES", "It in degrees, of radians.")
    radians = function("RADIANS", "It in radians, of degrees.")
    sqrt = function("SQRT", "Its square root.")
    abs = function("ABS", "It without its sign.")
    sign = function("SIGN", "Its sign: -1, 0 or 1.")
    bin = function("BIN", "It in binary digits.")
    hex = function("HEX", "It in hexadecimal digits.")
    unhex = function("UNHEX", "The bytes that its hexadecimal digits stand for.")

    def log(self, base=None) -> Expression[float]:
        """Return the logarithm to a base; the natural one without a base."""
        if base is None:
            return self._of("LOG")
        return self._new(syntax.Call("LOG", (written_operand(base), self._unresolved)))

    def round(self, places: int | Expression[int]):
        """Round to some digits after the point."""
        return self._of("ROUND", places)

    def truncate(self, n: int | Expression[int] = 0) -> Expression:
        """Drop the digits after a place."""
        return self._of("TRUNCATE", n)


class AggregateMethods(Operand):
    """The methods of groups of rows."""

    sum = function("SUM", "The sum; NULL without values.")
    sum0 = function("$SUM0", "The sum; 0 without values.")
    min = function("MIN", "The smallest value.")
    max = function("MAX", "The largest value.")
    count = function("COUNT", "How many values there are.")
    avg = function("AVG", "The average.")
    first_value = function("FIRST_VALUE", "The first value.")
    last_value = function("LAST_VALUE", "The last value.")
    stddev_pop = function("STDDEV_POP", "The standard deviation of a population.")
    stddev_samp = function("STDDEV_SAMP", "The standard deviation of a sample.")
    var_pop = function("VAR_POP", "The variance of a population.")
    var_samp = function("VAR_SAMP", "The variance of a sample.")
    collect = function("COLLECT", "All values, as a multiset.")
    array_agg = function("ARRAY_AGG", "All values, as an array.")

    def list_agg(self, separator: str | Expression[str] | None = None) -> Expression[str]:
        """Return all texts as one, with a separator between them."""
        return self._of("LISTAGG", "," if separator is None else separator)

    def percentile(self, percentage, frequency=None) -> Expression:
        """Return the value that a part of the rows, or several parts, do not exceed."""
        return self._of("PERCENTILE", percentage, frequency)

    @property
    def distinct(self) -> Expression:
        """The same aggregate, of different values only."""
        call: Any = self._unresolved
        return self._new(syntax.AggregateCall(call, distinct=True))


class BitmapMethods(Operand):
    """Methods of sets of 32-bit whole numbers."""

    def bitmap_and(self, bitmap2) -> Expression:
        """Return the numbers that are in both bitmaps."""
        return self._of("BITMAP_AND", bitmap2)

    def bitmap_andnot(self, bitmap2) -> Expression:
        """Return the numbers that are in this bitmap and not in the other one."""
        return self._of("BITMAP_ANDNOT", bitmap2)

    def bitmap_or(self, bitmap2) -> Expression:
        """Return the numbers that are in one of two bitmaps."""
        return self._of("BITMAP_OR", bitmap2)

    def bitmap_xor(self, bitmap2) -> Expression:
        """Return the numbers that are in exactly one of two bitmaps."""
        return self._of("BITMAP_XOR", bitmap2)

    def bitmap_build(self) -> Expression:
        """Return the bitmap of an array of whole numbers."""
        return self._of("BITMAP_BUILD")

    def bitmap_cardinality(self) -> Expression:
        """Return how many numbers a bitmap has."""
        return self._of("BITMAP_CARDINALITY")

    def bitmap_from_bytes(self) -> Expression:
        """Return the bitmap that bytes in the format of RoaringBitmap stand for."""
        return self._of("BITMAP_FROM_BYTES")

    def bitmap_to_array(self) -> Expression:
        """Return the numbers of a bitmap in order."""
        return self._of("BITMAP_TO_ARRAY")

    def bitmap_to_bytes(self) -> Expression:
        """Return a bitmap as bytes in the format of RoaringBitmap."""
        return self._of("BITMAP_TO_BYTES")

    def bitmap_to_string(self) -> Expression:
        """Return a bitmap as text."""
        return self._of("BITMAP_TO_STRING")

    def bitmap_build_agg(self):
        """Return the bitmap of the numbers of all rows."""
        return self._of("BITMAP_BUILD_AGG")

    def bitmap_build_cardinality_agg(self):
        """Return how many different numbers the rows have."""
        return self._of("BITMAP_BUILD_CARDINALITY_AGG")

    def bitmap_and_agg(self):
        """Return the numbers that are in all bitmaps."""
        return self._of("BITMAP_AND_AGG")

    def bitmap_and_cardinality_agg(self):
        """Return how many numbers are in all bitmaps."""
        return self._of("BITMAP_AND_CARDINALITY_AGG")

    def bitmap_or_agg(self):
        """Return the numbers that are in at least one bitmap."""
        return self._of("BITMAP_OR_AGG")

    def bitmap_or_cardinality_agg(self):
        """Return how many numbers are in at least one bitmap."""
        return self._of("BITMAP_OR_CARDINALITY_AGG")

    def bitmap_xor_agg(self):
        """Return the numbers that are in an odd number of bitmaps."""
        return self._of("BITMAP_XOR_AGG")

    def bitmap_xor_cardinality_agg(self):
        """Return how many numbers are in an odd number of bitmaps."""
        return self._of("BITMAP_XOR_CARDINALITY_AGG")
