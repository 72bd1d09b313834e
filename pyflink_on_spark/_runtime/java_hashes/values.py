"""Java's hash codes of values as their declared types have them."""

from __future__ import annotations

import datetime
import math
import sys
from decimal import Decimal
from struct import Struct
from typing import TYPE_CHECKING

from pyflink_on_spark._runtime.java_hashes.polynomial import polynomial

if TYPE_CHECKING:
    from pyflink_on_spark.common.time import Instant

UTF_16 = f"utf-16-{sys.byteorder[0]}e"
"""Two bytes for each code unit, as this machine has them."""

_MASK = 0xFFFFFFFF
_LONG_MASK = 0xFFFFFFFFFFFFFFFF
_DOUBLE_BITS, _LONG_BITS = Struct(">d"), Struct(">Q")
_FLOAT_BITS, _INT_BITS = Struct(">f"), Struct(">I")
_DOUBLE_NAN, _FLOAT_NAN = 0x7FF80000, 0x7FC00000
_EPOCH = datetime.datetime(1970, 1, 1)  # noqa: DTZ001 - the types have no zone
_EPOCH_DAY = _EPOCH.toordinal()
_DAY = datetime.timedelta(days=1)
_MILLISECOND, _MICROSECOND = datetime.timedelta(milliseconds=1), datetime.timedelta(microseconds=1)


def string_hash(value: str) -> int:
    """Return ``String.hashCode``, which goes by UTF-16 code units."""
    if value.isascii():
        return polynomial(value.encode())
    return polynomial(memoryview(value.encode(UTF_16, "surrogatepass")).cast("H"))


def int_hash(value: int) -> int:
    """Return ``Integer.hashCode``, that of Short and Byte, too."""
    return value


def long_hash(value: int) -> int:
    """Return ``Long.hashCode``."""
    bits = value & _LONG_MASK
    return bits ^ bits >> 32


def big_integer_hash(value: int) -> int:
    """Return ``BigInteger.hashCode``."""
    words, rest = [], abs(value)
    while rest:
        words.append(rest & _MASK)
        rest >>= 32
    code = polynomial(words[::-1])
    return code if value >= 0 else -code


def big_decimal_hash(value: Decimal) -> int:
    """Return ``BigDecimal.hashCode``; by it, 1.5 and 1.50 are two."""
    sign, digits, exponent = value.as_tuple()
    unscaled = int("".join(map(str, digits)))
    return 31 * big_integer_hash(-unscaled if sign else unscaled) - int(exponent)


def boolean_hash(value: bool) -> int:
    """Return ``Boolean.hashCode``."""
    return 1231 if value else 1237


def double_hash(value: float) -> int:
    """Return ``Double.hashCode``."""
    if math.isnan(value):
        return _DOUBLE_NAN
    bits: int = _LONG_BITS.unpack(_DOUBLE_BITS.pack(value))[0]
    return bits ^ bits >> 32


def float_hash(value: float) -> int:
    """Return ``Float.hashCode``."""
    if math.isnan(value):
        return _FLOAT_NAN
    code: int = _INT_BITS.unpack(_FLOAT_BITS.pack(value))[0]
    return code


def sql_date_hash(value: datetime.date) -> int:
    """Return ``java.sql.Date.hashCode`` where the time zone is UTC."""
    return long_hash((value.toordinal() - _EPOCH_DAY) * (_DAY // _MILLISECOND))


def sql_time_hash(value: datetime.time) -> int:
    """Return ``java.sql.Time.hashCode`` where the time zone is UTC."""
    return long_hash(_since_midnight(value) // _MILLISECOND)


def sql_timestamp_hash(value: datetime.datetime) -> int:
    """Return ``java.sql.Timestamp.hashCode`` where the time zone is UTC.

    PyFlink hands over whole seconds before 1970 as if they were to be cut off, not rounded down.
    """
    time = (value - _EPOCH) // _MILLISECOND
    return long_hash(time + 1000 if time < 0 and value.microsecond else time)


def instant_hash(value: Instant) -> int:
    """Return ``Instant.hashCode``."""
    return long_hash(value.seconds) + 51 * value.nanos


def local_date_hash(value: datetime.date) -> int:
    """Return ``LocalDate.hashCode``."""
    year = value.year
    return year & 0xFFFFF800 ^ (year << 11) + (value.month << 6) + value.day


def local_time_hash(value: datetime.time) -> int:
    """Return ``LocalTime.hashCode``."""
    return long_hash(_since_midnight(value) // _MICROSECOND * 1000)


def local_date_time_hash(value: datetime.datetime) -> int:
    """Return ``LocalDateTime.hashCode``."""
    return (local_date_hash(value.date()) ^ local_time_hash(value.time())) & _MASK


def _since_midnight(value: datetime.time) -> datetime.timedelta:
    return datetime.datetime.combine(_EPOCH, value) - _EPOCH
