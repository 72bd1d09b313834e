"""The name and type of a side output."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common.typeinfo import RowTypeInfo, TypeInformation, Types
from pyflink_on_spark.datastream._java_gaps import without_java_object

__all__ = ["OutputTag"]


class OutputTag:
    """Names a side output, to which a function yields ``tag, value``.

    Args:
        tag_id: the name, not empty.
        type_info: the type of its elements; a list of types means a row of them, None means
            untyped Python objects.

    Raises:
        ValueError: the name is empty.
        TypeError: ``type_info`` is of another type.

    Example:
        >>> OutputTag("late", Types.STRING()).tag_id
        'late'
    """

    _is_output_tag = True

    def __init__(self, tag_id: str, type_info: TypeInformation | list | None = None):
        if not tag_id:
            raise ValueError("OutputTag tag_id cannot be None or empty string")
        self.tag_id = tag_id
        self.type_info = _element_type(type_info)

    def __repr__(self) -> str:
        return f"OutputTag({self.tag_id!r}, {self.type_info})"

    @without_java_object("Use the tag itself, with its tag_id and type_info.")
    def get_java_output_tag(self):
        """Return Flink's own tag."""


def _element_type(type_info: TypeInformation | list | None) -> TypeInformation:
    if type_info is None:
        return Types.PICKLED_BYTE_ARRAY()
    if isinstance(type_info, list):
        return RowTypeInfo(type_info)
    if not isinstance(type_info, TypeInformation):
        raise TypeError("OutputTag type_info must be None, list or TypeInformation")
    return type_info


__getattr__ = missing_name(__name__)
