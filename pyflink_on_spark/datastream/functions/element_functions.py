"""Functions that see one element at a time, or two to make one of them."""

from __future__ import annotations

from abc import abstractmethod

from pyflink_on_spark.datastream.functions.base import Function


class MapFunction(Function):
    """Makes one element of each element."""

    @abstractmethod
    def map(self, value):
        """Return what becomes of an element; None is an element, too."""


class CoMapFunction(Function):
    """Makes one element of each element of two connected streams."""

    @abstractmethod
    def map1(self, value):
        """Return what becomes of an element of the first stream; None emits nothing."""

    @abstractmethod
    def map2(self, value):
        """Return what becomes of an element of the second stream; None emits nothing."""


class FlatMapFunction(Function):
    """Makes any number of elements of each element."""

    @abstractmethod
    def flat_map(self, value):
        """Return an iterable of what becomes of an element, or be a generator."""


class CoFlatMapFunction(Function):
    """Makes any number of elements of each element of two connected streams."""

    @abstractmethod
    def flat_map1(self, value):
        """Return an iterable of what becomes of an element of the first stream."""

    @abstractmethod
    def flat_map2(self, value):
        """Return an iterable of what becomes of an element of the second stream."""


class ReduceFunction(Function):
    """Makes one value of two of the same type; the order of merging must not matter."""

    @abstractmethod
    def reduce(self, value1, value2):
        """Return the value that stands for both.

        Args:
            value1: what the values so far were reduced to.
            value2: the new value.
        """


class AggregateFunction(Function):
    """Collects elements in an accumulator, and makes a result of it."""

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
    """Decides which elements stay."""

    @abstractmethod
    def filter(self, value):
        """Return something true for an element that is to stay."""
