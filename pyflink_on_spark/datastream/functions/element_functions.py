"""Functions that see one element at a time, or two to make one of them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyflink_on_spark.datastream.functions.base import Function


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
