"""The codec of a type, the codecs of types without parts, and numbers as Java writes them.

Up to JDK 18 ``Double.toString`` is not quite the shortest text. It stops at the first digit where
what remains is less than half the distance to the next number. It takes that distance to be the
same on both sides, and half of it at powers of two. It wants two digits in the form with an
exponent. And its 64-bit integers overflow for a few numbers. This is that rule.
"""

from __future__ import annotations

import datetime
import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from struct import Struct
from typing import Any, NamedTuple

from pyflink_on_spark._compat.errors import PUBLIC_MODULE, PyFlinkOnSparkError
from pyflink_on_spark.common.time import Instant

_FLOAT = Struct("f")
_DOUBLE_PRECISION, _DOUBLE_LOWEST = 53, -1074
_FLOAT_PRECISION, _FLOAT_LOWEST = 24, -149
_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_LOG10_2 = 0.301029995663981
Convert = Callable[[Any], Any]
ConvertColumn = Callable[[Sequence[object]], Sequence[object]]
_READ_AS_NULL = frozenset(("builtins", "collections", "datetime", "decimal"))


def double_text(value: float) -> str:
    """Write a number as ``Double.toString`` of Java 17 does."""
    magnitude = abs(value)
    # Here repr is known to give Java's digits: no decimal of up to 17 digits lies halfway between
    # two numbers, and powers of two, where Java looks more closely, are written in full.
    if 1e-3 <= magnitude < 1e7:
        return repr(value)
    if 1e-300 < magnitude < 1e15 and math.frexp(value)[0] not in (0.5, -0.5):
        digits, exponent = _split(repr(magnitude))
        return _with_sign(value, _layout(digits, exponent))
    return _special_text(value) or _exact_text(value, _DOUBLE_PRECISION, _DOUBLE_LOWEST)


def float_text(value: float) -> str:
    """Write a number of 32 bits as ``Float.toString`` of Java 17 does.

    Args:
        value: a number that 32 bits can hold.
    """
    magnitude = abs(value)
    if 1e-3 <= magnitude < 4e6:
        text = _shortest_float(magnitude)
        return _with_sign(value, text if "." in text else _layout(*_split(text)))
    if 1e-30 < magnitude < 1 and math.frexp(value)[0] not in (0.5, -0.5):
        digits, exponent = _split(_shortest_float(magnitude))
        return _with_sign(value, _layout(digits, exponent))
    return _special_text(value) or _exact_text(value, _FLOAT_PRECISION, _FLOAT_LOWEST)


def _shortest_float(magnitude: float) -> str:
    for form in (".6g", ".7g", ".8g"):
        text = format(magnitude, form)
        if _FLOAT.unpack(_FLOAT.pack(float(text)))[0] == magnitude:
            return text
    return format(magnitude, ".9g")


def _special_text(value: float) -> str | None:
    if value == 0:
        return "-0.0" if math.copysign(1, value) < 0 else "0.0"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return None


def _exact_text(value: float, precision: int, lowest: int) -> str:
    numerator, denominator = abs(value).as_integer_ratio()
    exponent = 1 - denominator.bit_length()
    top = numerator.bit_length() - 1 + exponent
    # Below the smallest normal number there are fewer bits.
    digits, decimal = java_digits(numerator, exponent, min(precision, top - lowest + 1))
    return _with_sign(value, _layout(digits, decimal))


def _with_sign(value: float, text: str) -> str:
    return "-" + text if value < 0 else text


def _split(text: str) -> tuple[str, int]:
    """Split Python's text of a positive number: its digits, and the exponent of ``0.digits``."""
    mantissa, _, exponent = text.partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole) if whole != "0" else len(digits) - len(fraction)
    return digits.rstrip("0") or "0", leading + int(exponent or 0)


def _layout(digits: str, exponent: int) -> str:
    if 0 < exponent < 8:
        return f"{digits[:exponent].ljust(exponent, '0')}.{digits[exponent:] or '0'}"
    if -3 < exponent <= 0:
        return f"0.{'0' * -exponent}{digits}"
    return f"{digits[0]}.{digits[1:] or '0'}E{exponent - 1}"


def whole(value: Any) -> int:
    """Return a number as an int.

    Raises:
        TypeError: it is no number.
    """
    kind = type(value)
    if kind is int:
        return value  # type: ignore[no-any-return]
    if issubclass(kind, str | bytes | bytearray) or not hasattr(kind, "__int__"):
        raise TypeError(f"an integer is required, got {kind.__name__} {value!r}")
    return int(value)


def time_in_ms(value: object) -> int:
    """Return a time (ms) as an int of 64 bits.

    Raises:
        TypeError: it is no number.
        OverflowError: it is too large.
    """
    time = whole(value)
    if _LOWEST <= time <= _HIGHEST:
        return time
    raise OverflowError(f"the time {time} ms is too large for 64 bits")


def java_digits(fraction: int, exponent: int, precision: int) -> tuple[str, int]:
    """Return the digits of ``fraction * 2**exponent``, and the decimal exponent of ``0.digits``.

    Args:
        fraction: the significand as a positive integer.
        exponent: the power of two it is multiplied with.
        precision: how many bits the number has, a leading one included.
    """
    zeros = (fraction & -fraction).bit_length() - 1
    fraction, exponent = fraction >> zeros, exponent + zeros
    bits = fraction.bit_length()
    magnitude = bits - 1 + exponent
    if exponent >= 0 and magnitude <= 62:
        return _integer_digits(fraction << exponent, magnitude, precision)
    return _fraction_digits(fraction, exponent, bits, precision)


def _integer_digits(value: int, magnitude: int, precision: int) -> tuple[str, int]:
    surplus = magnitude - precision - 1
    dropped = math.floor(surplus * _LOG10_2) if surplus > 1 else 0
    if dropped:
        power = 10**dropped
        value, rest = divmod(value, power)
        value += rest >= power >> 1
    digits = str(value)
    return digits.rstrip("0"), len(digits) + dropped


def _estimate(fraction: int, bits: int, magnitude: int) -> int:
    significand = fraction / (1 << (bits - 1))
    return math.floor((significand - 1.5) * 0.289529654 + 0.176091259 + magnitude * _LOG10_2)


def _fraction_digits(fraction: int, exponent: int, bits: int, precision: int) -> tuple[str, int]:
    magnitude = bits - 1 + exponent
    decimal = _estimate(fraction, bits, magnitude)
    scaled = _scale(fraction, exponent, bits, decimal, precision)

    digit, low, high = scaled.next_digit()
    digits = []
    if digit == 0 and not high:
        decimal -= 1
    else:
        digits.append(digit)
    if decimal < -3 or decimal >= 8:
        low = high = False
    while not low and not high:
        digit, low, high = scaled.next_digit()
        digits.append(digit)
    if high and (not low or scaled.rounds_up(digits[-1])):
        decimal += _round_up(digits)
    return "".join(map(str, digits)), decimal + 1


@dataclass
class _Scaled:
    """A number as ``rest / divisor``, and half the distance to the next number in the same measure.

    Args:
        width: the bits of the machine integers Java uses here, or None for integers of any size.
            They overflow now and then, and the digits are what comes of that.
    """

    rest: int
    divisor: int
    margin: int
    width: int | None

    def next_digit(self) -> tuple[int, bool, bool]:
        """Return a digit, and whether the number's range is left downwards and upwards with it."""
        digit, rest = divmod(self.rest, self.divisor)
        self.rest = rest = rest * 10
        self.margin = margin = self._wrap(self.margin * 10)
        tens = self.divisor * 10
        if self.width is None:
            return digit, rest < margin, rest + margin >= tens
        if margin <= 0:
            return digit, True, True
        return digit, rest < margin, self._wrap(rest + margin) > tens

    def rounds_up(self, last_digit: int) -> bool:
        difference = self.rest * 2 - self.divisor * 10
        return difference > 0 or (difference == 0 and last_digit & 1 == 1)

    def _wrap(self, value: int) -> int:
        if self.width is None:
            return value
        half = 1 << (self.width - 1)
        return ((value + half) & (2 * half - 1)) - half


def _scale(fraction: int, exponent: int, bits: int, decimal: int, precision: int) -> _Scaled:
    fives_up, fives_down = max(0, -decimal), max(0, decimal)
    tiny = max(0, -exponent)
    twos, divisor_twos = fives_up + tiny + exponent, fives_down + tiny
    margin_twos = twos + bits - 1 - precision
    common = min(twos, divisor_twos)
    twos, divisor_twos, margin_twos = twos - common, divisor_twos - common, margin_twos - common
    if bits == 1:
        margin_twos -= 1
    if margin_twos < 0:
        twos, divisor_twos, margin_twos = twos - margin_twos, divisor_twos - margin_twos, 0
    needed = max(
        bits + twos + _bits_of_power_of_five(fives_up),
        divisor_twos + 1 + _bits_of_power_of_five(fives_down + 1),
    )
    return _Scaled(
        (fraction * 5**fives_up) << twos,
        5**fives_down << divisor_twos,
        5**fives_up << margin_twos,
        32 if needed < 32 else 64 if needed < 64 else None,
    )


def _bits_of_power_of_five(power: int) -> int:
    return (5**power).bit_length() if 0 < power < 27 else 3 * power


def _round_up(digits: list[int]) -> int:
    """Add one to the last digit; return 1 when that makes the number a digit longer."""
    for index in range(len(digits) - 1, -1, -1):
        if digits[index] != 9:
            digits[index] += 1
            return 0
        digits[index] = 0
    digits[0] = 1
    return 1


class ConversionError(PyFlinkOnSparkError):
    """A value does not fit its declared type; the text says which part of it, and why."""

    __module__ = PUBLIC_MODULE


class ConversionTypeError(ConversionError, TypeError):
    """A part of the value has the wrong Python type."""

    __module__ = PUBLIC_MODULE


class ConversionAttributeError(ConversionError, AttributeError):
    """A part of the value has the wrong Python type, where PyFlink misses an attribute."""

    __module__ = PUBLIC_MODULE


class ConversionOverflowError(ConversionError, OverflowError):
    """A number is too large for its declared type."""

    __module__ = PUBLIC_MODULE


class ConversionValueError(ConversionError, ValueError):
    """A part of the value has the right Python type, but cannot be kept."""

    __module__ = PUBLIC_MODULE


class NullValueError(ConversionTypeError):
    """None where the declared type has no null; Flink dies of a NullPointerException there."""

    __module__ = PUBLIC_MODULE


class NullPart(TypeError):
    """Inside a converter: the value is None, or Flink would read it as null."""


def plain_error(error: ConversionError) -> Exception:
    """Return the same as an error of Python's own kind."""
    kinds = (TypeError, AttributeError, OverflowError, ValueError)
    return next(kind for kind in (*kinds, Exception) if isinstance(error, kind))(str(error))


def error_class_for(cause: BaseException) -> type[ConversionError]:
    """Return the error of this package that is also the built-in kind of the cause."""
    kinds: tuple[tuple[type[BaseException], type[ConversionError]], ...] = (
        (NullPart, NullValueError),
        (TypeError, ConversionTypeError),
        (AttributeError, ConversionAttributeError),
        (OverflowError, ConversionOverflowError),
        (ValueError, ConversionValueError),
        (ArithmeticError, ConversionValueError),
    )
    for kind, error_class in kinds:
        if isinstance(cause, kind):
            return error_class
    return ConversionError


class Part(NamedTuple):
    """A part of a value, for messages.

    Args:
        step: the path to it from the value around it.
        codec: its declared type's.
        value: the part.
        nullable: whether it may be None there.
        unfit_is_null: whether a collection's value that does not fit becomes None there.
    """

    step: str
    codec: Codec
    value: object
    nullable: bool
    unfit_is_null: bool = False


def _no_parts(_: object) -> Iterable[Part]:
    return ()


@dataclass(frozen=True)
class Codec:
    """The conversions of a declared type's values. No function here takes None.

    Args:
        name: the type's text.
        convert: a value as it comes out of a boundary; raises what PyFlink raises.
        text: a converted value as Java writes it.
        source: a value of ``from_collection`` as it enters the job; raises ``NullPart`` for what
            Flink would turn into null.
        column: many values at once, given back as they are when all of them already have their
            converted form; None when values can be changed by the user and have to be copied.
        snapshot: a copy of a value that the user cannot change any more; None when that takes a
            whole conversion.
        snapshot_column: many snapshots at once, converted in place.
        collect: a converted value as ``execute_and_collect`` delivers it; None when it is the same.
        collect_alone: the same where the value is not part of another; None when it is the same.
        ints: the least and the greatest int that ``convert`` returns as it is; the first is greater
            when there is none.
        nullable: whether a stream of this type may hold None.
        null_in_tuple: whether a tuple's field of this type may hold None after a function.
        parts: what the value consists of, for messages.
        source_parts: the same for a value of ``from_collection``.
    """

    name: str
    convert: Convert
    text: Callable[[Any], str]
    source: Convert
    column: ConvertColumn | None = None
    snapshot: Convert | None = None
    snapshot_column: ConvertColumn | None = None
    collect: Convert | None = None
    collect_alone: Convert | None = None
    ints: tuple[int, int] = (1, 0)
    nullable: bool = False
    null_in_tuple: bool = False
    parts: Callable[[object], Iterable[Part]] = _no_parts
    source_parts: Callable[[object], Iterable[Part]] = _no_parts


def accept_null(convert: Convert) -> Convert:
    """Return a converter that also takes None, and returns it."""

    def convert_or_null(value: object) -> object:
        return None if value is None else convert(value)

    return convert_or_null


def null_if_unfit(source: Convert) -> Convert:
    """Return a source converter that makes None of what Flink turns into null."""

    def convert_or_null(value: object) -> object:
        if value is None:
            return None
        try:
            return source(value)
        except NullPart:
            return None

    return convert_or_null


def unfit(value: object, name: str) -> TypeError:
    """Return the error for a value of ``from_collection`` that has the wrong Python type.

    Flink reads such a value as null when it knows its Python type at all.
    """
    kind = type(value)
    if value is None or kind.__module__ in _READ_AS_NULL:
        return NullPart(
            f"Flink reads {kind.__name__} as a null of type {name}, and none may be here"
        )
    return TypeError(f"{kind.__name__} cannot be read as {name}")


def column_of_type(exact_type: type, convert: Convert) -> ConvertColumn:
    """Return a column converter for types whose values are fine when they have one exact type."""
    expected = {exact_type}

    def convert_column(values: Sequence[object]) -> Sequence[object]:
        return values if set(map(type, values)) == expected else list(map(convert, values))

    return convert_column


_INTS = {int}
_FLOATS = {float}
_LONG_RANGE = range(-(2**63), 2**63)
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone


def _as_int(value: Any) -> int:
    """Cut a number to a whole one, as C extensions do: strings are no numbers here."""
    kind = type(value)
    if issubclass(kind, (str, bytes, bytearray)) or not hasattr(kind, "__int__"):
        raise TypeError("an integer is required")
    return int(value)


def integer(name: str, code: str) -> Codec:
    """Make the codec of a signed integer.

    Args:
        name: the type's text.
        code: the letter of an ``array`` of such integers.
    """
    bits = array(code).itemsize * 8
    low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1

    def convert(value: object) -> int:
        if type(value) is not int:
            value = _as_int(value)
        if low <= value <= high:
            return int(value)
        raise OverflowError(f"it has to lie between {low} and {high}")

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        if set(map(type, values)) == _INTS:
            array(code, values)  # raises OverflowError
            return values
        return list(map(convert, values))

    def source(value: object) -> int:
        # Flink reads a collection through a 64-bit integer and keeps its low bits.
        if type(value) is not int or value not in _LONG_RANGE:
            raise unfit(value, name)
        return ((value - low) & ((1 << bits) - 1)) + low

    return Codec(name, convert, str, source, column=convert_column, ints=(low, high))


def big_integer() -> Codec:
    """Make the codec of integers of any size."""

    def source(value: object) -> int:
        if type(value) is not int:
            raise TypeError("only an int becomes a BigInteger")
        return value

    column = column_of_type(int, _as_int)
    return Codec("BigInteger", _as_int, str, source, column=column, nullable=True)


def boolean() -> Codec:
    """Make the codec of booleans: any number from 0 to 255 is one."""

    def convert(value: object) -> bool:
        if type(value) is bool:
            return value
        number = _as_int(value)
        if 0 <= number <= 255:
            return bool(number)
        raise OverflowError("as a Boolean it has to lie between 0 and 255")

    def source(value: object) -> bool:
        if type(value) is not bool:
            raise unfit(value, "Boolean")
        return value

    return Codec("Boolean", convert, _boolean_text, source, column=column_of_type(bool, convert))


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


def double() -> Codec:
    """Make the codec of floating-point numbers of 64 bits."""

    def convert(value: Any) -> float:
        return value if type(value) is float else array("d", (value,))[0]

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        return values if set(map(type, values)) == _FLOATS else array("d", values).tolist()

    def source(value: object) -> float:
        if type(value) is not float:
            raise unfit(value, "Double")
        return value

    return Codec("Double", convert, double_text, source, column=convert_column)


def single() -> Codec:
    """Make the codec of floating-point numbers of 32 bits."""

    def convert(value: Any) -> float:
        rounded: float = array("f", (value,))[0]
        return rounded

    def convert_column(values: Sequence[Any]) -> Sequence[object]:
        rounded = array("f", values).tolist()
        return values if rounded == list(values) and set(map(type, values)) == _FLOATS else rounded

    def source(value: object) -> float:
        if type(value) is not float:
            raise unfit(value, "Float")
        return convert(value)

    def collect(value: float) -> float:
        return float(float_text(value))

    return Codec("Float", convert, float_text, source, column=convert_column, collect=collect)


def decimal() -> Codec:
    """Make the codec of decimals, which keep their scale."""

    def convert(value: object) -> Decimal:
        number = Decimal(str(value))
        if not number.is_finite():
            raise ValueError("it is not a finite number")
        return number or abs(number)  # Java has no negative zero

    def source(value: object) -> Decimal:
        if not isinstance(value, Decimal):
            raise unfit(value, "BigDecimal")
        return convert(value)

    column: ConvertColumn = lambda values: list(map(convert, values))  # noqa: E731
    return Codec(
        "BigDecimal",
        convert,
        str,
        source,
        column=column,
        collect=_as_written,
        collect_alone=_in_full,
        nullable=True,
    )


def _in_full(value: Decimal) -> Decimal:
    """Read the decimal from its text without an exponent first, as PyFlink does in between."""
    return _as_written(Decimal(format(value, "f")))


def _as_written(value: Decimal) -> Decimal:
    """Read the decimal from its text with exponents in steps of three, as PyFlink collects it."""
    return Decimal(value.to_eng_string())


def _as_str(value: Any) -> str:
    if type(value) is str:
        return value
    encoded: bytes = value.encode("utf-8")
    return encoded.decode("utf-8")


def string() -> Codec:
    """Make the codec of text."""

    def source(value: object) -> str:
        if type(value) is str:
            return value
        if isinstance(value, bool):
            return "true" if value else "false"
        if type(value) is float:
            return double_text(value)
        if type(value) in (int, Decimal):
            return str(value)
        raise TypeError("only str, numbers and booleans become a String")

    return Codec(
        "String",
        _as_str,
        _same,
        source,
        column=column_of_type(str, _as_str),
        nullable=True,
    )


def character() -> Codec:
    """Make the codec of single characters."""

    def convert(value: object) -> str:
        text = _as_str(value)
        if len(text) != 1:
            raise ValueError("it has to be exactly one character")
        return text

    def convert_column(values: Any) -> Any:
        return list(map(convert, values))

    def source(value: object) -> str:
        if type(value) is not str:
            raise TypeError("only a str becomes a Char")
        return convert(value)

    return Codec("Char", convert, _same, source, column=convert_column)


def _same(value: str) -> str:
    return value


def date(name: str) -> Codec:
    """Make the codec of dates."""

    def convert(value: Any) -> datetime.date:
        return datetime.date.fromordinal(value.toordinal())

    return _codec(name, datetime.date, convert, convert, datetime.date.isoformat)


def time(name: str) -> Codec:
    """Make the codec of SQL's times of day: milliseconds for functions, seconds when collected."""

    def convert(value: Any) -> datetime.time:
        micros = value.microsecond // 1000 * 1000
        return datetime.time(value.hour, value.minute, value.second, micros)

    def source(value: Any) -> datetime.time:
        if value.tzinfo is None:
            return convert(value)
        instant = datetime.datetime.combine(_EPOCH, value.replace(tzinfo=None))
        return convert((instant - (value.utcoffset() or datetime.timedelta())).time())

    def text(value: datetime.time) -> str:
        return value.isoformat("seconds")

    return _codec(name, datetime.time, convert, source, text, collect=_whole_seconds)


def _whole_seconds(value: datetime.time) -> datetime.time:
    return value.replace(microsecond=0)


def timestamp(name: str) -> Codec:
    """Make the codec of SQL's timestamps: milliseconds, without a zone."""

    def convert(value: Any) -> datetime.datetime:
        if type(value) is datetime.datetime and value.tzinfo is None:
            micros = value.microsecond
            return value if not micros else value.replace(microsecond=micros // 1000 * 1000)
        naive: datetime.datetime = value.replace(tzinfo=None)
        return naive.replace(microsecond=naive.microsecond // 1000 * 1000)

    def source(value: Any) -> datetime.datetime:
        if isinstance(value, datetime.time):
            raise AttributeError("'datetime.time' object has no attribute 'timetuple'")
        return convert(value if value.tzinfo is None else value.astimezone())

    def text(value: datetime.datetime) -> str:
        fraction = f"{value.microsecond:06d}".rstrip("0") or "0"
        return f"{value.isoformat(' ', 'seconds')}.{fraction}"

    return _codec(name, datetime.datetime, convert, source, text)


def instant(name: str) -> Codec:
    """Make the codec of points in time: nanoseconds, but milliseconds from a collection."""

    def convert(value: Any) -> Instant:
        return value if type(value) is Instant else Instant(value.seconds, value.nanos)

    def source(value: Any) -> Instant:
        return Instant.of_epoch_milli(value.to_epoch_milli())

    def text(value: Instant) -> str:
        moment = _EPOCH + datetime.timedelta(seconds=value.seconds)
        return f"{moment.isoformat('T', 'seconds')}{_fraction(value.nanos)}Z"

    return replace(_codec(name, Instant, convert, source, text), null_in_tuple=True)


def local_date(name: str) -> Codec:
    """Make the codec of dates as the Table API has them."""

    def convert(value: Any) -> datetime.date:
        return datetime.date(value.year, value.month, value.day)

    return _codec(name, datetime.date, convert, convert, datetime.date.isoformat)


def local_time(name: str) -> Codec:
    """Make the codec of times of day as the Table API has them, with microseconds."""

    def convert(value: Any) -> datetime.time:
        return datetime.time(value.hour, value.minute, value.second, value.microsecond)

    return _codec(name, datetime.time, convert, convert, _local_time_text)


def local_date_time(name: str) -> Codec:
    """Make the codec of date and time as the Table API has them, with microseconds."""

    def convert(value: Any) -> datetime.datetime:
        return datetime.datetime.combine(value.date(), value.time())

    def text(value: datetime.datetime) -> str:
        return f"{value.date().isoformat()}T{_local_time_text(value.time())}"

    return _codec(name, datetime.datetime, convert, convert, text)


def _codec(
    name: str,
    kind: type,
    convert: Convert,
    source: Convert,
    text: Callable[[Any], str],
    collect: Convert | None = None,
) -> Codec:
    column: ConvertColumn = lambda values: list(map(convert, values))  # noqa: E731
    if kind is datetime.date:
        column = column_of_type(kind, convert)
    return Codec(name, convert, text, source, column=column, collect=collect, nullable=True)


def _fraction(nanos: int) -> str:
    """Write a fraction of a second with 0, 3, 6 or 9 digits."""
    text = f"{nanos:09d}"
    while text.endswith("000"):
        text = text[:-3]
    return f".{text}" if text else ""


def _local_time_text(value: datetime.time) -> str:
    if value.second == 0 and value.microsecond == 0:
        return value.isoformat("minutes")
    return value.replace(microsecond=0).isoformat("seconds") + _fraction(value.microsecond * 1000)
