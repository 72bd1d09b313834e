"""The check that a schema can write the elements of a stream; it needs no Arrow, as formats do."""

from __future__ import annotations

from pyflink_on_spark.common.serialization import (
    ByteArraySchema,
    SerializationSchema,
    SimpleStringSchema,
)
from pyflink_on_spark.common.typeinfo import (
    ExternalTypeInfo,
    RowTypeInfo,
    TypeInformation,
    Types,
    wrapped_type_of,
)

_BYTES = Types.PRIMITIVE_ARRAY(Types.BYTE())


def check_written(schema: SerializationSchema, type_info: TypeInformation | None) -> None:
    """Check that a schema can write a stream.

    In PyFlink a schema gets an element in the form of the stream's type in the JVM. An element of a
    stream without a declared type consists of pickled bytes there, which no schema can write.

    Args:
        schema: the serialization schema.
        type_info: the type of the stream.

    Raises:
        TypeError: the schema writes elements of another type.
    """
    found = wrapped_type_of(type_info) if isinstance(type_info, ExternalTypeInfo) else type_info
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
