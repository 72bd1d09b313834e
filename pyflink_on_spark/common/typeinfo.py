"""Type information: what a stream's elements are."""

from __future__ import annotations

import calendar
import datetime
import time
from collections.abc import Iterable
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._compat.unsupported import Gap, unsupported
from pyflink_on_spark.common.types import Row, RowKind

__all__ = ["TypeInformation", "Types"]
_MICROS = 10**6


def _get_java_type_info(self: TypeInformation) -> object:
    """Give Flink's Java type information. On Spark: raises, there is no Flink JVM."""


_get_java_type_info.__qualname__ = "TypeInformation.get_java_type_info"


class TypeInformation:
    """The type of a stream's elements: plain data that can be compared and pickled."""

    get_java_type_info = unsupported(
        _get_java_type_info,
        kind=Gap.NEVER,
        reason="it returns a Java object",
        instead="Use the type information itself",
    )

    def need_conversion(self) -> bool:
        """True if values have a form of their own on the way to the engine."""
        return False

    def to_internal_type(self, obj: Any) -> Any:
        """Turn a Python value into the form in which PyFlink hands it to the engine."""
        return obj

    def from_internal_type(self, obj: Any) -> Any:
        """Turn what ``to_internal_type`` returned into a Python value."""
        return obj


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


class SqlTimeTypeInfo(TypeInformation):
    """Where the types of SQL's dates and times come from."""

    @staticmethod
    def DATE() -> DateTypeInfo:
        """A ``datetime.date``."""
        return DateTypeInfo()

    @staticmethod
    def TIME() -> TimeTypeInfo:
        """A ``datetime.time``."""
        return TimeTypeInfo()

    @staticmethod
    def TIMESTAMP() -> TimestampTypeInfo:
        """A ``datetime.datetime``."""
        return TimestampTypeInfo()


class DateTypeInfo(TypeInformation):
    """A ``datetime.date``; internally days since 1970-01-01."""

    EPOCH_ORDINAL = datetime.date(1970, 1, 1).toordinal()

    def __init__(self) -> None:
        super().__init__()

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, d: datetime.date | None) -> int | None:
        return None if d is None else d.toordinal() - self.EPOCH_ORDINAL

    def from_internal_type(self, v: int | None) -> datetime.date | None:
        return None if v is None else datetime.date.fromordinal(v + self.EPOCH_ORDINAL)

    def __eq__(self, o: object) -> bool:
        return isinstance(o, DateTypeInfo)

    def __repr__(self) -> str:
        return "DateTypeInfo"


class TimeTypeInfo(TypeInformation):
    """A ``datetime.time``; internally microseconds since midnight, in UTC."""

    EPOCH_ORDINAL = calendar.timegm(time.localtime(0)) * _MICROS

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, t: datetime.time | None) -> int | None:
        if t is None:
            return None
        if t.tzinfo is None:
            offset = self.EPOCH_ORDINAL
        else:
            offset = (t.utcoffset() or datetime.timedelta()) // datetime.timedelta(microseconds=1)
        return ((t.hour * 60 + t.minute) * 60 + t.second) * _MICROS + t.microsecond - offset

    def from_internal_type(self, t: int | None) -> datetime.time | None:
        if t is None:
            return None
        seconds, micros = divmod(t + self.EPOCH_ORDINAL, _MICROS)
        minutes, seconds = divmod(seconds, 60)
        return datetime.time(*divmod(minutes, 60), seconds, micros)

    def __eq__(self, o: object) -> bool:
        return isinstance(o, TimeTypeInfo)

    def __repr__(self) -> str:
        return "TimeTypeInfo"


class TimestampTypeInfo(TypeInformation):
    """A ``datetime.datetime``; internally microseconds since 1970-01-01 in UTC."""

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, dt: datetime.datetime | None) -> int | None:
        if dt is None:
            return None
        if dt.tzinfo:
            seconds = calendar.timegm(dt.utctimetuple())
        else:
            seconds = int(time.mktime(dt.timetuple()))
        return seconds * _MICROS + dt.microsecond

    def from_internal_type(self, ts: int | None) -> datetime.datetime | None:
        if ts is None:
            return None
        seconds, micros = divmod(ts, _MICROS)
        return datetime.datetime.fromtimestamp(seconds).replace(microsecond=micros)

    def __eq__(self, o: object) -> bool:
        return isinstance(o, TimestampTypeInfo)

    def __repr__(self) -> str:
        return "TimestampTypeInfo"


class LocalTimeTypeInfo(TypeInformation):
    """A date, a time of day or both, without a zone.

    Args:
        time_type: which of them.
    """

    class TimeType(Enum):
        """The parts of a local time."""

        LOCAL_DATE = 0
        LOCAL_TIME = 1
        LOCAL_DATE_TIME = 2

    def __init__(self, time_type: TimeType) -> None:
        self._time_type = time_type

    def __eq__(self, other: object) -> bool:
        return self.__class__ == other.__class__ and self._time_type == other._time_type

    def __repr__(self) -> str:
        return f"LocalTimeTypeInfo<{self._time_type.name}>"


def time_type_of(type_info: LocalTimeTypeInfo) -> LocalTimeTypeInfo.TimeType:
    """The kind of date or time that a type information has."""
    return type_info._time_type  # noqa: SLF001


class PrimitiveArrayTypeInfo(TypeInformation):
    """An array without nulls, of booleans, numbers or characters.

    Args:
        element_type: the type of its elements.
    """

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = element_type

    def __eq__(self, o: object) -> bool:
        return isinstance(o, PrimitiveArrayTypeInfo) and self._element_type == o._element_type

    def __repr__(self) -> str:
        return f"PrimitiveArrayTypeInfo<{self._element_type}>"


class BasicArrayTypeInfo(TypeInformation):
    """An array of booleans, numbers, characters or text, with nulls allowed.

    Args:
        element_type: the type of its elements.
    """

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = element_type

    def __eq__(self, o: object) -> bool:
        return isinstance(o, BasicArrayTypeInfo) and self._element_type == o._element_type

    def __repr__(self) -> str:
        return f"BasicArrayTypeInfo<{self._element_type}>"


class ObjectArrayTypeInfo(TypeInformation):
    """An array of anything, with nulls allowed.

    Args:
        element_type: the type of its elements.
    """

    def __init__(self, element_type: TypeInformation) -> None:
        self._element_type = element_type

    def __eq__(self, o: object) -> bool:
        return isinstance(o, ObjectArrayTypeInfo) and self._element_type == o._element_type

    def __repr__(self) -> str:
        return f"ObjectArrayTypeInfo<{self._element_type}>"


class ListTypeInfo(TypeInformation):
    """A list.

    Args:
        element_type: the type of its elements.
    """

    def __init__(self, element_type: TypeInformation) -> None:
        self.elem_type = element_type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ListTypeInfo) and self.elem_type == other.elem_type

    def __repr__(self) -> str:
        return f"ListTypeInfo<{self.elem_type}>"


class MapTypeInfo(TypeInformation):
    """A dict.

    Args:
        key_type_info: the type of its keys.
        value_type_info: the type of its values.
    """

    def __init__(self, key_type_info: TypeInformation, value_type_info: TypeInformation) -> None:
        self._key_type_info = key_type_info
        self._value_type_info = value_type_info

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, MapTypeInfo)
            and self._key_type_info == other._key_type_info
            and self._value_type_info == other._value_type_info
        )

    def __repr__(self) -> str:
        return f"MapTypeInfo<{self._key_type_info}, {self._value_type_info}>"


class ExternalTypeInfo(TypeInformation):
    """A type as the Table API wraps it; its values are those of the wrapped type.

    Args:
        type_info: the wrapped type.
    """

    def __init__(self, type_info: TypeInformation) -> None:
        self._type_info = type_info

    def __eq__(self, other: object) -> bool:
        return self.__class__ == other.__class__ and self._type_info == other._type_info

    def __repr__(self) -> str:
        return f"ExternalTypeInfo<{self._type_info}>"


def element_type_of(
    type_info: PrimitiveArrayTypeInfo | BasicArrayTypeInfo | ObjectArrayTypeInfo,
) -> TypeInformation:
    """The type of the elements of an array."""
    return type_info._element_type  # noqa: SLF001


def key_type_of(type_info: MapTypeInfo) -> TypeInformation:
    """The type of the keys of a map."""
    return type_info._key_type_info  # noqa: SLF001


def value_type_of(type_info: MapTypeInfo) -> TypeInformation:
    """The type of the values of a map."""
    return type_info._value_type_info  # noqa: SLF001


def wrapped_type_of(type_info: ExternalTypeInfo) -> TypeInformation:
    """The type that the wrapper of the Table API holds."""
    return type_info._type_info  # noqa: SLF001


class _FieldConversion:
    """Converts the fields of one record, touching only those that need it."""

    def __init__(self, field_types: list[TypeInformation]) -> None:
        self._types = field_types
        self._needed = [
            isinstance(kind, TypeInformation) and kind.need_conversion() for kind in field_types
        ]
        self._any = any(self._needed)

    def to_internal(self, values: Iterable[Any]) -> tuple:
        if not self._any:
            return tuple(values)
        columns = zip(self._types, values, self._needed)
        return tuple(
            kind.to_internal_type(value) if needed else value for kind, value, needed in columns
        )

    def from_internal(self, values: Iterable[Any]) -> tuple:
        if not self._any:
            return tuple(values)
        columns = zip(self._types, values, self._needed)
        return tuple(
            kind.from_internal_type(value) if needed else value for kind, value, needed in columns
        )


class RowTypeInfo(TypeInformation):
    """Rows with these fields.

    Args:
        field_types: the types of the fields.
        field_names: their names; ``f0``, ``f1`` and so on when left out.
    """

    def __init__(
        self, field_types: list[TypeInformation], field_names: list[str] | None = None
    ) -> None:
        self._field_types = field_types
        self._field_names = field_names
        self._conversion = _FieldConversion(field_types)

    def get_field_names(self) -> list[str]:
        """Return the names; from the first call on they belong to the type's text."""
        if not self._field_names:
            self._field_names = [f"f{index}" for index in range(len(self._field_types))]
        return self._field_names

    def get_field_index(self, field_name: str) -> int:
        """Return the position of a field, or -1 when the fields were given no names.

        Raises:
            ValueError: there is no such field.
        """
        return self._field_names.index(field_name) if self._field_names else -1

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return self._field_types

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowTypeInfo) and self._field_types == other._field_types

    def __repr__(self) -> str:
        if not self._field_names:
            return f"RowTypeInfo({', '.join(map(str, self._field_types))})"
        fields = zip(self._field_names, self._field_types)
        return f"RowTypeInfo({', '.join([f'{name}: {kind}' for name, kind in fields])})"

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: object) -> tuple | None:
        if obj is None:
            return None
        kind = RowKind.INSERT
        values: Iterable[Any]
        if isinstance(obj, dict):
            values = map(obj.get, self.get_field_names())
        elif isinstance(obj, Row):
            kind = obj.get_row_kind()
            named = obj._names is not None
            values = [obj[name] for name in self.get_field_names()] if named else obj
        elif isinstance(obj, (tuple, list)):
            values = obj
        elif hasattr(obj, "__dict__"):
            values = map(obj.__dict__.get, self.get_field_names())
        else:
            raise ValueError(f"Unexpected tuple {obj!r} with RowTypeInfo")
        return (kind.value, *self._conversion.to_internal(values))

    def from_internal_type(self, obj: Any) -> Any:
        if obj is None or isinstance(obj, (tuple, list)):
            return obj
        return self._conversion.from_internal(obj)


class TupleTypeInfo(TypeInformation):
    """Tuples with these fields.

    Args:
        field_types: the types of the fields.
    """

    def __init__(self, field_types: list[TypeInformation]) -> None:
        self._field_types = field_types
        self._conversion = _FieldConversion(field_types)

    def get_field_types(self) -> list[TypeInformation]:
        """Return the types of the fields."""
        return self._field_types

    def need_conversion(self) -> bool:
        return True

    def to_internal_type(self, obj: object) -> tuple | None:
        if obj is None:
            return None
        if isinstance(obj, (list, tuple, Row)):
            return self._conversion.to_internal(obj)
        raise ValueError(f"Unexpected tuple {obj!r} with TupleTypeInfo")

    def from_internal_type(self, obj: Any) -> Any:
        if obj is None or isinstance(obj, (tuple, list)):
            return obj
        return self._conversion.from_internal(obj)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TupleTypeInfo) and self._field_types == other._field_types

    def __repr__(self) -> str:
        return f"TupleTypeInfo({', '.join(map(str, self._field_types))})"


class Types:
    """Gives the type information of the usual types."""

    @staticmethod
    def STRING() -> TypeInformation:
        """Text, or None."""
        return BasicTypeInfo.STRING_TYPE_INFO()

    @staticmethod
    def BYTE() -> TypeInformation:
        """An integer from -128 to 127."""
        return BasicTypeInfo.BYTE_TYPE_INFO()

    @staticmethod
    def BOOLEAN() -> TypeInformation:
        """True or False."""
        return BasicTypeInfo.BOOLEAN_TYPE_INFO()

    @staticmethod
    def SHORT() -> TypeInformation:
        """An integer from -32768 to 32767."""
        return BasicTypeInfo.SHORT_TYPE_INFO()

    @staticmethod
    def INT() -> TypeInformation:
        """An integer of 32 bits with sign."""
        return BasicTypeInfo.INT_TYPE_INFO()

    @staticmethod
    def LONG() -> TypeInformation:
        """An integer of 64 bits with sign."""
        return BasicTypeInfo.LONG_TYPE_INFO()

    @staticmethod
    def FLOAT() -> TypeInformation:
        """A floating-point number that is rounded to 32 bits."""
        return BasicTypeInfo.FLOAT_TYPE_INFO()

    @staticmethod
    def DOUBLE() -> TypeInformation:
        """A floating-point number, Python's float."""
        return BasicTypeInfo.DOUBLE_TYPE_INFO()

    @staticmethod
    def CHAR() -> TypeInformation:
        """A text of one character."""
        return BasicTypeInfo.CHAR_TYPE_INFO()

    @staticmethod
    def BIG_INT() -> TypeInformation:
        """An integer of any size, or None."""
        return BasicTypeInfo.BIG_INT_TYPE_INFO()

    @staticmethod
    def BIG_DEC() -> TypeInformation:
        """A ``decimal.Decimal``, or None."""
        return BasicTypeInfo.BIG_DEC_TYPE_INFO()

    @staticmethod
    def INSTANT() -> TypeInformation:
        """An ``Instant``, or None."""
        return BasicTypeInfo.INSTANT_TYPE_INFO()

    @staticmethod
    def SQL_DATE() -> TypeInformation:
        """A ``datetime.date``, or None."""
        return SqlTimeTypeInfo.DATE()

    @staticmethod
    def SQL_TIME() -> TypeInformation:
        """A ``datetime.time``, or None."""
        return SqlTimeTypeInfo.TIME()

    @staticmethod
    def SQL_TIMESTAMP() -> TypeInformation:
        """A ``datetime.datetime``, or None."""
        return SqlTimeTypeInfo.TIMESTAMP()

    @staticmethod
    def PICKLED_BYTE_ARRAY() -> TypeInformation:
        """Any Python object that can be pickled."""
        return PickledBytesTypeInfo()

    @staticmethod
    def ROW(field_types: list[TypeInformation]) -> RowTypeInfo:
        """Rows whose fields are called f0, f1 and so on; every field may be None.

        Args:
            field_types: the types of the fields.
        """
        return RowTypeInfo(field_types)

    @staticmethod
    def ROW_NAMED(field_names: list[str], field_types: list[TypeInformation]) -> RowTypeInfo:
        """Rows with named fields; every field may be None.

        Args:
            field_names: the names of the fields.
            field_types: their types.
        """
        return RowTypeInfo(field_types, field_names)

    @staticmethod
    def TUPLE(field_types: list[TypeInformation]) -> TupleTypeInfo:
        """Tuples.

        Args:
            field_types: the types of the fields.
        """
        return TupleTypeInfo(field_types)

    @staticmethod
    def PRIMITIVE_ARRAY(element_type: TypeInformation) -> PrimitiveArrayTypeInfo:
        """Arrays of booleans, numbers or characters, without None.

        Args:
            element_type: the type of the elements.
        """
        return PrimitiveArrayTypeInfo(element_type)

    @staticmethod
    def BASIC_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Arrays of booleans, numbers, characters or text; elements may be None.

        Args:
            element_type: the type of the elements.
        """
        return BasicArrayTypeInfo(element_type)

    @staticmethod
    def OBJECT_ARRAY(element_type: TypeInformation) -> TypeInformation:
        """Arrays of anything; elements may be None.

        Args:
            element_type: the type of the elements.
        """
        return ObjectArrayTypeInfo(element_type)

    @staticmethod
    def MAP(key_type_info: TypeInformation, value_type_info: TypeInformation) -> TypeInformation:
        """Dicts; values may be None.

        Args:
            key_type_info: the type of the keys.
            value_type_info: the type of the values.
        """
        return MapTypeInfo(key_type_info, value_type_info)

    @staticmethod
    def LIST(element_type_info: TypeInformation) -> TypeInformation:
        """Lists.

        Args:
            element_type_info: the type of the elements.
        """
        return ListTypeInfo(element_type_info)


__getattr__ = missing_name(__name__)
