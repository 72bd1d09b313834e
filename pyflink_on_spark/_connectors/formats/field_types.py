"""The fields that text formats can write, and the error for others."""

from __future__ import annotations

from typing import Any, NoReturn

from pyflink_on_spark._compat.unsupported import Gap, raise_unsupported
from pyflink_on_spark.common.serialization import (
    ByteArraySchema,
    SerializationSchema,
    SimpleStringSchema,
)
from pyflink_on_spark.common.typeinfo import BasicType, ExternalTypeInfo, RowTypeInfo, Types

WHOLE_NUMBERS = frozenset(
    (BasicType.BYTE, BasicType.SHORT, BasicType.INT, BasicType.LONG, BasicType.BIG_INT)
)


def whole_number_text(value: Any) -> str:
    """Return the text of an integer.

    Raises:
        TypeError: the value is not an integer.
    """
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a whole number")
    return int.__repr__(value)


def refuse_field(type_info: Any, format_name: str) -> NoReturn:
    """Raise UnsupportedFlinkFeature for a type that a format does not support."""
    raise_unsupported(
        f"a field of type {type_info} in {format_name}",
        kind=Gap.NOT_YET,
        reason="the format has no such type here",
        instead="Declare it as a STRING, and convert it in a map().",
    )


_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())


def check_written(schema: SerializationSchema, type_info: Any) -> None:
    """Check that a schema can write a stream.

    In PyFlink a schema gets an element in the form of the stream's type in the JVM. An element of a
    stream without a declared type consists of pickled bytes there, which no schema can write.

    Args:
        schema: the serialization schema.
        type_info: the type of the stream.

    Raises:
        TypeError: the schema writes elements of another type.
    """
    found = type_info._type_info if isinstance(type_info, ExternalTypeInfo) else type_info
    if isinstance(schema, SimpleStringSchema):
        fits, wanted = found == Types.STRING(), "Types.STRING()"
    elif isinstance(schema, ByteArraySchema):
        fits, wanted = found == _BYTES, "Types.PRIMITIVE_ARRAY(Types.BYTE())"
    else:
        fits, wanted = isinstance(found, RowTypeInfo), "Types.ROW([...])"
    if not fits:
        raise TypeError(
            f"{type(schema).__name__} writes a stream of {wanted}, and this one is of {type_info}: "
            f"declare its type where it is made, for example .map(..., output_type={wanted})"
        )
