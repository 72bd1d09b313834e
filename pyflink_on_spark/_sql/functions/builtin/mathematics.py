"""Mathematical functions."""

from __future__ import annotations

import math
import random
import uuid
from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._connectors.formats.java_parsing import to_single
from pyflink_on_spark._sql.functions.builtin.times import ceiling_to_unit, floor_to_unit
from pyflink_on_spark._sql.functions.definitions import calling, function_of, inline
from pyflink_on_spark._sql.plan.expressions import Constant, Conversion, Invocation, Typed
from pyflink_on_spark._sql.plan.signatures import (
    CallSite,
    Nulls,
    Overload,
    ScalarFunction,
    always,
    as_double,
    as_int,
    integers,
    like,
    numbers,
    of,
    wrapped,
)
from pyflink_on_spark._sql.types import logical
from pyflink_on_spark._sql.types.coercion import divide_half_up, merged_type
from pyflink_on_spark._sql.types.logical import LogicalType, Root

_decimals = of(Root.DECIMAL)
_approximate = of(Root.DOUBLE, Root.FLOAT)
_times = of(Root.TIMESTAMP, Root.TIMESTAMP_LTZ, Root.DATE, Root.TIME)


def logarithm(value: float) -> float:
    """Return the natural logarithm; of 0 it is minus infinity, of less no number."""
    if value > 0:
        return math.log(value)
    return -math.inf if value == 0 else math.nan


def logarithm_10(value: float) -> float:
    """Return the logarithm to the base 10."""
    return math.log10(value) if value > 0 else logarithm(value)


def logarithm_2(value: float) -> float:
    """Return the logarithm to the base 2."""
    return logarithm(value) / math.log(2)


def logarithm_to(base: float, value: float) -> float:
    """Return the logarithm to a base."""
    return logarithm(value) / logarithm(base)


def power(base: float, exponent: float) -> float:
    """Raise a number to a power."""
    try:
        result = base**exponent
    except OverflowError:
        return math.inf
    except ZeroDivisionError:
        return math.inf
    return math.nan if isinstance(result, complex) else result


def square_root(value: float) -> float:
    """Return the square root; of negative numbers there is none."""
    return math.sqrt(value) if value >= 0 else math.nan


def exponential(value: float) -> float:
    """Return e to a power."""
    try:
        return math.exp(value)
    except OverflowError:
        return math.inf


def cotangent(value: float) -> float:
    """Return the cotangent."""
    return 1.0 / math.tan(value) if math.tan(value) else math.inf


def arc_sine(value: float) -> float:
    """Return the arc sine."""
    return math.asin(value) if -1 <= value <= 1 else math.nan


def arc_cosine(value: float) -> float:
    """Return the arc cosine."""
    return math.acos(value) if -1 <= value <= 1 else math.nan


_ALL_DIGITS = 400
"""More digits than a number has before or after the point."""


def _some(digits: int) -> int:
    return max(-_ALL_DIGITS, min(digits, _ALL_DIGITS))


def round_double(value: float, digits: int = 0) -> float:
    """Round, the half away from zero."""
    if not math.isfinite(value):
        return value
    digits = _some(digits)
    scaled = _exactly(value, digits)
    return float(_shifted(scaled, digits))


def _exactly(value: float, digits: int) -> int:
    """Return a number times a power of ten, rounded by its shortest decimal digits."""
    from decimal import ROUND_HALF_UP, Decimal

    return int(Decimal(repr(value)).scaleb(digits).to_integral_value(ROUND_HALF_UP))


def _shifted(scaled: int, digits: int) -> Any:
    return scaled / 10**digits if digits >= 0 else scaled * 10**-digits


def round_integer(value: int, digits: int = 0) -> int:
    """Round to tens, hundreds and so on."""
    if digits >= 0:
        return value
    unit: int = 10 ** -_some(digits)
    return divide_half_up(value, unit) * unit


def cut_double(value: float, digits: int = 0) -> float:
    """Drop the digits after a place."""
    from decimal import ROUND_DOWN, Decimal

    if not math.isfinite(value):
        return value
    digits = _some(digits)
    return float(
        _shifted(int(Decimal(repr(value)).scaleb(digits).to_integral_value(ROUND_DOWN)), digits)
    )


def cut_integer(value: int, digits: int = 0) -> int:
    """Replace the last digits by zeros."""
    if digits >= 0:
        return value
    unit = 10 ** -_some(digits)
    return int(math.copysign(abs(value) // unit * unit, value)) if value else 0


def round_decimal(unscaled: int, before: int, after: int, digits: int) -> int:
    """Round a DECIMAL to some digits after the point; the result has others perhaps."""
    if digits >= before:
        return int(unscaled * 10 ** (after - before)) if after >= before else unscaled
    digits = _some(digits)
    rounded = divide_half_up(unscaled, 10 ** (before - digits))
    return _to_scale(rounded, digits, after)


def cut_decimal(unscaled: int, before: int, after: int, digits: int) -> int:
    """Drop the digits of a DECIMAL after a place."""
    if digits >= before:
        return unscaled
    digits = _some(digits)
    unit = 10 ** (before - digits)
    cut = abs(unscaled) // unit
    return _to_scale(cut if unscaled >= 0 else -cut, digits, after)


def _to_scale(rounded: int, digits: int, after: int) -> int:
    return int(rounded * 10 ** (after - digits)) if after >= digits else rounded


def floor_double(value: float) -> float:
    """Return the largest whole number that is not larger."""
    return float(math.floor(value)) if math.isfinite(value) else value


def ceil_double(value: float) -> float:
    """Return the smallest whole number that is not smaller."""
    return float(math.ceil(value)) if math.isfinite(value) else value


def sign(value: float) -> int:
    """Return -1, 0 or 1."""
    return (value > 0) - (value < 0)


def sign_of_double(value: float) -> float:
    """Return -1, 0 or 1."""
    return float((value > 0) - (value < 0))


def random_number(seed: int | None = None) -> float:
    """Return a random number from 0 to 1."""
    return random.Random(seed).random() if seed is not None else random.random()


def random_integer(bound: int, last: int | None = None) -> int:
    """Return a random number from 0 to less than a bound; with a seed before it."""
    if last is None:
        return random.randrange(bound)
    return random.Random(bound).randrange(last)


def new_uuid() -> str:
    """Return a new UUID."""
    return str(uuid.uuid4())


def _rounded_type(args: Sequence[Typed], _symbols: tuple[str, ...]) -> LogicalType:
    kind = args[0].type
    precision, scale = kind.precision or 38, kind.scale or 0
    digits = 0
    if len(args) > 1:
        given = args[1]
        while isinstance(given, Conversion):
            given = given.operand
        digits = given.value if isinstance(given, Constant) else _negated(given, scale)
    if digits >= scale:
        return kind
    kept = max(0, digits)
    return logical.decimal(min(precision - scale + 1 + kept, 38), kept)


def _negated(given: Typed, otherwise: int) -> int:
    """Return the value of a constant with a minus."""
    if isinstance(given, Invocation) and given.function.name == "UNARY -":
        (operand,) = given.args
        if isinstance(operand, Constant):
            return -int(operand.value)
    return otherwise


def _rounding(function: Callable[..., int]) -> Overload:
    return Overload(
        (_decimals, as_int), like(), _decimal_code(function), optional=1, shape=_rounded_type
    )


def _rounding_float(function: Callable[..., float]) -> Overload:
    def code(site: CallSite) -> str:
        result = calling(function)(site)
        if site.type.root is Root.FLOAT:
            return f"{site.bind(to_single, 'to_single')}({result})"
        return result

    return Overload((_approximate, as_int), like(), code, optional=1)


def _decimal_code(function: Callable[..., int]) -> Callable[[CallSite], str]:
    def code(site: CallSite) -> str:
        name = site.bind(function, function.__name__)
        digits = site.source(1) if len(site.args) > 1 else "0"
        before, after = site.types[0].scale or 0, site.type.scale or 0
        return f"{name}({site.source(0)}, {before}, {after}, {digits})"

    return code


def _whole_decimal(types: Sequence[LogicalType]) -> LogicalType:
    return logical.decimal(types[0].precision or 38, 0)


def _to_unit(
    function: Callable[..., int], by_number: str, of_double: Callable[[float], float]
) -> tuple[Overload, ...]:
    """Return the overloads of FLOOR and CEIL."""

    def of_decimal(site: CallSite) -> str:
        factor = 10 ** (site.types[0].scale or 0)
        return by_number.format(site.source(0), factor)

    def of_time(site: CallSite) -> str:
        name = site.bind(function, function.__name__)
        root = site.types[0].root.value
        return f"{name}({site.source(0)}, {site.symbols[0]!r}, {root!r})"

    return (
        Overload((integers,), like(), inline("{0}")),
        Overload((_decimals,), _whole_decimal, of_decimal),
        Overload((_approximate,), like(), calling(of_double)),
        Overload((_times,), like(), of_time),
    )


def _absolute(site: CallSite) -> str:
    absolute = f"abs({site.source(0)})"
    # The smallest whole number has no positive counterpart, as in Java.
    return wrapped(absolute, site.type.root) if site.type.root in logical.INTEGERS else absolute


def _no_object(kind: LogicalType) -> LogicalType | None:
    return None if kind.root is Root.STRUCTURED else kind


def _extreme(name: str, word: str) -> ScalarFunction:
    return ScalarFunction(
        name,
        (
            Overload(
                (_no_object,),
                _common,
                lambda site: (
                    f"{word}({', '.join(site.sources())})" if len(site.args) > 1 else site.source(0)
                ),
                variadic=True,
                unified=merged_type,
            ),
        ),
    )


def _common(types: Sequence[LogicalType]) -> LogicalType:
    found = merged_type(types)
    assert found is not None
    return found


_ONE = (as_double,)
_SIMPLE: dict[str, Callable[..., float]] = {
    "SIN": math.sin,
    "COS": math.cos,
    "TAN": math.tan,
    "COT": cotangent,
    "ASIN": arc_sine,
    "ACOS": arc_cosine,
    "ATAN": math.atan,
    "SINH": math.sinh,
    "COSH": math.cosh,
    "TANH": math.tanh,
    "DEGREES": math.degrees,
    "RADIANS": math.radians,
    "SQRT": square_root,
    "LN": logarithm,
    "LOG10": logarithm_10,
    "LOG2": logarithm_2,
    "EXP": exponential,
}

FUNCTIONS = (
    *(function_of(name, _ONE, logical.DOUBLE, function) for name, function in _SIMPLE.items()),
    function_of("ATAN2", (as_double, as_double), logical.DOUBLE, math.atan2),
    function_of("POWER", (as_double, as_double), logical.DOUBLE, power),
    ScalarFunction(
        "LOG",
        (
            Overload(_ONE, always(logical.DOUBLE), calling(logarithm)),
            Overload((as_double, as_double), always(logical.DOUBLE), calling(logarithm_to)),
        ),
    ),
    ScalarFunction(
        "PI",
        (Overload((), always(logical.DOUBLE.with_nullable(False)), lambda site: repr(math.pi)),),
    ),
    ScalarFunction(
        "E", (Overload((), always(logical.DOUBLE.with_nullable(False)), lambda site: repr(math.e)),)
    ),
    ScalarFunction("ABS", (Overload((numbers,), like(), _absolute),), ("'ABS(<NUMERIC>)'",)),
    ScalarFunction(
        "SIGN",
        (
            Overload((of(Root.INT, *logical.INTEGERS),), like(), calling(sign)),
            Overload(
                (_decimals,),
                like(),
                lambda site: (
                    f"{site.bind(sign, 'sign')}({site.source(0)})"
                    f" * {10 ** (site.types[0].scale or 0)}"
                ),
            ),
            Overload((_approximate,), like(), calling(sign_of_double)),
        ),
    ),
    ScalarFunction(
        "ROUND",
        (
            Overload((integers, as_int), like(), calling(round_integer), optional=1),
            _rounding(round_decimal),
            _rounding_float(round_double),
        ),
    ),
    ScalarFunction(
        "TRUNCATE",
        (
            Overload((integers, as_int), like(), calling(cut_integer), optional=1),
            _rounding(cut_decimal),
            _rounding_float(cut_double),
        ),
    ),
    ScalarFunction("FLOOR", _to_unit(floor_to_unit, "{0} // {1}", floor_double)),
    ScalarFunction(
        "CEIL", _to_unit(ceiling_to_unit, "-(-({0}) // {1})", ceil_double), aliases=("CEILING",)
    ),
    _extreme("GREATEST", "max"),
    _extreme("LEAST", "min"),
    ScalarFunction(
        "RAND",
        (
            Overload(
                (),
                always(logical.DOUBLE.with_nullable(False)),
                calling(random_number),
                Nulls.CALLED,
            ),
            Overload((as_int,), always(logical.DOUBLE), calling(random_number)),
        ),
        deterministic=False,
    ),
    ScalarFunction(
        "RAND_INTEGER",
        (Overload((as_int, as_int), always(logical.INT), calling(random_integer), optional=1),),
        deterministic=False,
    ),
    ScalarFunction(
        "UUID",
        (
            Overload(
                (), always(logical.char(36).with_nullable(False)), calling(new_uuid), Nulls.CALLED
            ),
        ),
        deterministic=False,
    ),
)
