"""The factory of type information that scripts use."""

from __future__ import annotations

from pyflink_on_spark.common.typeinfo.basic import BasicTypeInfo, PickledBytesTypeInfo
from pyflink_on_spark.common.typeinfo.collections import (
    BasicArrayTypeInfo,
    ListTypeInfo,
    MapTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
)
from pyflink_on_spark.common.typeinfo.composite import RowTypeInfo, TupleTypeInfo
from pyflink_on_spark.common.typeinfo.information import TypeInformation
from pyflink_on_spark.common.typeinfo.temporal import SqlTimeTypeInfo


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
