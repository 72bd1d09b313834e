"""The base of all user functions."""

from __future__ import annotations

from abc import ABC
from typing import TYPE_CHECKING

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
