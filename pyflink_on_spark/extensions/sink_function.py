"""Sinks that are Python functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from pyflink_on_spark._connectors.functions.context import FunctionSinkContext
from pyflink_on_spark._connectors.functions.sink import FunctionSink
from pyflink_on_spark._runtime.user_code.user_function import UserFunction
from pyflink_on_spark.datastream import DataStream
from pyflink_on_spark.datastream.data_stream import DataStreamSink
from pyflink_on_spark.datastream.functions import Function


class SinkContext(ABC):
    """The context of an element."""

    @abstractmethod
    def timestamp(self) -> int | None:
        """Return the element's timestamp in ms; None if it has none."""

    @abstractmethod
    def current_watermark(self) -> int:
        """Return the watermark in ms; -2**63 before the first one."""

    @abstractmethod
    def current_processing_time(self) -> int:
        """Return the machine's time, in ms since the epoch."""


class SinkFunction(Function):
    """Gets every element of a stream. See ``add_sink``.

    Example:
        >>> class Upper(SinkFunction):
        ...     def invoke(self, value, context):
        ...         print(value.upper())
        >>> sink = add_sink(env.from_collection(["a", "b"]), Upper())
        >>> result = env.execute()
        A
        B
    """

    @abstractmethod
    def invoke(self, value: Any, context: SinkContext) -> None:
        """Write an element.

        Args:
            value: the element.
            context: valid during this call only.
        """

    def finish(self) -> None:
        """Write the buffered elements at the end of the input. Not called when the job fails."""


class RichSinkFunction(SinkFunction, ABC):
    """A SinkFunction, by the name it has in Flink if it has ``open`` and ``close``."""


class _PythonSink:
    """The argument of ``sink_to`` for this sink.

    Args:
        sink: the engine's.
    """

    def __init__(self, sink: FunctionSink) -> None:
        self._sink = sink


def add_sink(stream: DataStream, function: SinkFunction, name: str = "Unnamed") -> DataStreamSink:
    """Write a stream to a sink that is a Python function.

    Each element arrives at least once: after a failure those since the last checkpoint come again.
    ``stream.add_sink`` refuses such a sink, as PyFlink's does.

    Args:
        stream: keyed or not.
        function: copied at once; one instance for each subtask.
        name: the operator's name.

    Raises:
        TypeError: it is no SinkFunction, or cannot be pickled.
    """
    if not isinstance(function, SinkFunction):
        raise TypeError(
            f"add_sink needs a SinkFunction of pyflink_on_spark.extensions, not {function!r}"
        )
    return stream.sink_to(_PythonSink(FunctionSink(UserFunction.of(function))), name)


SinkContext.register(FunctionSinkContext)
