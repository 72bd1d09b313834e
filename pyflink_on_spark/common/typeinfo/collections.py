"""Lists, arrays and maps; and the wrapper of the Table API."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark.common.typeinfo.information import TypeInformation


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

    def __eq__(self, other: Any) -> bool:
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
