"""The root of classes that carry a description of something the engine makes."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.arguments import refuse_java_object
from pyflink_on_spark._compat.missing_names import missing_name


class JavaObjectWrapper:
    """A value that PyFlink wraps around a Java object.

    Args:
        j_object: this package's own description of the thing.

    On Spark: there is no Java object; a description stands in its place.
    """

    def __init__(self, j_object: Any) -> None:
        refuse_java_object(j_object, f"{type(self).__name__}(<a Java object>)")
        self._j_object = j_object

    def get_java_object(self) -> Any:
        """Return the constructor's argument."""
        return self._j_object


__getattr__ = missing_name(__name__)
