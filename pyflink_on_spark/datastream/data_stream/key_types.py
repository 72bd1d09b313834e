"""The types that keys can have."""

from __future__ import annotations

from collections.abc import Iterator

from pyflink_on_spark.common.typeinfo import (
    BasicArrayTypeInfo,
    ObjectArrayTypeInfo,
    PrimitiveArrayTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
    TypeInformation,
)

_ARRAYS = (BasicArrayTypeInfo, ObjectArrayTypeInfo, PrimitiveArrayTypeInfo)


def check_key_type(key_type: TypeInformation) -> None:
    """Refuse arrays, and tuples and rows that contain them: Flink cannot hash them.

    Raises:
        TypeError: it is no type.
        ValueError: if the type has one.
    """
    if not isinstance(key_type, TypeInformation):
        raise TypeError(f"key_type must be None or a TypeInformation, not {key_type!r}")
    arrays = list(_arrays_in(key_type))
    if arrays:
        raise ValueError(
            f"Type {key_type} cannot be used as key. Contained UNSUPPORTED key types: "
            f"{', '.join(map(str, arrays))}. A key of bytes needs no type: leave key_type out."
        )


def _arrays_in(found: TypeInformation) -> Iterator[TypeInformation]:
    if isinstance(found, _ARRAYS):
        yield found
    elif isinstance(found, (RowTypeInfo, TupleTypeInfo)):
        for field in found.get_field_types():
            yield from _arrays_in(field)
