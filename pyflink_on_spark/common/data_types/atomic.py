"""The data types that are not made of others."""

from __future__ import annotations

from copy import copy
from typing import Any


class DataType:
    """What values a column can have.

    Args:
        nullable: whether None is one of them.
    """

    def __init__(self, nullable=True):
        self._nullable = nullable

    def __repr__(self):
        arguments = [*self._arguments(), str(self._nullable).lower()]
        return f"{type(self).__name__}({', '.join(map(str, arguments))})"

    def __str__(self):
        return self.type_name()

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return isinstance(other, type(self)) and self.__dict__ == other.__dict__

    def not_null(self):
        """Return the same type without None."""
        return self._with_nullable(False)

    def nullable(self):
        """Return the same type with None."""
        return self._with_nullable(True)

    @classmethod
    def type_name(cls) -> str:
        """Return the name of the kind of type."""
        return cls.__name__[:-4].upper()

    def _with_nullable(self, nullable: bool) -> DataType:
        changed = copy(self)
        changed._nullable = nullable
        return changed

    def _arguments(self) -> tuple[Any, ...]:
        return ()


class AtomicType(DataType):
    """A type that is not made of others."""


class NullType(AtomicType):
    """Nothing but None."""

    def __init__(self):
        super().__init__()


class NumericType(AtomicType):
    """Any kind of number."""


class IntegralType(NumericType):
    """Whole numbers."""


class FractionalType(NumericType):
    """Numbers with a fraction."""


class _SizedType(AtomicType):
    def __init__(self, length=1, nullable=True):
        super().__init__(nullable)
        self.length = length

    def _arguments(self) -> tuple[Any, ...]:
        return (self.length,)


class CharType(_SizedType):
    """Texts of one length, in code points."""


class VarCharType(_SizedType):
    """Texts up to a length, in code points."""


class BinaryType(_SizedType):
    """Byte strings of one length."""


class VarBinaryType(_SizedType):
    """Byte strings up to a length."""


class BooleanType(AtomicType):
    """True and False."""


class TinyIntType(IntegralType):
    """Whole numbers of 8 bits."""


class SmallIntType(IntegralType):
    """Whole numbers of 16 bits."""


class IntType(IntegralType):
    """Whole numbers of 32 bits."""


class BigIntType(IntegralType):
    """Whole numbers of 64 bits."""


class FloatType(FractionalType):
    """Floating point numbers of 32 bits."""


class DoubleType(FractionalType):
    """Floating point numbers of 64 bits."""


class DecimalType(FractionalType):
    """Decimal numbers.

    Args:
        precision: how many digits, from 1 to 38.
        scale: how many of them follow the decimal point.
        nullable: whether None is a value.
    """

    def __init__(self, precision=10, scale=0, nullable=True):
        super().__init__(nullable)
        assert 1 <= precision <= 38, "precision must be from 1 to 38"
        assert 0 <= scale <= precision, "scale must be from 0 to the precision"
        self.precision = precision
        self.scale = scale
        self.has_precision_info = True

    def _arguments(self) -> tuple[Any, ...]:
        return self.precision, self.scale


class DateType(AtomicType):
    """Days."""


class _FractionOfSecondType(AtomicType):
    def __init__(self, precision, nullable=True):
        super().__init__(nullable)
        assert 0 <= precision <= 9, "precision must be from 0 to 9"
        self.precision = precision

    def _arguments(self) -> tuple[Any, ...]:
        return (self.precision,)


class TimeType(_FractionOfSecondType):
    """Times of day, with a number of digits for the fraction of a second."""

    def __init__(self, precision=0, nullable=True):
        super().__init__(precision, nullable)


class TimestampType(_FractionOfSecondType):
    """Days with times of day, in no time zone."""

    def __init__(self, precision=6, nullable=True):
        super().__init__(precision, nullable)


class LocalZonedTimestampType(_FractionOfSecondType):
    """Points in time, shown in the local time zone."""

    def __init__(self, precision=6, nullable=True):
        super().__init__(precision, nullable)


class ZonedTimestampType(_FractionOfSecondType):
    """Points in time, each with a time zone."""

    def __init__(self, precision=6, nullable=True):
        super().__init__(precision, nullable)
