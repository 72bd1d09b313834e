"""What all sources and sinks have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._runtime import connector
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.functions import JavaFunctionWrapper


class Source(JavaFunctionWrapper):
    """Where a stream's elements come from.

    Args:
        source: the runtime's source; the subclasses make it.

    On Spark: neither a Java object nor the name of a Java class is taken.
    """

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        call = f"{type(self).__name__}(source)"
        self._source = own_handle(source, connector.Source, call)  # type: ignore[type-abstract]


class Sink(JavaFunctionWrapper):
    """Where a stream's elements go.

    Args:
        sink: the runtime's sink; the subclasses make it.

    On Spark: neither a Java object nor the name of a Java class is taken.
    """

    def __init__(self, sink: Any) -> None:
        super().__init__(sink)
        call = f"{type(self).__name__}(sink)"
        self._sink = own_handle(sink, connector.Sink, call)  # type: ignore[type-abstract]


class DeliveryGuarantee(Enum):
    """What a sink promises about elements when a job fails and is restarted.

    Attributes:
        EXACTLY_ONCE: each element arrives once.
        AT_LEAST_ONCE: each element arrives, some perhaps more than once.
        NONE: elements may be lost or arrive more than once.
    """

    # The tuples are PyFlink's values.
    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


class StreamTransformer(ABC):
    """A step that a sink needs in front of itself."""

    @abstractmethod
    def apply(self, ds: Any) -> Any:
        """Return the stream that the sink is to get, made from the one it was given."""


class SupportsPreprocessing(ABC):
    """A sink that may need a step in front of itself."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Return the step, or None."""


__getattr__ = missing_name(__name__)
