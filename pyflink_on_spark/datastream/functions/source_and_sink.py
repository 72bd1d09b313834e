"""The legacy source and sink functions, for ``add_source`` and ``add_sink``."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import refuse_java
from pyflink_on_spark.common._java_handles import refuse_java_object


class JavaFunctionWrapper:
    """Carries a source or a sink to the engine.

    Args:
        j_function: this package's source or sink.

    Raises:
        UnsupportedFlinkFeature: it is a Java object, or the name of a Java class.

    On Spark: a class of Flink's JVM cannot be used; the connectors of this package are Python.
    """

    def __init__(self, j_function: Any):
        call = f"{type(self).__name__}({j_function!r})"
        if isinstance(j_function, str):
            refuse_java(
                call,
                instead="Use a connector of pyflink.datastream.connectors.",
            )
        refuse_java_object(j_function, call)
        self._j_function = j_function

    def get_java_function(self):
        """Return the constructor's argument."""
        return self._j_function


class SourceFunction(JavaFunctionWrapper):
    """A source for ``add_source``.

    Args:
        source_func: this package's source.
    """

    def __init__(self, source_func: Any):
        super().__init__(source_func)


class SinkFunction(JavaFunctionWrapper):
    """A sink for ``add_sink``.

    Args:
        sink_func: this package's sink.
    """

    def __init__(self, sink_func: Any):
        super().__init__(sink_func)
