"""Arithmetic: operators, with what Java does where Python differs."""

from __future__ import annotations

import calendar
import datetime
import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.functions.definitions import calling, inline
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Code,
    Nulls,
    Overload,
    Parameter,
    Result,
    ScalarFunction,
    like,
    of,
    wrapped,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import (
    as_decimal,
    bounded,
    bounded_decimal,
    divide_half_up,
    divide_integers,
    least_restrictive,
    rescale,
)
from pyflink_on_spark._sql.types.logical import LogicalType, Root
from pyflink_on_spark._sql.types.temporal import MICROS_PER_DAY

_EPOCH_DAY = datetime.date(1970, 1, 1).toordinal()
_integers = of(Root.INT, *logical.INTEGERS)
_exact = of(Root.INT, *logical.EXACT)
_numbers = of(Root.INT, *logical.NUMERIC)
_timestamps = of(*logical.TIMESTAMPS)
_date = of(Root.DATE)
_time = of(Root.TIME)
_months = of(Root.INTERVAL_MONTH)
_micros = of(Root.INTERVAL_SECOND)
_FULL = 38
_MILLISECONDS = 3
_OF_DAY = f"({{0}} + {{1}}) % {MICROS_PER_DAY}"
_intervals = of(Root.INTERVAL_SECOND, Root.INTERVAL_MONTH)


def remainder(dividend: int, divisor: int) -> int:
    """Return the remainder of a division, with the sign of the dividend."""
    if divisor == 0:
        raise ZeroDivisionError("/ by zero")
    rest = abs(dividend) % abs(divisor)
    return -rest if dividend < 0 else rest


def divide_doubles(dividend: float, divisor: float) -> float:
    """Divide; by zero it is infinite, or not a number."""
    try:
        return dividend / divisor
    except ZeroDivisionError:
        if dividend == 0 or math.isnan(dividend):
            return math.nan
        return math.copysign(math.inf, dividend) * math.copysign(1, divisor)


def add_months(days: int, months: int) -> int:
    """Return a date some months later; at most the last day of that month."""
    date = datetime.date.fromordinal(days + _EPOCH_DAY)
    year, month = divmod(date.year * 12 + date.month - 1 + months, 12)
    day = min(date.day, calendar.monthrange(year, month + 1)[1])
    return datetime.date(year, month + 1, day).toordinal() - _EPOCH_DAY


def add_months_to_timestamp(micros: int, months: int) -> int:
    """Return a timestamp some months later."""
    days, time = divmod(micros, MICROS_PER_DAY)
    return add_months(days, months) * MICROS_PER_DAY + time


# -- whole numbers -------------------------------------------------------------------------------


def _wrapping(template: str) -> Code:
    """Return code for whole numbers that are cut to their bits, as Java does."""
    return lambda site: wrapped(template.format(*site.sources()), site.type.root)


def _common(types: Sequence[LogicalType]) -> LogicalType:
    found = least_restrictive(types)
    assert found is not None
    return found


def _whole(template: str) -> Overload:
    return Overload((_integers, _integers), _common, _wrapping(template))


def _divide_whole(site: CallSite) -> str:
    divide = site.bind(divide_integers, "divide_integers")
    return wrapped(f"{divide}({', '.join(site.sources())})", site.type.root)


# -- decimals ------------------------------------------------------------------------------------


def _digits(types: Sequence[LogicalType]) -> tuple[int, int, int, int]:
    one, two = as_decimal(types[0]), as_decimal(types[1])
    return one.precision or 0, one.scale or 0, two.precision or 0, two.scale or 0


def _sum_type(types: Sequence[LogicalType]) -> LogicalType:
    precision, scale, precision2, scale2 = _digits(types)
    larger = max(scale, scale2)
    return _capped(max(precision - scale, precision2 - scale2) + larger + 1, larger)


def _product_type(types: Sequence[LogicalType]) -> LogicalType:
    precision, scale, precision2, scale2 = _digits(types)
    return _capped(precision + precision2 + 1, scale + scale2)


def _quotient_type(types: Sequence[LogicalType]) -> LogicalType:
    precision, scale, precision2, scale2 = _digits(types)
    after = max(6, scale + precision2 + 1)
    return _capped(precision - scale + scale2 + after, after)


def _remainder_type(types: Sequence[LogicalType]) -> LogicalType:
    precision, scale, precision2, scale2 = _digits(types)
    larger = max(scale, scale2)
    whole = min(precision - scale, precision2 - scale2)
    return bounded_decimal(whole + larger, larger).with_nullable(False)


def _capped(precision: int, scale: int) -> LogicalType:
    """Return a DECIMAL; a value that has too many digits for it is NULL, if that can be."""
    return bounded_decimal(precision, scale).with_nullable(precision > _FULL)


def _scale(kind: LogicalType) -> int:
    return kind.scale or 0


def _aligned(site: CallSite, after: int) -> list[str]:
    """Return the operands with the same number of digits after the point."""
    sources = []
    for source, kind in zip(site.sources(), site.types):
        factor = 10 ** (after - _scale(kind))
        sources.append(source if factor == 1 else f"{source} * {factor}")
    return sources


def _fitted(site: CallSite, source: str, before: int) -> str:
    """Return a number with the digits that the result has."""
    scale, precision = _scale(site.type), site.type.precision or _FULL
    if before != scale:
        source = f"{site.bind(rescale, 'rescale')}({source}, {before}, {scale})"
    if site.type.nullable and precision == _FULL:
        source = f"{site.bind(bounded, 'bounded')}({source}, {precision})"
    return source


def _decimal_sum(operator: str) -> Code:
    def code(site: CallSite) -> str:
        after = max(map(_scale, site.types))
        return _fitted(site, f" {operator} ".join(_aligned(site, after)), after)

    return code


def _decimal_product(site: CallSite) -> str:
    return _fitted(site, " * ".join(site.sources()), sum(map(_scale, site.types)))


def _decimal_quotient(site: CallSite) -> str:
    one, two = site.types
    shift = _scale(site.type) - _scale(one) + _scale(two)
    dividend, divisor = site.sources()
    if shift >= 0:
        dividend = f"{dividend} * {10**shift}"
    else:
        divisor = f"{divisor} * {10**-shift}"
    quotient = f"{site.bind(divide_half_up, 'divide_half_up')}({dividend}, {divisor})"
    return f"{site.bind(bounded, 'bounded')}({quotient}, {site.type.precision})"


def _decimal_remainder(site: CallSite) -> str:
    after = max(map(_scale, site.types))
    rest = site.bind(remainder, "remainder")
    return f"{rest}({', '.join(_aligned(site, after))})"


def _decimals(result: Result, code: Code) -> Overload:
    return Overload((_exact, _exact), result, code, Nulls.STRICT_NULLABLE)


# -- floating point numbers ----------------------------------------------------------------------


def _floating(make: Callable[[CallSite, list[str]], str]) -> Overload:
    """Return the form for numbers of which one has a floating point."""

    def code(site: CallSite) -> str:
        result = make(site, site.sources())
        if site.type.root is Root.FLOAT:
            return f"{site.bind(to_single, 'to_single')}({result})"
        return result

    return Overload((_numbers, _numbers), _common, code, unified=_common_of_numbers)


def _common_of_numbers(types: Sequence[LogicalType]) -> LogicalType | None:
    numbers = {*logical.NUMERIC, Root.NULL}
    return _common(types) if all(kind.root in numbers for kind in types) else None


def _by_operator(operator: str) -> Overload:
    return _floating(lambda site, sources: f" {operator} ".join(sources))


def _by_function(function: Callable[..., object]) -> Overload:
    return _floating(
        lambda site, sources: f"{site.bind(function, function.__name__)}({', '.join(sources)})"
    )


# -- dates, times and intervals ------------------------------------------------------------------


def _form(one: Parameter, two: Parameter, index: int, code: Code) -> Overload:
    return Overload((one, two), lambda types: _in_milliseconds(types[index]), code)


def _in_milliseconds(kind: LogicalType) -> LogicalType:
    """Return the type of a result: timestamps have a fraction of three digits at least."""
    if kind.root in logical.TIMESTAMPS and (kind.precision or 0) < _MILLISECONDS:
        return replace(kind, precision=_MILLISECONDS)
    return kind


def _days_later(sign: str) -> Code:
    """Return code that moves a date by the whole days of an interval of either sign."""

    def code(site: CallSite) -> str:
        date, micros = site.sources()
        if site.types[0].root is Root.INTERVAL_SECOND:
            date, micros = micros, date
        days = site.bind(divide_integers, "divide_integers")
        return f"{date} {sign} {days}({micros}, {MICROS_PER_DAY})"

    return code


def _months_later(sign: str) -> tuple[Code, Code]:
    def on_date(site: CallSite) -> str:
        return _added(site, add_months)

    def on_timestamp(site: CallSite) -> str:
        return _added(site, add_months_to_timestamp)

    def _added(site: CallSite, function: Callable[..., object]) -> str:
        sources = site.sources()
        if site.types[0].root is Root.INTERVAL_MONTH:
            sources.reverse()
        return f"{site.bind(function, function.__name__)}({sources[0]}, {sign}{sources[1]})"

    return on_date, on_timestamp


_later_date, _later_timestamp = _months_later("")
_earlier_date, _earlier_timestamp = _months_later("-")
_later_day, _earlier_day = _days_later("+"), _days_later("-")
_PLUS_TIMES = (
    _form(_timestamps, _micros, 0, inline("{0} + {1}")),
    _form(_micros, _timestamps, 1, inline("{0} + {1}")),
    _form(_timestamps, _months, 0, _later_timestamp),
    _form(_months, _timestamps, 1, _later_timestamp),
    _form(_date, _micros, 0, _later_day),
    _form(_micros, _date, 1, _later_day),
    _form(_date, _months, 0, _later_date),
    _form(_months, _date, 1, _later_date),
    _form(_time, _micros, 0, inline(_OF_DAY)),
    _form(_micros, _time, 1, inline(_OF_DAY)),
    _form(_micros, _micros, 0, inline("{0} + {1}")),
    _form(_months, _months, 0, inline("{0} + {1}")),
)
_MINUS_TIMES = (
    _form(_timestamps, _micros, 0, inline("{0} - {1}")),
    _form(_timestamps, _months, 0, _earlier_timestamp),
    _form(_date, _micros, 0, _earlier_day),
    _form(_date, _months, 0, _earlier_date),
    _form(_time, _micros, 0, inline(f"({{0}} - {{1}}) % {MICROS_PER_DAY}")),
    _form(_micros, _micros, 0, inline("{0} - {1}")),
    _form(_months, _months, 0, inline("{0} - {1}")),
)
_TIMES_INTERVALS = (
    _form(_intervals, _integers, 0, inline("{0} * {1}")),
    _form(_integers, _intervals, 1, inline("{0} * {1}")),
)


def _forms(operator: str) -> tuple[str, ...]:
    interval, datetime = "<DATETIME_INTERVAL>", "<DATETIME>"
    sides = {
        "+": [(interval, interval), (datetime, interval), (interval, datetime)],
        "-": [(interval, interval), (datetime, interval)],
        "*": [(interval, "<NUMERIC>"), ("<NUMERIC>", interval)],
        "/": [(interval, "<NUMERIC>")],
    }[operator]
    sides = [("<NUMERIC>", "<NUMERIC>"), *sides]
    return tuple(f"'{left} {operator} {right}'" for left, right in sides)


def _negate(site: CallSite) -> str:
    negated = f"-{site.source(0)}"
    if site.type.root in logical.INTEGERS:
        return wrapped(negated, site.type.root)
    return negated


FUNCTIONS = (
    ScalarFunction(
        "+",
        (
            _whole("{0} + {1}"),
            _decimals(_sum_type, _decimal_sum("+")),
            _by_operator("+"),
            *_PLUS_TIMES,
        ),
        _forms("+"),
    ),
    ScalarFunction(
        "-",
        (
            _whole("{0} - {1}"),
            _decimals(_sum_type, _decimal_sum("-")),
            _by_operator("-"),
            *_MINUS_TIMES,
        ),
        _forms("-"),
    ),
    ScalarFunction(
        "*",
        (
            _whole("{0} * {1}"),
            _decimals(_product_type, _decimal_product),
            _by_operator("*"),
            *_TIMES_INTERVALS,
        ),
        _forms("*"),
    ),
    ScalarFunction(
        "/",
        (
            Overload((_integers, _integers), _common, _divide_whole),
            _decimals(_quotient_type, _decimal_quotient),
            _by_function(divide_doubles),
        ),
        _forms("/"),
    ),
    ScalarFunction(
        "%",
        (
            Overload((_integers, _integers), like(1), calling(remainder)),
            _decimals(_remainder_type, _decimal_remainder),
        ),
        ("'<EXACT_NUMERIC> % <EXACT_NUMERIC>'",),
        aliases=("MOD",),
    ),
    ScalarFunction(
        "UNARY -",
        (
            Overload((_numbers,), like(), _negate),
            Overload((_intervals,), like(), inline("-{0}")),
        ),
        ("'-<NUMERIC>'", "'-<DATETIME_INTERVAL>'"),
    ),
    ScalarFunction(
        "UNARY +",
        (Overload((_numbers,), like(), inline("{0}")),),
        ("'+<NUMERIC>'", "'+<DATETIME_INTERVAL>'"),
    ),
)
