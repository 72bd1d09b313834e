"""Which streams a serialization schema can write."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark.common.serialization import (
    ByteArraySchema,
    SerializationSchema,
    SimpleStringSchema,
)
from pyflink_on_spark.common.typeinfo import ExternalTypeInfo, RowTypeInfo, Types

_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())


def check_written(schema: SerializationSchema, type_info: Any) -> None:
    """Accept a stream that a schema can write.

    In PyFlink a schema gets what the stream's type makes of an element in the JVM; of a stream
    without a declared type that is pickled bytes, which no schema takes for what was pickled.

    Args:
        schema: what makes messages of elements.
        type_info: the stream's type.

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
