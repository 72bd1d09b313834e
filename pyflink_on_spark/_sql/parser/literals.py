"""Literals."""

from __future__ import annotations

import decimal
import math
import re

from pyflink_on_spark._sql.errors import Span, SqlParseError, invalid
from pyflink_on_spark._sql.parser.cursor import Kind, Token
from pyflink_on_spark._sql.syntax.expressions import Literal
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import MAX_DIGITS
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    MICROS_PER_HOUR,
    MICROS_PER_MINUTE,
    MICROS_PER_SECOND,
    fraction_digits,
    parse_date,
    parse_time,
    parse_timestamp,
)

MONTHS_PER_UNIT = {"YEAR": 12, "QUARTER": 3, "MONTH": 1}
MICROS_PER_UNIT = {
    "WEEK": 7 * MICROS_PER_DAY,
    "DAY": MICROS_PER_DAY,
    "HOUR": MICROS_PER_HOUR,
    "MINUTE": MICROS_PER_MINUTE,
    "SECOND": MICROS_PER_SECOND,
}
UNITS = frozenset(MONTHS_PER_UNIT) | frozenset(MICROS_PER_UNIT)
_MOST_DIGITS = 4_000
_PLURALS = {f"{unit}S": unit for unit in UNITS}
_RANGE = ("DAY", "HOUR", "MINUTE", "SECOND")
_SPLIT = re.compile(r"[ :]")
# A sign counts as a digit, as in Java.
_FOUR_DIGITS = re.compile("[0-9a-fA-F+][0-9a-fA-F]{3}")
_NO_ESCAPES = frozenset('0123456789abcdefABCDEF+" \t\n\r')


def unit_of(word: str) -> str | None:
    """Return the unit of time that a word names, in the singular, or None."""
    return word if word in UNITS else _PLURALS.get(word)


def number(token: Token, sign: str = "", begin: Span | None = None) -> Literal:
    """Return the constant for a number.

    Args:
        token: the number.
        sign: the sign before it, for messages only.
        begin: where the sign is.
    """
    span = token.span if begin is None else begin.to(token.span)
    text = token.text
    if token.kind is Kind.DOUBLE:
        if math.isinf(float(text)):
            shown = f"{decimal.Decimal(text):E}".replace("+", "")
            raise out_of_range(sign + shown, span)
        return Literal(float(text), logical.DOUBLE.with_nullable(False), span=token.span)
    whole, _, fraction = text.partition(".")
    if len(text) > _MOST_DIGITS:  # more than Python converts
        raise out_of_range(sign + text, span)
    value = int((whole + fraction) or "0")
    if token.kind is Kind.INTEGER and value < 2**63:
        kind = logical.INT if value < 2**31 else logical.BIGINT
    else:
        # The lowest BIGINT is a number that is too high, with a sign.
        if value > 2**63:
            raise out_of_range(sign + text, span)
        digits = len(whole) + len(fraction)  # as written, with the zeros in front
        kind = logical.decimal(min(digits, MAX_DIGITS), len(fraction))
    return Literal(value, kind.with_nullable(False), span=token.span)


def out_of_range(text: str, span: Span | None) -> Exception:
    """Return the error for a number with too many digits."""
    return invalid(f"Numeric literal '{text}' out of range", span)


def string(text: str, span: Span) -> Literal:
    """Return the constant for a text."""
    # Flink's shortest CHAR has no character at all.
    return Literal(text, logical.char(len(text)).with_nullable(False), span=span)


def unicode_string(text: str, escape: str, span: Span) -> Literal:
    """Return the constant for ``U&'...'``, in which an escape and four digits are a character."""
    if len(escape) != 1:
        raise wrong_literal(f"UESCAPE '{escape}' must be exactly one character")
    if escape in _NO_ESCAPES:
        raise wrong_literal(
            f"UESCAPE '{escape}' may not be hex digit, whitespace, plus sign, or double quote"
        )
    made: list[str] = []
    index = 0
    while (found := text.find(escape, index)) >= 0:
        made.append(text[index:found])
        if text.startswith(escape, found + 1):
            made.append(escape)
            index = found + 2
            continue
        digits = text[found + 1 : found + 5]
        if not _FOUR_DIGITS.fullmatch(digits):
            raise wrong_literal(
                f"Unicode escape sequence starting at character {found} is not exactly four hex "
                "digits"
            )
        made.append(chr(int(digits, 16)))
        index = found + 5
    joined = "".join([*made, text[index:]])
    # Two escapes may be the halves of one character.
    return string(joined.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), span)


def wrong_literal(reason: str) -> SqlParseError:
    """Return the error for a literal that cannot be read."""
    return SqlParseError(f"SQL parse failed. {reason}")


def byte_string(token: Token) -> Literal:
    """Return the constant for ``x'...'``."""
    try:
        value = bytes.fromhex(token.text)
    except ValueError:
        raise invalid("Binary literal string must contain only characters '0' - '9', 'A' - 'F', "
                      "an even number of them", token.span) from None  # fmt: skip
    return Literal(value, logical.binary(len(value)).with_nullable(False), span=token.span)


def temporal(word: str, text: str, span: Span) -> Literal:
    """Return the constant for ``DATE '...'``, ``TIME '...'`` or ``TIMESTAMP '...'``."""
    if word == "DATE":
        value, kind = parse_date(text), logical.DATE
    elif word == "TIME":
        value, kind = parse_time(text), logical.time(fraction_digits(text))
    else:
        value, kind = parse_timestamp(text), logical.timestamp(fraction_digits(text))
    if value is None:
        raise invalid(f"Illegal {word} literal '{text}'", span)
    return Literal(value, kind.with_nullable(False), span=span)


def interval(text: str, unit: str, to: str | None, span: Span) -> Literal:
    """Return the constant for an ``INTERVAL``."""
    negative, digits = text.strip().startswith("-"), text.strip().lstrip("+-")
    try:
        if unit in MONTHS_PER_UNIT:
            value, kind = _months(digits, unit, to), logical.INTERVAL_MONTH
        else:
            value, kind = _micros(digits, unit, to), logical.INTERVAL_SECOND
    except ValueError:
        units = unit if to is None else f"{unit} TO {to}"
        raise invalid(
            f"Illegal interval literal format '{text}' for INTERVAL {units}", span
        ) from None
    return Literal(-value if negative else value, kind.with_nullable(False), span=span)


def _months(digits: str, unit: str, to: str | None) -> int:
    if to is None:
        return int(digits) * MONTHS_PER_UNIT[unit]
    years, _, months = digits.partition("-")
    if unit != "YEAR" or to != "MONTH" or int(months) > 11:
        raise ValueError(digits)
    return int(years) * 12 + int(months)


def _micros(digits: str, unit: str, to: str | None) -> int:
    if to is None:
        return _one_micros(digits, unit)
    units = _RANGE[_RANGE.index(unit) : _RANGE.index(to) + 1]
    parts = _SPLIT.split(digits)
    if len(parts) != len(units):
        raise ValueError(digits)
    return sum(map(_one_micros, parts, units))


def _one_micros(digits: str, unit: str) -> int:
    whole, point, fraction = digits.partition(".")
    if point and unit != "SECOND":
        raise ValueError(digits)
    micros = int((fraction + "000000")[:6]) if point else 0
    return int(whole) * MICROS_PER_UNIT[unit] + micros
