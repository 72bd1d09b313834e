"""Single values: numbers, text, booleans, instants, and pickled objects."""

from __future__ import annotations

from enum import Enum
from typing import Any

from pyflink_on_spark.common.typeinfo.information import TypeInformation


class BasicType(Enum):
    """The kinds of single values."""

    STRING = "String"
    BYTE = "Byte"
    BOOLEAN = "Boolean"
    SHORT = "Short"
    INT = "Integer"
    LONG = "Long"
    FLOAT = "Float"
    DOUBLE = "Double"
    CHAR = "Char"
    BIG_INT = "BigInteger"
    BIG_DEC = "BigDecimal"
    INSTANT = "Instant"


class BasicTypeInfo(TypeInformation):
    """A single value of a basic type.

    Args:
        basic_type: which one.
    """

    def __init__(self, basic_type: BasicType) -> None:
        self._basic_type = basic_type

    def __eq__(self, o: object) -> bool:
        return isinstance(o, BasicTypeInfo) and self._basic_type == o._basic_type

    def __repr__(self) -> str:
        return self._basic_type.value

    @staticmethod
    def STRING_TYPE_INFO() -> BasicTypeInfo:
        """Text."""
        return BasicTypeInfo(BasicType.STRING)

    @staticmethod
    def BOOLEAN_TYPE_INFO() -> BasicTypeInfo:
        """True or False."""
        return BasicTypeInfo(BasicType.BOOLEAN)

    @staticmethod
    def BYTE_TYPE_INFO() -> BasicTypeInfo:
        """A signed integer of 8 bits."""
        return BasicTypeInfo(BasicType.BYTE)

    @staticmethod
    def SHORT_TYPE_INFO() -> BasicTypeInfo:
        """A signed integer of 16 bits."""
        return BasicTypeInfo(BasicType.SHORT)

    @staticmethod
    def INT_TYPE_INFO() -> BasicTypeInfo:
        """A signed integer of 32 bits."""
        return BasicTypeInfo(BasicType.INT)

    @staticmethod
    def LONG_TYPE_INFO() -> BasicTypeInfo:
        """A signed integer of 64 bits."""
        return BasicTypeInfo(BasicType.LONG)

    @staticmethod
    def FLOAT_TYPE_INFO() -> BasicTypeInfo:
        """A floating-point number of 32 bits."""
        return BasicTypeInfo(BasicType.FLOAT)

    @staticmethod
    def DOUBLE_TYPE_INFO() -> BasicTypeInfo:
        """A floating-point number of 64 bits."""
        return BasicTypeInfo(BasicType.DOUBLE)

    @staticmethod
    def CHAR_TYPE_INFO() -> BasicTypeInfo:
        """A single character."""
        return BasicTypeInfo(BasicType.CHAR)

    @staticmethod
    def BIG_INT_TYPE_INFO() -> BasicTypeInfo:
        """An integer of any size."""
        return BasicTypeInfo(BasicType.BIG_INT)

    @staticmethod
    def BIG_DEC_TYPE_INFO() -> BasicTypeInfo:
        """A ``decimal.Decimal``."""
        return BasicTypeInfo(BasicType.BIG_DEC)

    @staticmethod
    def INSTANT_TYPE_INFO() -> BasicTypeInfo:
        """A point in time, a ``pyflink.common.Instant``."""
        return InstantTypeInfo(BasicType.INSTANT)


class InstantTypeInfo(BasicTypeInfo):
    """A point in time, kept in whole milliseconds.

    Args:
        basic_type: ``BasicType.INSTANT``.
    """

    def __init__(self, basic_type: BasicType) -> None:
        super().__init__(basic_type)

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: Any) -> int:
        return obj.to_epoch_milli() * 1000

    def from_internal_type(self, obj: int) -> Any:
        from pyflink_on_spark.common.time import Instant

        return Instant.of_epoch_milli(obj // 1000)


class PickledBytesTypeInfo(TypeInformation):
    """Any Python object: the type of a stream for which none was declared."""

    def __eq__(self, o: object) -> bool:
        return isinstance(o, PickledBytesTypeInfo)

    def __repr__(self) -> str:
        return "PickledByteArrayTypeInfo"


def basic_type_of(type_info: BasicTypeInfo) -> BasicType:
    """The basic type that a type information has."""
    return type_info._basic_type  # noqa: SLF001
