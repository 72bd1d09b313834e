"""CAST, TRY_CAST, and the conversions that the types of functions ask for."""

from __future__ import annotations

from collections.abc import Callable

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.codegen import conversions
from pyflink_on_spark._sql.codegen.composite_casts import composite_cast
from pyflink_on_spark._sql.errors import ValidationError
from pyflink_on_spark._sql.plan.expressions import Conversion
from pyflink_on_spark._sql.plan.signatures import CallSite, Code
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.logical import INTEGER_BITS, LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY, cut_micros, to_instant, to_local
from pyflink_on_spark._sql.types.text import sql_text

Rule = Callable[[LogicalType, LogicalType, bool], "Code | None"]
"""Code for a conversion from one type to another, leniently or not; None if there is none."""


def cast(conversion: Conversion) -> tuple[Code, bool]:
    """Return what computes a conversion, and whether it is strict.

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
    """Tell whether there is a conversion from one type to another."""
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


def wrapped(source: str, root: Root) -> str:
    """Return source for a whole number, cut to the bits of a type; the source is used once."""
    half = 1 << (INTEGER_BITS[root] - 1)
    return f"(({source}) + {half} & {2 * half - 1}) - {half}"


def _to_integer(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    root = target.root
    if source.root in logical.INTEGERS:
        if INTEGER_BITS[source.root] <= INTEGER_BITS[root]:
            return _unchanged
        return lambda site: wrapped(site.source(0), root)
    if source.root is Root.DECIMAL:
        return _calling(conversions.decimal_to_integer, source.scale, INTEGER_BITS[root])
    if source.root in logical.APPROXIMATE:
        return _calling(conversions.double_to_integer, INTEGER_BITS[root])
    if source.root in logical.CHARACTERS:
        return _calling(conversions.text_to_integer, INTEGER_BITS[root], lenient)
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
        return _calling(conversions.decimal_to_double, source.scale, single)
    if source.root in logical.CHARACTERS:
        return _calling(conversions.text_to_double, single, lenient)
    return None


def _to_decimal(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    precision, scale = target.precision or 10, target.scale or 0
    if source.root in {*logical.INTEGERS, Root.BOOLEAN}:
        return _calling(conversions.integer_to_decimal, scale, precision)
    if source.root is Root.DECIMAL:
        grows = scale >= (source.scale or 0)
        roomy = precision - scale >= (source.precision or 0) - (source.scale or 0)
        if grows and roomy:
            return _template(f"{{0}} * {10 ** (scale - (source.scale or 0))}")
        return _calling(conversions.decimal_to_decimal, source.scale, scale, precision)
    if source.root in logical.APPROXIMATE:
        return _calling(conversions.double_to_decimal, scale, precision)
    if source.root in logical.CHARACTERS:
        return _calling(conversions.text_to_decimal, scale, precision, lenient)
    return None


def _to_characters(source: LogicalType, target: LogicalType, _lenient: bool) -> Code | None:
    length = target.precision or 1
    padded = target.root is Root.CHAR

    def fitted(text: str) -> str:
        if padded:
            return f"{text}[:{length}].ljust({length})"
        return text if length == logical.MAX_LENGTH else f"{text}[:{length}]"

    if source.root in logical.CHARACTERS:
        grows = (source.precision or 1) <= length
        if grows and not padded:
            return _unchanged
        return lambda site: fitted(f"({site.source(0)})")

    def code(site: CallSite) -> str:
        text = site.bind(sql_text(source, site.time_zone), "text")
        return fitted(f"{text}({site.source(0)})")

    return code


def _to_bytes(source: LogicalType, target: LogicalType, _lenient: bool) -> Code | None:
    length = target.precision or 1
    cut = "" if length == logical.MAX_LENGTH else f"[:{length}]"
    padded = f".ljust({length}, b'\\0')" if target.root is Root.BINARY else ""
    if source.root in logical.CHARACTERS:
        return lambda site: f"({site.source(0)}).encode(){cut}{padded}"
    if source.root in logical.BYTES_LIKE:
        return lambda site: f"({site.source(0)}){cut}{padded}"
    return None


def _to_boolean(source: LogicalType, _target: LogicalType, lenient: bool) -> Code | None:
    if source.root in logical.CHARACTERS:
        return _calling(conversions.text_to_boolean, lenient)
    return _template("{0} != 0") if source.root in logical.INTEGERS else None


def _to_date(source: LogicalType, _target: LogicalType, lenient: bool) -> Code | None:
    if source.root is Root.TIMESTAMP:
        return _template(f"({{0}}) // {MICROS_PER_DAY}")
    if source.root is Root.TIMESTAMP_LTZ:
        return _zoned(to_local, f" // {MICROS_PER_DAY}")
    if source.root in logical.CHARACTERS:
        return _calling(conversions.text_to_date, lenient)
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
        return _calling(conversions.text_to_time, digits, lenient)
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
        parsed = _calling(conversions.text_to_timestamp, digits, lenient)
        if local:
            return parsed
        return lambda site: _instant(site, parsed(site))
    return None


def _instant(site: CallSite, source: str) -> str:
    name = site.bind(to_instant, "to_instant")
    return f"{name}({source}, {site.time_zone!r})"


def _to_composite(source: LogicalType, target: LogicalType, lenient: bool) -> Code | None:
    if source.root is not target.root or len(source.children) != len(target.children):
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
    **dict.fromkeys((Root.ARRAY, Root.MAP, Root.ROW, Root.MULTISET), _to_composite),
}
