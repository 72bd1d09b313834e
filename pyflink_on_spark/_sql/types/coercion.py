"""The common type of several types, the types that a column accepts, and decimals."""

from __future__ import annotations

import decimal
import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import LogicalType, Root

MAX_DIGITS = 38
_MIN_SCALE = 6
_INTEGER_DIGITS = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}
_READABLE = frozenset({*logical.NUMERIC, *logical.DATETIMES, Root.BOOLEAN})
_LENGTHS = {**dict.fromkeys(logical.CHARACTERS, Root.VARCHAR),
            **dict.fromkeys(logical.BYTES_LIKE, Root.VARBINARY)}  # fmt: skip
LONG_DIGITS = 18
"""How many digits a DECIMAL may have that Flink keeps in a long."""
_CONTEXT = decimal.Context(prec=80)
_SHORT = re.compile(r"[ \n\t]*([+-]?)(\d*)(?:\.(\d*))?", re.ASCII)
_EXPONENT = re.compile(r"[eE]([+-](?=.)|(?=[^+-]))(\d*)", re.ASCII)
_BLANK = " \n\t"


def as_decimal(kind: LogicalType) -> LogicalType:
    """Return the DECIMAL that has all values of an exact type."""
    if kind.root is Root.DECIMAL:
        return kind
    return logical.decimal(_INTEGER_DIGITS[kind.root]).with_nullable(kind.nullable)


def bounded_decimal(precision: int, scale: int) -> LogicalType:
    """Return the DECIMAL of a result; where digits run out, those after the point go first."""
    if precision <= MAX_DIGITS:
        return logical.decimal(precision, scale)
    whole = precision - scale
    return logical.decimal(MAX_DIGITS, max(MAX_DIGITS - whole, min(scale, _MIN_SCALE)))


def common_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type that has the values of all types, or None if there is none."""
    return _folded(types, _common_number)


def merged_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type that COALESCE, GREATEST and the like have, or None if there is none.

    As in Flink, a FLOAT after a DECIMAL makes a FLOAT, and a DECIMAL after a FLOAT makes a DOUBLE.
    """
    return _folded(types, _merged_number)


def least_restrictive(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type that operators of SQL have for these operands, or None if there is none.

    As in Flink, the first of FLOAT and DOUBLE is taken, so that a DOUBLE may lose digits.
    """
    return _folded(types, _first_number)


_Numbers = Callable[[LogicalType, LogicalType], LogicalType]


def _folded(types: Sequence[LogicalType], numbers: _Numbers) -> LogicalType | None:
    nullable = any(kind.nullable or kind.root is Root.NULL for kind in types)
    known = [kind.plain() for kind in types if kind.root is not Root.NULL]
    if not known:
        return logical.NULL
    result: LogicalType | None = known[0]
    for kind in known[1:]:
        if result is None:
            return None
        result = _common_of_two(result, kind, numbers)
    return None if result is None else result.with_nullable(nullable)


def comparable_type(types: Sequence[LogicalType]) -> LogicalType | None:
    """Return the type in which values can be compared: texts become what they are compared with."""
    found = common_type(types)
    if found is not None:
        return found
    others = [kind for kind in types if kind.root not in logical.CHARACTERS]
    found = common_type(others)
    if found is None or found.root not in _READABLE:
        return None
    return found.with_nullable(any(kind.nullable for kind in types))


def _common_of_two(one: LogicalType, two: LogicalType, numbers: _Numbers) -> LogicalType | None:
    if one.same_values(two):
        return one
    if one.root in logical.NUMERIC and two.root in logical.NUMERIC:
        return numbers(one, two)
    if one.root in _LENGTHS and _LENGTHS.get(two.root) is _LENGTHS[one.root]:
        return _common_length(one, two)
    if one.root in logical.TIMESTAMPS and two.root in logical.TIMESTAMPS:
        return _common_timestamp(one, two)
    if one.root is two.root is Root.TIME:
        return one if (one.precision or 0) >= (two.precision or 0) else two
    if Root.STRUCTURED in {one.root, two.root}:
        return None
    if one.root is two.root and one.children and len(one.children) == len(two.children):
        return _common_composite(one, two, numbers)
    return None


def _common_number(one: LogicalType, two: LogicalType) -> LogicalType:
    for root in (Root.DOUBLE, Root.FLOAT):
        if root in {one.root, two.root}:
            other = two if one.root is root else one
            return logical.DOUBLE if other.root is Root.DECIMAL else LogicalType(root)
    if Root.DECIMAL not in {one.root, two.root}:
        wider = max(one.root, two.root, key=logical.INTEGERS.index)
        return LogicalType(wider)
    first, second = as_decimal(one), as_decimal(two)
    scale = max(first.scale or 0, second.scale or 0)
    whole = max(_whole_digits(first), _whole_digits(second))
    return bounded_decimal(whole + scale, scale)


def _first_number(one: LogicalType, two: LogicalType) -> LogicalType:
    both = one.root in logical.APPROXIMATE and two.root in logical.APPROXIMATE
    return one if both else _common_number(one, two)


def _merged_number(one: LogicalType, two: LogicalType) -> LogicalType:
    single = one.root is Root.DECIMAL and two.root is Root.FLOAT
    return two if single else _common_number(one, two)


def _whole_digits(kind: LogicalType) -> int:
    return (kind.precision or 0) - (kind.scale or 0)


def _common_length(one: LogicalType, two: LogicalType) -> LogicalType:
    length = max(one.precision or 0, two.precision or 0)
    return LogicalType(_LENGTHS[one.root], precision=length)


def _common_timestamp(one: LogicalType, two: LogicalType) -> LogicalType:
    digits = max(one.precision or 0, two.precision or 0)
    local = Root.TIMESTAMP_LTZ in {one.root, two.root}
    return logical.timestamp_ltz(digits) if local else logical.timestamp(digits)


def _common_composite(one: LogicalType, two: LogicalType, numbers: _Numbers) -> LogicalType | None:
    children = [_folded(pair, numbers) for pair in zip(one.children, two.children)]
    if None in children:
        return None
    return replace(one, children=tuple(child for child in children if child is not None))


def can_insert(source: LogicalType, target: LogicalType) -> bool:
    """True if values of one type can be written to a column of another, with a cast if needed."""
    if source.root is Root.NULL or source.same_values(target):
        return True
    if source.root in logical.NUMERIC and target.root in logical.NUMERIC:
        return _number_fits(source, target)
    if source.root in _LENGTHS and _LENGTHS.get(target.root) is _LENGTHS[source.root]:
        return target.root in {source.root, Root.VARCHAR, Root.VARBINARY}
    if source.root in logical.TIMESTAMPS and target.root in logical.TIMESTAMPS:
        return True
    if source.root is Root.DATE and target.root in logical.TIMESTAMPS:
        return True
    alike = source.root is target.root or {source.root, target.root} == set(logical.ROWS)
    if alike and len(source.children) == len(target.children):
        return (
            bool(source.children) and all(map(can_insert, source.children, target.children))
        ) or (source.root is Root.TIME)
    return False


def _number_fits(source: LogicalType, target: LogicalType) -> bool:
    if target.root in logical.APPROXIMATE:
        return target.root is Root.DOUBLE or source.root is not Root.DOUBLE
    if source.root in logical.APPROXIMATE:
        return False
    if target.root is Root.DECIMAL:
        return True
    if source.root is Root.DECIMAL:
        return False
    return logical.INTEGERS.index(source.root) <= logical.INTEGERS.index(target.root)


def rescale(unscaled: int, before: int, after: int) -> int:
    """Return a number with another number of digits after the point, rounded half up."""
    if after >= before:
        return unscaled * int(10 ** (after - before))
    return divide_half_up(unscaled, 10 ** (before - after))


def divide_integers(dividend: int, divisor: int) -> int:
    """Divide, and drop the fraction."""
    if divisor == 0:
        raise ZeroDivisionError("/ by zero")
    quotient = abs(dividend) // abs(divisor)
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def divide_half_up(dividend: int, divisor: int) -> int:
    """Return a quotient, rounded to the nearest whole number, the half away from zero."""
    quotient, rest = divmod(abs(dividend), abs(divisor))
    if 2 * rest >= abs(divisor):
        quotient += 1
    return quotient if (dividend < 0) == (divisor < 0) else -quotient


def bounded(unscaled: int, precision: int) -> int | None:
    """Return a number, or None if it has more digits than there may be."""
    return unscaled if -(10**precision) < unscaled < 10**precision else None


def from_decimal(value: decimal.Decimal, kind: LogicalType) -> int | None:
    """Return the number that stands for a Decimal, or None if it has too many digits."""
    scale = kind.scale or 0
    scaled = value.scaleb(scale, _CONTEXT).to_integral_value(decimal.ROUND_HALF_UP, _CONTEXT)
    return bounded(int(scaled), kind.precision or 10)


def to_decimal(unscaled: int, scale: int) -> decimal.Decimal:
    """Return the Decimal that a number stands for, with all digits after the point."""
    return decimal.Decimal(unscaled).scaleb(-scale, _CONTEXT)


def parse_decimal(text: str, scale: int, precision: int) -> int | None:
    """Return the number that a text means, or None if the text is no number."""
    try:
        value = decimal.Decimal(text.strip())
    except decimal.InvalidOperation:
        return None
    if not value:
        return 0
    if not value.is_finite() or value.adjusted() >= precision:
        return None
    scaled = value.scaleb(scale, _CONTEXT).to_integral_value(decimal.ROUND_HALF_UP, _CONTEXT)
    return bounded(int(scaled), precision)


def parse_short_decimal(text: str, scale: int, precision: int) -> int | None:
    """Return the number that CAST reads of a short text for a short DECIMAL, or None.

    Flink reads these with a parser of its own. Zeros in front count as digits, a rounded number may
    have a digit too many, and one wrong character after the digits does not matter.
    """
    match = _SHORT.match(text)
    assert match is not None, "the pattern matches an empty text"
    sign, whole, fraction = match.group(1), match.group(2), match.group(3)
    rest, exponent = text[match.end() :], 0
    if not (rest or whole or fraction is not None):
        return None
    found = _EXPONENT.match(rest)
    if found is not None:
        exponent = int(found.group(1) + (found.group(2) or "0"))
        rest = rest[found.end() :]
    if rest[1:].strip(_BLANK) or not rest[:1].isascii():
        return None
    digits = whole + (fraction or "")
    change = exponent - len(fraction or "") + scale
    if len(digits) + change > precision or change < -LONG_DIGITS:
        return None
    unscaled = rescale(int(digits or "0"), 0, change)
    return -unscaled if sign == "-" else unscaled


def decimal_text(unscaled: int, scale: int) -> str:
    """Write a number with all digits after the point."""
    if not scale:
        return str(unscaled)
    digits = f"{abs(unscaled):0{scale + 1}d}"
    return f"{'-' if unscaled < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"
