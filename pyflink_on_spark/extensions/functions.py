"""Functions of Python as sources and sinks, and as generators of elements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from pyflink_on_spark._connectors.functions import (
    FunctionSink,
    FunctionSinkContext,
    FunctionSource,
    FunctionSourceContext,
)
from pyflink_on_spark._connectors.generator import (
    GeneratorSource,
    PerCheckpoint,
    PerSecond,
    RateLimit,
)
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common import WatermarkStrategy
from pyflink_on_spark.common.typeinfo import TypeInformation, Types
from pyflink_on_spark.datastream import DataStream, StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.data_stream import DataStreamSink
from pyflink_on_spark.datastream.functions import Function


class SourceContext(ABC):
    """The argument of ``run``, with which the source emits."""

    @abstractmethod
    def collect(self, element: object) -> None:
        """Emit an element without a timestamp; waits while those downstream do not keep up.

        Args:
            element: may be changed afterwards, without effect.
        """

    @abstractmethod
    def collect_with_timestamp(self, element: object, timestamp: int) -> None:
        """Emit an element with its event time.

        Args:
            element: may be changed afterwards, without effect.
            timestamp: in ms since the epoch.
        """

    @abstractmethod
    def emit_watermark(self, timestamp: int) -> None:
        """Say that no element at or before a time follows. BATCH mode has no use for it.

        Args:
            timestamp: in ms since the epoch.

        Raises:
            TypeError: it is not an int.
        """

    @abstractmethod
    def mark_as_temporarily_idle(self) -> None:
        """Say that event time need not wait for this source until it emits again."""

    @abstractmethod
    def get_checkpoint_lock(self) -> AbstractContextManager[object]:
        """Return the lock that keeps snapshots out.

        Emit an element and note it in the source's state inside ``with lock:``, and a snapshot sees
        both or neither.
        """


class SourceFunction(Function):
    """A source with one instance. See ``add_source``.

    Example:
        >>> class Numbers(SourceFunction):
        ...     running = True
        ...
        ...     def run(self, ctx):
        ...         for number in range(3):
        ...             if self.running:
        ...                 ctx.collect(number)
        ...
        ...     def cancel(self):
        ...         self.running = False
        >>> numbers = add_source(env, Numbers(), "numbers", Types.INT(), bounded=True)
        >>> list(numbers.execute_and_collect())
        [0, 1, 2]
    """

    @abstractmethod
    def run(self, ctx: SourceContext) -> None:
        """Emit elements; the source ends when this returns.

        Args:
            ctx: takes the elements; for this thread only.
        """

    @abstractmethod
    def cancel(self) -> None:
        """Have ``run`` return soon; called from another thread."""


class RichSourceFunction(SourceFunction, ABC):
    """A SourceFunction, by the name it has in Flink if it has ``open`` and ``close``."""


class ParallelSourceFunction(SourceFunction, ABC):
    """A source with as many instances as the parallelism says.

    ``open(runtime_context)`` tells an instance which one it is.
    """


class RichParallelSourceFunction(ParallelSourceFunction, ABC):
    """A ParallelSourceFunction, by the name it has in Flink with ``open`` and ``close``."""


class _PythonSource:
    """The argument of ``from_source`` for this source.

    Args:
        source: the engine's.
    """

    def __init__(self, source: FunctionSource) -> None:
        self._source = source


def add_source(
    env: StreamExecutionEnvironment,
    function: SourceFunction,
    name: str = "Custom Source",
    type_info: TypeInformation | None = None,
    *,
    bounded: bool = False,
) -> DataStream:
    """Make a stream of a source that is a Python function.

    ``env.add_source`` refuses it, as PyFlink's does.

    Args:
        env: the environment.
        function: copied at once; each instance runs in a thread beside its subtask.
        name: the operator's name.
        type_info: the type of the elements; untyped if not given.
        bounded: whether ``run`` returns by itself. BATCH mode needs that.

    Raises:
        TypeError: it is no SourceFunction, or cannot be pickled.
    """
    if not isinstance(function, SourceFunction):
        raise TypeError(
            f"add_source needs a SourceFunction of pyflink_on_spark.extensions, not {function!r}"
        )
    source = FunctionSource(
        UserFunction.of(function),
        bounded=bounded,
        parallel=isinstance(function, ParallelSourceFunction),
    )
    return env.from_source(
        _PythonSource(source),
        WatermarkStrategy.no_watermarks(),
        name,
        Types.PICKLED_BYTE_ARRAY() if type_info is None else type_info,
    )


SourceContext.register(FunctionSourceContext)


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


class GeneratorFunction(Function, ABC):
    """Makes elements of numbers.

    Example:
        >>> class Names(GeneratorFunction):
        ...     def map(self, value):
        ...         return f"user {value}"
        >>> source = DataGeneratorSource(Names(), 2, type_info=Types.STRING())
        >>> users = env.from_source(source, WatermarkStrategy.no_watermarks(), "users")
        >>> list(users.execute_and_collect())
        ['user 0', 'user 1']
    """

    @abstractmethod
    def map(self, value: int) -> object:
        """Return the element of a number; the first one is 0."""


class RateLimiterStrategy:
    """The rate of generated elements; made with the methods below.

    Args:
        limit: the engine's, or None.
    """

    def __init__(self, limit: RateLimit | None) -> None:
        self._limit = limit

    @staticmethod
    def per_second(records_per_second: float) -> RateLimiterStrategy:
        """Limit the number of elements per second, of all subtasks together, evenly spread.

        Raises:
            ValueError: the number is not positive.
        """
        if not records_per_second > 0:
            raise ValueError(f"records_per_second must be positive, not {records_per_second}")
        return RateLimiterStrategy(PerSecond(records_per_second))

    @staticmethod
    def per_checkpoint(records_per_checkpoint: int) -> RateLimiterStrategy:
        """Limit the number of elements between two checkpoints, of all subtasks together.

        Raises:
            ValueError: the number is not positive.
        """
        if not records_per_checkpoint > 0:
            raise ValueError(
                f"records_per_checkpoint must be positive, not {records_per_checkpoint}"
            )
        return RateLimiterStrategy(PerCheckpoint(records_per_checkpoint))

    @staticmethod
    def no_op() -> RateLimiterStrategy:
        """Make elements as fast as can be."""
        return RateLimiterStrategy(None)


class DataGeneratorSource(Source):
    """Makes elements of the numbers from 0 on, for ``env.from_source``. PyFlink has none in Python.

    The parallel subtasks get contiguous ranges of the numbers, each in ascending order. A
    checkpoint has how far each is. With a rate limiter, or 2**63 - 1 numbers, the source counts as
    unbounded: its elements are seen at once, and BATCH mode refuses it.

    Args:
        generator_function: a GeneratorFunction, or any function of a number; copied at once.
        count: how many numbers.
        rate_limiter_strategy: how fast.
        type_info: the type of the elements; untyped if not given.

    Raises:
        TypeError: the function cannot be called or pickled.
        ValueError: the count is negative, or does not fit into 64 bits.
    """

    def __init__(
        self,
        generator_function: GeneratorFunction | Callable[[int], object],
        count: int = 2**63 - 1,
        rate_limiter_strategy: RateLimiterStrategy | None = None,
        type_info: TypeInformation | None = None,
    ) -> None:
        if not isinstance(generator_function, GeneratorFunction) and not callable(
            generator_function
        ):
            raise TypeError(
                f"DataGeneratorSource needs a function of a number, not {generator_function!r}"
            )
        if not 0 <= count < 2**63:
            raise ValueError(f"count is a number of elements below 2**63, not {count}")
        strategy = rate_limiter_strategy or RateLimiterStrategy.no_op()
        function = UserFunction.of(generator_function)
        super().__init__(GeneratorSource(function, count, strategy._limit, type_info))
