"""The base classes of sources and sinks."""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from typing import Any

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._runtime.contract import connector
from pyflink_on_spark.datastream.functions import JavaFunctionWrapper


class Source(JavaFunctionWrapper):
    """A source of a stream.

    Args:
        source: made by the subclass.

    On Spark: neither a Java object nor the name of a Java class is accepted.
    """

    def __init__(self, source: Any) -> None:
        super().__init__(source)
        call = f"{type(self).__name__}(source)"
        self._source = own_handle(source, connector.Source, call)  # type: ignore[type-abstract]


class Sink(JavaFunctionWrapper):
    """A sink of a stream.

    Args:
        sink: made by the subclass.

    On Spark: neither a Java object nor the name of a Java class is accepted.
    """

    def __init__(self, sink: object) -> None:
        super().__init__(sink)
        call = f"{type(self).__name__}(sink)"
        self._sink = own_handle(sink, connector.Sink, call)  # type: ignore[type-abstract]


class DeliveryGuarantee(Enum):
    """The guarantee of a sink about elements when a job fails and restarts.

    Attributes:
        EXACTLY_ONCE: each element is written once.
        AT_LEAST_ONCE: each element is written, some possibly more than once.
        NONE: elements may be lost or written more than once.
    """

    # The tuples are PyFlink's values.
    EXACTLY_ONCE = (0,)
    AT_LEAST_ONCE = (1,)
    NONE = 2


class StreamTransformer(ABC):
    """A transformation of the stream before a sink."""

    @abstractmethod
    def apply(self, ds: object) -> Any:
        """Return the transformed stream."""


class SupportsPreprocessing(ABC):
    """A sink that may need a transformation of its stream."""

    @abstractmethod
    def get_transformer(self) -> StreamTransformer | None:
        """Return the transformation, or None."""


__getattr__ = missing_name(__name__)
