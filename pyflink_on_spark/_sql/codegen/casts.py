"""CAST, TRY_CAST, and the conversions that the types of functions ask for."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.codegen.program import Limited, Limits
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import Conversion, InputRef
from pyflink_on_spark._sql.plan.signatures import CallSite, Code, wrapped
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import (
    LONG_DIGITS,
    bounded,
    parse_decimal,
    parse_short_decimal,
    rescale,
)
from pyflink_on_spark._sql.types.logical import INTEGER_BITS, LogicalType, Root
from pyflink_on_spark._sql.types.temporal import (
    MICROS_PER_DAY,
    cut_micros,
    parse_cast_timestamp,
    parse_date,
    parse_time,
    to_instant,
    to_local,
)
from pyflink_on_spark._sql.types.text import sql_text

_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - a local time


_TRUE = frozenset({"t", "true", "y", "yes", "1"})


_FALSE = frozenset({"f", "false", "n", "no", "0"})


def cut_to_bits(number: int, bits: int) -> int:
    """Cut a whole number to the last bits, as Java does."""
    half = 1 << (bits - 1)
    return (number + half & 2 * half - 1) - half


def decimal_to_integer(unscaled: int, scale: int, bits: int) -> int:
    """Drop the digits after the point."""
    whole = abs(unscaled) // 10**scale
    return cut_to_bits(-whole if unscaled < 0 else whole, bits)


def double_to_integer(number: float, bits: int) -> int:
    """Drop the fraction; beyond the range the result is the nearest value."""
    if number != number:  # noqa: PLR0124 - not a number
        return 0
    wide = max(bits, 32)
    half = 1 << (wide - 1)
    if number >= half:
        return cut_to_bits(half - 1, bits)
    return cut_to_bits(-half if number <= -half else int(number), bits)


def text_to_integer(text: str, bits: int, lenient: bool) -> int | None:
    """Read a whole number; digits after a point are dropped."""
    stripped = text.strip()
    try:
        number = int(stripped) if stripped.isascii() and "_" not in stripped else None
    except ValueError:
        found = parse_decimal(stripped.partition(".")[0] or "0", 0, 38) if "." in stripped else None
        number = found if found is not None and _is_plain(stripped) else None
    half = 1 << (bits - 1)
    if number is None or not -half <= number < half:
        _refuse(text, "a whole number", lenient)
        return None
    return number


def _is_plain(text: str) -> bool:
    return text.isascii() and text.lstrip("+-").replace(".", "", 1).isdigit()


def decimal_to_single(unscaled: int, scale: int) -> float:
    """Return the nearest FLOAT of the nearest DOUBLE."""
    return to_single(unscaled / 10**scale)


def text_to_double(text: str, single: bool, lenient: bool) -> float | None:
    """Read a number."""
    try:
        if "_" in text:
            raise ValueError(text)
        number = float(text)
    except ValueError:
        _refuse(text, "a number", lenient)
        return None
    return to_single(number) if single else number


def integer_to_decimal(number: int, scale: int, precision: int) -> int | None:
    """Return the same number, or None if there are too few digits for it."""
    return bounded(int(number) * 10**scale, precision)


def decimal_to_decimal(unscaled: int, before: int, after: int, precision: int) -> int | None:
    """Return the number rounded half up, or None if there are too few digits for it."""
    return bounded(rescale(unscaled, before, after), precision)


def double_to_decimal(number: float, scale: int, precision: int) -> int | None:
    """Return the number rounded half up, or None if there are too few digits for it."""
    if not math.isfinite(number):
        return None
    return parse_decimal(repr(number), scale, precision)


def text_to_decimal(text: str, scale: int, precision: int, lenient: bool) -> int | None:
    """Read a number."""
    if precision <= LONG_DIGITS and len(text.encode()) <= LONG_DIGITS:
        found = parse_short_decimal(text, scale, precision)
    else:
        found = parse_decimal(text, scale, precision)
    if found is None:
        _refuse(text, f"a DECIMAL({precision}, {scale})", lenient)
    return found


def text_to_boolean(text: str, lenient: bool) -> bool | None:
    """Read TRUE or FALSE."""
    word = text.strip().lower()
    if word in _TRUE:
        return True
    if word in _FALSE:
        return False
    _refuse(text, "a BOOLEAN", lenient)
    return None


def text_to_date(text: str, lenient: bool) -> int | None:
    """Read a date; what follows a space after the date does not matter."""
    end = text.find(" ")
    found = parse_date(text[:end] if end > 0 else text)
    if found is None:
        _refuse(text, "a DATE", lenient)
        return None
    return found


def text_to_time(text: str, digits: int, lenient: bool) -> int | None:
    """Read a time of day."""
    found = parse_time(text)
    if found is None:
        _refuse(text, "a TIME", lenient)
        return None
    return cut_micros(found, digits)


def text_to_timestamp(text: str, digits: int, lenient: bool) -> int | None:
    """Read a timestamp."""
    found = parse_cast_timestamp(text)
    if found is None:
        _refuse(text, "a TIMESTAMP", lenient)
        return None
    return cut_micros(found, digits)


def _refuse(text: str, wanted: str, lenient: bool) -> None:
    if not lenient:
        raise ValueError(f"{text!r} is not {wanted}")


def composite_cast(site: CallSite, target: LogicalType, lenient: bool) -> str:
    """Return the source of a value of one composite type as a value of another.

    Args:
        site: the conversion; the type of its operand is of the same kind as the target.
        target: the type to convert to.
        lenient: whether the value is NULL if an element cannot be converted.
    """
    if not lenient:
        return _converted(site, target, site.atom(0))
    whole = site.temporary()
    function = f"lambda {whole}: {_converted(site, target, whole)}"
    return f"{site.bind(null_if_refused, 'null_if_refused')}({function}, {site.source(0)})"


def null_if_refused(convert: Callable[[Any], object], value: object) -> object:
    """Return a converted value; None if one of its elements cannot be converted."""
    try:
        return convert(value)
    except ValueError:
        return None


def _converted(site: CallSite, target: LogicalType, whole: str) -> str:
    sources = site.types[0].children
    names = [site.temporary() for _ in sources]
    elements = site.over(names)
    casts = [
        elements.value(Conversion(to, InputRef(source.with_nullable(True), index)))
        for index, (source, to) in enumerate(zip(sources, target.children))
    ]
    if target.root in logical.ROWS:
        fields = "".join(f"{cast}, " for cast in casts)
        return f"(lambda {', '.join(names)}: ({fields}))(*{whole})"
    if target.root is Root.ARRAY:
        return f"tuple(map(lambda {names[0]}: {casts[0]}, {whole}))"
    if target.root is Root.MULTISET:
        count = site.temporary()
        return f"{{{casts[0]}: {count} for {names[0]}, {count} in {whole}.items()}}"
    key, value = casts
    return f"{{{key}: {value} for {', '.join(names)} in {whole}.items()}}"


Rule = Callable[[LogicalType, LogicalType, bool], "Code | None"]
"""Code for a conversion from one type to another, leniently or not; None if there is none."""


def cast(conversion: Conversion) -> tuple[Code, bool]:
    """Return the code of a conversion, and whether it is strict.

    Raises:
        ValidationError: there is no such conversion.
    """
    source, target = conversion.operand.type, conversion.type
    if source.same_values(target):
        return _unchanged, False
    if source.root is Root.NULL:
        return (lambda site: "None"), False
    code = _find(source, target, conversion.lenient)
    if code is None:
        raise ValidationError(
            f"Cast function cannot convert value of type {source} to type {target}"
        )
    return code, True


def can_cast(source: LogicalType, target: LogicalType) -> bool:
    """True if a conversion from one type to another exists."""
    if source.root is Root.NULL:
        return True
    if Root.VARIANT in {source.root, target.root}:
        return False
    if source.same_values(target):
        return True
    return _find(source, target, lenient=False) is not None


def _find(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    rule = _RULES.get(target.root)
    return None if rule is None else rule(source, target, lenient)


def _unchanged(site: CallSite) -> str:
    return site.source(0)


def _calling(function: Callable[..., object], *arguments: object) -> Code:
    def code(site: CallSite) -> str:
        rest = "".join(f", {argument!r}" for argument in arguments)
        return f"{site.bind(function, function.__name__)}({site.source(0)}{rest})"

    return code


def _template(text: str) -> Code:
    return lambda site: text.format(*site.for_template(text))


def _to_integer(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    root = target.root
    if source.root in logical.INTEGERS:
        if INTEGER_BITS[source.root] <= INTEGER_BITS[root]:
            return _unchanged
        return lambda site: wrapped(site.source(0), root)
    if source.root is Root.DECIMAL:
        return _calling(decimal_to_integer, source.scale, INTEGER_BITS[root])
    if source.root in logical.APPROXIMATE:
        return _calling(double_to_integer, INTEGER_BITS[root])
    if source.root in logical.CHARACTERS:
        return _calling(text_to_integer, INTEGER_BITS[root], lenient)
    if source.root is Root.BOOLEAN:
        return _template("int({0})")
    return None


def _to_approximate(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    single = target.root is Root.FLOAT
    if source.root is Root.FLOAT:
        return _unchanged
    if source.root in {*logical.INTEGERS, Root.DOUBLE, Root.BOOLEAN}:
        return _calling(to_single) if single else _template("float({0})")
    if source.root is Root.DECIMAL:
        quotient = f"({{0}} / {10 ** (source.scale or 0)})"
        return _template(quotient) if not single else _calling(decimal_to_single, source.scale)
    if source.root in logical.CHARACTERS:
        return _calling(text_to_double, single, lenient)
    return None


def _to_decimal(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    precision, scale = target.precision or 10, target.scale or 0
    if source.root in {*logical.INTEGERS, Root.BOOLEAN}:
        return _calling(integer_to_decimal, scale, precision)
    if source.root is Root.DECIMAL:
        grows = scale >= (source.scale or 0)
        roomy = precision - scale >= (source.precision or 0) - (source.scale or 0)
        if grows and roomy:
            return _template(f"{{0}} * {10 ** (scale - (source.scale or 0))}")
        return _calling(decimal_to_decimal, source.scale, scale, precision)
    if source.root in logical.APPROXIMATE:
        return _calling(double_to_decimal, scale, precision)
    if source.root in logical.CHARACTERS:
        return _calling(text_to_decimal, scale, precision, lenient)
    return None


_LONG = 64 * 1024


def padded(limits: Limits, text: str, length: int) -> str:
    """Return a text of just some length."""
    limits.check(length)
    return text[:length].ljust(length)


def padded_bytes(limits: Limits, value: bytes, length: int) -> bytes:
    """Return just some bytes."""
    limits.check(length)
    return value[:length].ljust(length, b"\0")


_PADDED, _PADDED_BYTES = Limited(padded), Limited(padded_bytes)


def _to_characters(source: LogicalType, target: LogicalType, _lenient: bool) -> Code | None:
    length = target.precision or 1
    pads = target.root is Root.CHAR

    def fitted(site: CallSite, text: str) -> str:
        if pads and length > _LONG:
            return f"{site.bind(_PADDED, 'padded')}({text}, {length})"
        if pads:
            return f"{text}[:{length}].ljust({length})"
        return text if length == logical.MAX_LENGTH else f"{text}[:{length}]"

    if source.root in logical.CHARACTERS:
        grows = (source.precision or 1) <= length
        if grows and not pads:
            return _unchanged
        return lambda site: fitted(site, f"({site.source(0)})")

    def code(site: CallSite) -> str:
        text = site.bind(sql_text(source, site.time_zone), "text")
        return fitted(site, f"{text}({site.source(0)})")

    return code


def _to_bytes(source: LogicalType, target: LogicalType, _lenient: bool) -> Code | None:
    length = target.precision or 1
    cut = "" if length == logical.MAX_LENGTH else f"[:{length}]"
    filled = f".ljust({length}, b'\\0')" if target.root is Root.BINARY else ""
    encoded = ".encode()" if source.root in logical.CHARACTERS else ""
    if not encoded and source.root not in logical.BYTES_LIKE:
        return None

    def code(site: CallSite) -> str:
        value = f"({site.source(0)}){encoded}"
        if target.root is Root.BINARY and length > _LONG:
            return f"{site.bind(_PADDED_BYTES, 'padded')}({value}, {length})"
        return f"{value}{cut}{filled}"

    return code


def _to_boolean(source: LogicalType, _target: LogicalType, lenient: bool) -> Code | None:
    if source.root in logical.CHARACTERS:
        return _calling(text_to_boolean, lenient)
    return _template("{0} != 0") if source.root in logical.INTEGERS else None


def _to_date(source: LogicalType, _target: LogicalType, lenient: bool) -> Code | None:
    if source.root is Root.TIMESTAMP:
        return _template(f"({{0}}) // {MICROS_PER_DAY}")
    if source.root is Root.TIMESTAMP_LTZ:
        return _zoned(to_local, f" // {MICROS_PER_DAY}")
    if source.root in logical.CHARACTERS:
        return _calling(text_to_date, lenient)
    return None


def _to_time(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    digits = target.precision or 0
    if source.root is Root.TIME:
        return _calling(cut_micros, digits)
    if source.root is Root.TIMESTAMP:
        return lambda site: _cut(site, f"({site.source(0)}) % {MICROS_PER_DAY}", digits)
    if source.root is Root.TIMESTAMP_LTZ:
        return lambda site: _cut(site, _zoned(to_local, f" % {MICROS_PER_DAY}")(site), digits)
    if source.root in logical.CHARACTERS:
        return _calling(text_to_time, digits, lenient)
    return None


def _cut(site: CallSite, source: str, digits: int) -> str:
    return f"{site.bind(cut_micros, 'cut_micros')}({source}, {digits})"


def _zoned(function: Callable[..., object], rest: str = "") -> Code:
    def code(site: CallSite) -> str:
        name = site.bind(function, function.__name__)
        return f"{name}({site.source(0)}, {site.time_zone!r}){rest}"

    return code


def _to_timestamp(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    digits, local = target.precision or 0, target.root is Root.TIMESTAMP
    if source.root in logical.TIMESTAMPS:
        code: Code = _unchanged
        if source.root is not target.root:
            code = _zoned(to_local if local else to_instant)
        if (source.precision or 0) <= digits:
            return code
        return lambda site: _cut(site, code(site), digits)
    if source.root is Root.DATE:
        midnight = _template(f"{{0}} * {MICROS_PER_DAY}")
        if local:
            return midnight
        return lambda site: _instant(site, midnight(site))
    if source.root in logical.CHARACTERS:
        parsed = _calling(text_to_timestamp, digits, lenient)
        if local:
            return parsed
        return lambda site: _instant(site, parsed(site))
    return None


def _instant(site: CallSite, source: str) -> str:
    name = site.bind(to_instant, "to_instant")
    return f"{name}({source}, {site.time_zone!r})"


def _to_composite(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    alike = source.root is target.root or {source.root, target.root} == set(logical.ROWS)
    if not alike or len(source.children) != len(target.children):
        return None
    if not all(map(can_cast, source.children, target.children)):
        return None
    return lambda site: composite_cast(site, target, lenient)


def _to_interval(source: LogicalType, target: LogicalType, _lenient: bool) -> Code | None:
    return _unchanged if source.root is target.root else None


_RULES: dict[Root, Rule] = {
    **dict.fromkeys(logical.INTEGERS, _to_integer),
    **dict.fromkeys(logical.APPROXIMATE, _to_approximate),
    Root.DECIMAL: _to_decimal,
    **dict.fromkeys(logical.CHARACTERS, _to_characters),
    **dict.fromkeys(logical.BYTES_LIKE, _to_bytes),
    Root.BOOLEAN: _to_boolean,
    Root.DATE: _to_date,
    Root.TIME: _to_time,
    **dict.fromkeys(logical.TIMESTAMPS, _to_timestamp),
    **dict.fromkeys(logical.INTERVALS, _to_interval),
    **dict.fromkeys((Root.ARRAY, Root.MAP, *logical.ROWS, Root.MULTISET), _to_composite),
}
