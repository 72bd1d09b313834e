"""Functions without a context, such as map, filter and reduce, and the base of all functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._compat.arguments import refuse_java_object
from pyflink_on_spark._compat.unsupported import refuse_java

if TYPE_CHECKING:
    from pyflink_on_spark.datastream.functions.runtime_context import RuntimeContext


class Function(ABC):  # noqa: B024 - as in PyFlink
    """The root of all user functions.

    An object is pickled when it is added to a stream; each parallel instance works on a copy.
    """

    def open(self, runtime_context: RuntimeContext):
        """Prepare this instance; called once, before its first element.

        Args:
            runtime_context: where the function runs, and its state.
        """

    def close(self):
        """Release what ``open`` acquired; called once, after the last element.

        An error in it is logged, and the job succeeds: so write what must not get lost before.
        """


class FunctionWrapper(Function):
    """Makes a function object of a plain callable.

    Args:
        func: the callable.
    """

    def __init__(self, func):
        self._func = func


class ReduceFunctionWrapper(FunctionWrapper):
    """A reduce function made of a callable of two values.

    Args:
        func: takes two values and returns one.
    """

    def __init__(self, func):
        super().__init__(func)

    def reduce(self, value1, value2):
        """Combine two values with the callable."""
        return self._func(value1, value2)


class MapFunction(Function):
    """Makes one element of each element.

    Example:
        >>> class Length(MapFunction):
        ...     def map(self, value):
        ...         return len(value)
        >>> list(env.from_collection(["a", "bcd"]).map(Length()).execute_and_collect())
        [1, 3]
    """

    @abstractmethod
    def map(self, value):
        """Return the result for an element; None is a result, too."""


class CoMapFunction(Function):
    """Makes one element of each element of two connected streams.

    Example:
        >>> class Text(CoMapFunction):
        ...     def map1(self, value):
        ...         return value.upper()
        ...
        ...     def map2(self, value):
        ...         return f"number {value}"
        >>> connected = env.from_collection(["a"]).connect(env.from_collection([1]))
        >>> sorted(connected.map(Text()).execute_and_collect())
        ['A', 'number 1']
    """

    @abstractmethod
    def map1(self, value):
        """Return the result for an element of the first stream; None emits nothing."""

    @abstractmethod
    def map2(self, value):
        """Return the result for an element of the second stream; None emits nothing."""


class FlatMapFunction(Function):
    """Makes any number of elements of each element.

    Example:
        >>> class Words(FlatMapFunction):
        ...     def flat_map(self, value):
        ...         yield from value.split()
        >>> list(env.from_collection(["to be", "or"]).flat_map(Words()).execute_and_collect())
        ['to', 'be', 'or']
    """

    @abstractmethod
    def flat_map(self, value):
        """Return an iterable of the results for an element, or be a generator."""


class CoFlatMapFunction(Function):
    """Makes any number of elements of each element of two connected streams."""

    @abstractmethod
    def flat_map1(self, value):
        """Return an iterable of the results for an element of the first stream."""

    @abstractmethod
    def flat_map2(self, value):
        """Return an iterable of the results for an element of the second stream."""


class ReduceFunction(Function):
    """Makes one value of two of the same type; the order of merging must not matter.

    Example:
        >>> class Sum(ReduceFunction):
        ...     def reduce(self, value1, value2):
        ...         return value1 + value2
        >>> numbers = env.from_collection([1, 2, 3], Types.INT())
        >>> list(numbers.key_by(lambda number: "all").reduce(Sum()).execute_and_collect())
        [1, 3, 6]
    """

    @abstractmethod
    def reduce(self, value1, value2):
        """Return the value that stands for both.

        Args:
            value1: what the values so far were reduced to.
            value2: the new value.
        """


class AggregateFunction(Function):
    """Collects elements in an accumulator, and makes a result of it.

    Example:
        >>> class Average(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return 0, 0
        ...
        ...     def add(self, value, accumulator):
        ...         total, count = accumulator
        ...         return total + value, count + 1
        ...
        ...     def get_result(self, accumulator):
        ...         total, count = accumulator
        ...         return total / count
        ...
        ...     def merge(self, a, b):
        ...         return a[0] + b[0], a[1] + b[1]
        >>> windows = env.from_collection([1, 2, 5, 6]).key_by(lambda number: "all").count_window(2)
        >>> list(windows.aggregate(Average()).execute_and_collect())
        [1.5, 5.5]
    """

    @abstractmethod
    def create_accumulator(self):
        """Return an accumulator that has seen nothing yet."""

    @abstractmethod
    def add(self, value, accumulator):
        """Return the accumulator with one more element.

        Args:
            value: the element.
            accumulator: what was collected so far; it may be changed and returned.
        """

    @abstractmethod
    def get_result(self, accumulator):
        """Return the result that belongs to an accumulator."""

    @abstractmethod
    def merge(self, acc_a, acc_b):
        """Return one accumulator for two; called when session windows grow together."""


class FilterFunction(Function):
    """Decides which elements stay.

    Example:
        >>> class Even(FilterFunction):
        ...     def filter(self, value):
        ...         return value % 2 == 0
        >>> list(env.from_collection([1, 2, 3, 4]).filter(Even()).execute_and_collect())
        [2, 4]
    """

    @abstractmethod
    def filter(self, value):
        """Return something true for an element that is to stay."""


class KeySelector(Function):
    """Takes the key out of an element.

    Example:
        >>> class FirstLetter(KeySelector):
        ...     def get_key(self, value):
        ...         return value[0]
        >>> keyed = env.from_collection(["ab", "b", "ac"]).key_by(FirstLetter())
        >>> list(keyed.reduce(lambda a, b: f"{a} {b}").execute_and_collect())
        ['ab', 'b', 'ab ac']
    """

    @abstractmethod
    def get_key(self, value):
        """Return the key of an element; the same one whenever it is asked."""


class NullByteKeySelector(KeySelector):
    """Gives all elements the same key, for windows over a whole stream."""

    def get_key(self, value):
        """Return 0."""
        return 0


class Partitioner(Function):
    """Picks the parallel instance for a key, in ``partition_custom``.

    Example:
        >>> class Remainder(Partitioner):
        ...     def partition(self, key, num_partitions):
        ...         return key % num_partitions
        >>> numbers = env.from_collection([1, 2, 3])
        >>> placed = numbers.partition_custom(Remainder(), lambda number: number)
        >>> sorted(placed.execute_and_collect())
        [1, 2, 3]
    """

    @abstractmethod
    def partition(self, key: Any, num_partitions: int) -> int:
        """Return the index of the instance that gets an element.

        Args:
            key: the element's key.
            num_partitions: how many instances the next operator has.
        """


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
