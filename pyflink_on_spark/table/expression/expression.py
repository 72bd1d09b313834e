"""Expressions over the columns of tables."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from pyflink_on_spark._compat.unsupported import Gap, unsupported_class
from pyflink_on_spark._sql.syntax import expressions as syntax
from pyflink_on_spark.common.data_types import DataType
from pyflink_on_spark.table._inner import syntax_of
from pyflink_on_spark.table.expression.methods import JsonMethods, TimeMethods
from pyflink_on_spark.table.expression.parts import Operand, function, logical_type, written_operand
from pyflink_on_spark.table.expression.texts import expression_text


class TextMethods(Operand):
    """The methods of texts."""

    char_length = function("CHAR_LENGTH", "How many characters it has.")
    upper_case = function("UPPER", "It in capitals.")
    lower_case = function("LOWER", "It in small letters.")
    init_cap = function("INITCAP", "It with a capital at the beginning of each word.")
    from_base64 = function("FROM_BASE64", "The text that its Base64 stands for.")
    to_base64 = function("TO_BASE64", "Its Base64.")
    ascii = function("ASCII", "The code of its first character.")
    chr = function("CHR", "The character of which it is the code.")
    reverse = function("REVERSE", "It from its end to its beginning.")
    md5 = function("MD5", "Its MD5.")
    sha1 = function("SHA1", "Its SHA-1.")
    sha224 = function("SHA224", "Its SHA-224.")
    sha256 = function("SHA256", "Its SHA-256.")
    sha384 = function("SHA384", "Its SHA-384.")
    sha512 = function("SHA512", "Its SHA-512.")

    def sha2(self, hash_length: int | Expression[int]) -> Expression[str]:
        """Return its hash of some length."""
        return self._of("SHA2", hash_length)

    def concat(self, other: str | Expression[str]) -> Expression[str]:
        """The text, followed by another one."""
        return self._of("CONCAT", other)

    def starts_with(self, start_expr) -> Expression:
        """True if the text begins with another one."""
        return self._of("STARTSWITH", start_expr)

    def ends_with(self, end_expr) -> Expression:
        """True if the text ends with another one."""
        return self._of("ENDSWITH", end_expr)

    def substring(
        self,
        begin_index: int | Expression[int],
        length: int | Expression[int] | None = None,
    ) -> Expression[str]:
        """Return a part of it, from a position on."""
        return self._of("SUBSTRING", begin_index, length)

    def substr(
        self,
        begin_index: int | Expression[int],
        length: int | Expression[int] | None = None,
    ) -> Expression[str]:
        """Return a part of it, from a position on."""
        return self._of("SUBSTR", begin_index, length)

    def trim_leading(self, character: str | Expression[str] | None = None) -> Expression[str]:
        """Remove a character at the beginning; blanks if not given."""
        return self._of("TRIM", " " if character is None else character, symbols=("LEADING",))

    def trim_trailing(self, character: str | Expression[str] | None = None) -> Expression[str]:
        """Remove a character at the end; blanks if not given."""
        return self._of("TRIM", " " if character is None else character, symbols=("TRAILING",))

    def trim(self, character: str | Expression[str] | None = None) -> Expression[str]:
        """Remove a character at both ends; blanks if not given."""
        return self._of("TRIM", " " if character is None else character, symbols=("BOTH",))

    def replace(
        self,
        search: str | Expression[str] | None = None,
        replacement: str | Expression[str] | None = None,
    ) -> Expression[str]:
        """Replace a text everywhere."""
        return self._of("REPLACE", search, replacement)

    def translate(self, from_str, to_str) -> Expression:
        """Replace characters, each by the one at its place."""
        return self._of("TRANSLATE", from_str, to_str)

    def like(
        self,
        pattern: str | Expression[str] | None = None,
        escape=None,
    ) -> Expression[bool]:
        """True if the text is LIKE a pattern."""
        return self._of("LIKE", pattern, escape)

    def similar(self, pattern: str | Expression[str] | None = None) -> Expression[bool]:
        """True if the text is SIMILAR TO a pattern."""
        return self._of("SIMILAR TO", pattern)

    def position(self, haystack: str | Expression[str] | None = None) -> Expression[int]:
        """Return where it is found in a text, counted from 1; 0 if nowhere."""
        return self._of("POSITION", haystack)

    def lpad(self, length: int | Expression[int], pad: str | Expression[str]) -> Expression[str]:
        """The text at a certain length, padded on the left."""
        return self._of("LPAD", length, pad)

    def rpad(self, length: int | Expression[int], pad: str | Expression[str]) -> Expression[str]:
        """The text at a certain length, padded on the right."""
        return self._of("RPAD", length, pad)

    def overlay(
        self,
        new_string: str | Expression[str],
        starting: int | Expression[int],
        length: int | Expression[int] | None = None,
    ) -> Expression[str]:
        """Replace some characters, from a position on."""
        return self._of("OVERLAY", new_string, starting, length)

    def regexp(self, regex: str | Expression[str]) -> Expression[str]:
        """True if a part of the text matches a regular expression."""
        return self._of("REGEXP", regex)

    def regexp_count(self, regex) -> Expression:
        """Return how often a regular expression matches."""
        return self._of("REGEXP_COUNT", regex)

    def regexp_replace(
        self, regex: str | Expression[str], replacement: str | Expression[str]
    ) -> Expression[str]:
        """Replace all that matches a regular expression."""
        return self._of("REGEXP_REPLACE", regex, replacement)

    def regexp_extract(
        self, regex: str | Expression[str], extract_index: int | Expression[int] | None = None
    ) -> Expression[str]:
        """Return a group of the first match of a regular expression."""
        return self._of("REGEXP_EXTRACT", regex, extract_index)

    def regexp_extract_all(self, regex, extract_index=None) -> Expression:
        """Return a group of all matches of a regular expression."""
        return self._of("REGEXP_EXTRACT_ALL", regex, extract_index)

    def regexp_instr(self, regex) -> Expression:
        """Return where the first match of a regular expression begins."""
        return self._of("REGEXP_INSTR", regex)

    def regexp_substr(self, regex) -> Expression:
        """Return the first match of a regular expression."""
        return self._of("REGEXP_SUBSTR", regex)

    def inet_aton(self) -> Expression:
        """Return the number of an address, as ``127.0.0.1``."""
        return self._of("INET_ATON")

    def inet_ntoa(self) -> Expression[str]:
        """Return the address of a number."""
        return self._of("INET_NTOA")

    def decode(self, charset: str | Expression[str]) -> Expression[str]:
        """The text that the bytes encode in a character set."""
        return self._of("DECODE", charset)

    def encode(self, charset: str | Expression[str]) -> Expression[bytes]:
        """Return its bytes in a character set."""
        return self._of("ENCODE", charset)

    def left(self, length: int | Expression[int]) -> Expression[str]:
        """Return its first characters."""
        return self._of("LEFT", length)

    def right(self, length: int | Expression[int]) -> Expression[str]:
        """Return its last characters."""
        return self._of("RIGHT", length)

    def instr(self, s: str | Expression[str]) -> Expression[int]:
        """Return where a text is found in it, counted from 1; 0 if nowhere."""
        return self._of("INSTR", s)

    def locate(
        self, s: str | Expression[str], pos: int | Expression[int] | None = None
    ) -> Expression[int]:
        """Return where it is found in a text, counted from 1; 0 if nowhere."""
        return self._of("LOCATE", s, pos)

    def url_decode(self) -> Expression[str]:
        """Read a part of a URL."""
        return self._of("URL_DECODE")

    def url_encode(self) -> Expression[str]:
        """The text, encoded as a part of a URL."""
        return self._of("URL_ENCODE")

    def parse_url(
        self, part_to_extract: str | Expression[str], key: str | Expression[str] | None = None
    ) -> Expression[str]:
        """Return a part of a URL."""
        return self._of("PARSE_URL", part_to_extract, key)

    def printf(self, *obj) -> Expression:
        """The text with values in place of its directives."""
        return self._of("PRINTF", *obj)

    def ltrim(self, trim_str=None) -> Expression[str]:
        """Remove characters at the beginning; blanks if not given."""
        return self._of("LTRIM", trim_str)

    def rtrim(self, trim_str=None) -> Expression[str]:
        """Remove characters at the end; blanks if not given."""
        return self._of("RTRIM", trim_str)

    def btrim(self, trim_str=None) -> Expression:
        """Remove characters at both ends; blanks if not given."""
        return self._of("BTRIM", trim_str)

    def repeat(self, n: int | Expression[int]) -> Expression[str]:
        """The text, repeated."""
        return self._of("REPEAT", n)

    def split_index(
        self, separator: str | Expression[str], index: int | Expression[int]
    ) -> Expression[str]:
        """Return a part between separators, counted from 0."""
        return self._of("SPLIT_INDEX", separator, index)

    def str_to_map(
        self,
        list_delimiter: str | Expression[str] | None = None,
        key_value_delimiter: str | Expression[str] | None = None,
    ) -> Expression[dict]:
        """Return a map of its pairs."""
        return self._of("STR_TO_MAP", list_delimiter, key_value_delimiter)

    def split(self, delimiter) -> Expression:
        """Return the parts between separators."""
        return self._of("SPLIT", delimiter)

    def elt(self, expr, *exprs) -> Expression:
        """Return one of some texts, of which it is the number."""
        return self._of("ELT", expr, *exprs)


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


class CollectionMethods(Operand):
    """The methods of arrays and maps."""

    cardinality = function("CARDINALITY", "How many elements it has.")
    element = function("ELEMENT", "Its only element.")
    map_keys = function("MAP_KEYS", "Its keys.")
    map_values = function("MAP_VALUES", "Its values.")
    map_entries = function("MAP_ENTRIES", "Its keys and values, as rows.")

    def array_append(self, addition) -> Expression:
        """The array with a further element at its end."""
        return self._of("ARRAY_APPEND", addition)

    def array_contains(self, needle) -> Expression:
        """True if the array contains an element."""
        return self._of("ARRAY_CONTAINS", needle)

    def array_distinct(self) -> Expression:
        """The array without duplicates."""
        return self._of("ARRAY_DISTINCT")

    def array_position(self, needle) -> Expression:
        """Return where an element is, counted from 1; 0 if nowhere."""
        return self._of("ARRAY_POSITION", needle)

    def array_prepend(self, addition) -> Expression:
        """The array with a further element at its beginning."""
        return self._of("ARRAY_PREPEND", addition)

    def array_remove(self, needle) -> Expression:
        """The array without the elements that equal a value."""
        return self._of("ARRAY_REMOVE", needle)

    def array_reverse(self) -> Expression:
        """The array in reverse order."""
        return self._of("ARRAY_REVERSE")

    def array_slice(self, start_offset, end_offset=None) -> Expression:
        """Return a part of it."""
        return self._of("ARRAY_SLICE", start_offset, end_offset)

    def array_sort(self, ascending_order=None, null_first=None) -> Expression:
        """The array in sorted order."""
        return self._of("ARRAY_SORT", ascending_order, null_first)

    def array_union(self, array) -> Expression:
        """Return the elements of two arrays without doubles."""
        return self._of("ARRAY_UNION", array)

    def array_concat(self, *arrays) -> Expression:
        """Return arrays one after the other."""
        return self._of("ARRAY_CONCAT", *arrays)

    def array_max(self) -> Expression:
        """Return its largest element."""
        return self._of("ARRAY_MAX")

    def array_join(self, delimiter, null_replacement=None) -> Expression:
        """Return its elements as one text."""
        return self._of("ARRAY_JOIN", delimiter, null_replacement)

    def array_min(self) -> Expression:
        """Return its smallest element."""
        return self._of("ARRAY_MIN")

    def array_except(self, array) -> Expression:
        """Return its elements that another array has not."""
        return self._of("ARRAY_EXCEPT", array)

    def array_intersect(self, array) -> Expression:
        """Return the elements of both arrays."""
        return self._of("ARRAY_INTERSECT", array)

    def map_union(self, *maps) -> Expression:
        """Return the pairs of all maps."""
        return self._of("MAP_UNION", *maps)

    def object_update(self, *kv) -> Expression:
        """Return an object with other values of some fields.

        Args:
            kv: names of fields and their values, in turns.
        """
        return self._of("OBJECT_UPDATE", *kv)


_with_udf = unsupported_class(
    kind=Gap.NOT_YET,
    reason="SQL has no such function here",
    instead="Write it as a Python function with udf or udaf.",
    known_as="Expression",
)


@_with_udf
class MissingMethods(Operand):
    """The methods that raise."""

    def as_argument(self, name): ...


T = TypeVar("T")


def _call(name: str, *operands: object) -> Expression:
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

    def __eq__(self, other: object) -> Expression[bool]:  # type: ignore[override]
        return _call("=", self, other)

    def __ne__(self, other: object) -> Expression[bool]:  # type: ignore[override]
        return _call("<>", self, other)

    def __lt__(self, other: object) -> Expression[bool]:
        return _call("<", self, other)

    def __gt__(self, other: object) -> Expression[bool]:
        return _call(">", self, other)

    def __le__(self, other: object) -> Expression[bool]:
        return _call("<=", self, other)

    def __ge__(self, other: object) -> Expression[bool]:
        return _call(">=", self, other)

    # -- logic -----------------------------------------------------------------------------------

    def __and__(self, other: object) -> Expression[bool]:
        return _call("AND", self, other)

    def __rand__(self, other: object) -> Expression[bool]:
        return _call("AND", other, self)

    def __or__(self, other: object) -> Expression[bool]:
        return _call("OR", self, other)

    def __ror__(self, other: object) -> Expression[bool]:
        return _call("OR", other, self)

    def __invert__(self) -> Expression[bool]:
        return _call("IS NOT TRUE", self)

    # -- arithmetic ------------------------------------------------------------------------------

    def __add__(self, other: object) -> Expression:
        return _call("+", self, other)

    def __radd__(self, other: object) -> Expression:
        return _call("+", other, self)

    def __sub__(self, other: object) -> Expression:
        return _call("-", self, other)

    def __rsub__(self, other: object) -> Expression:
        return _call("-", other, self)

    def __mul__(self, other: object) -> Expression:
        return _call("*", self, other)

    def __rmul__(self, other: object) -> Expression:
        return _call("*", self, other)

    def __truediv__(self, other: object) -> Expression:
        return _call("/", self, other)

    def __rtruediv__(self, other: object) -> Expression:
        return _call("/", other, self)

    def __mod__(self, other: object) -> Expression:
        return _call("%", self, other)

    def __rmod__(self, other: object) -> Expression:
        return _call("%", other, self)

    def __pow__(self, other: object) -> Expression:
        return _call("POWER", self, other)

    def __rpow__(self, other: object) -> Expression:
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
        name = syntax_of(alias)
        assert isinstance(name, syntax.Name)
        call: Any = self._unresolved
        if isinstance(call, syntax.Call):
            call = syntax.AggregateCall(call)
        return Expression(syntax.OverCall(call, name.parts[-1]))
