"""The root of all type information."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import Gap, unsupported


def _get_java_type_info(self: TypeInformation) -> Any:
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
