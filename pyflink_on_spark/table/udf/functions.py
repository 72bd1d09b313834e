"""What a user's function extends."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from pyflink_on_spark._sql.functions.context import FunctionContext
from pyflink_on_spark.common.data_types import DataType

T = TypeVar("T")
ACC = TypeVar("ACC")


class UserDefinedFunction(ABC):  # noqa: B024 - methods without a body may stay so
    """A function of the user's, as an object."""

    def open(self, function_context: FunctionContext):
        """Get ready; called once in each subtask."""

    def close(self):
        """Release everything."""

    def is_deterministic(self) -> bool:
        """Tell whether it always has the same result for the same arguments."""
        return True


class ScalarFunction(UserDefinedFunction):
    """Gives one value for each row."""

    @abstractmethod
    def eval(self, *args):
        """Return the value for some arguments."""


class AsyncScalarFunction(UserDefinedFunction):
    """Gives one value for each row, later. On Spark: not supported yet."""

    @abstractmethod
    async def eval(self, *args):
        """Return the value for some arguments."""


class TableFunction(UserDefinedFunction):
    """Gives any number of rows for each row."""

    @abstractmethod
    def eval(self, *args):
        """Return or yield the rows for some arguments."""


class ImperativeAggregateFunction(UserDefinedFunction, Generic[T, ACC]):
    """Gives something for the rows of a group."""

    @abstractmethod
    def create_accumulator(self) -> ACC:
        """Return the accumulator of no rows."""

    @abstractmethod
    def accumulate(self, accumulator: ACC, *args):
        """Add a row to an accumulator."""

    def retract(self, accumulator: ACC, *args):
        """Take a row back.

        Raises:
            RuntimeError: the function does not say how.
        """
        raise RuntimeError("Method retract is not implemented")

    def merge(self, accumulator: ACC, accumulators):
        """Add other accumulators to one.

        Raises:
            RuntimeError: the function does not say how.
        """
        raise RuntimeError("Method merge is not implemented")

    def get_result_type(self) -> DataType | str:
        """Return the type of the result.

        Raises:
            RuntimeError: the function does not say it.
        """
        raise RuntimeError("Method get_result_type is not implemented")

    def get_accumulator_type(self) -> DataType | str:
        """Return the type of accumulators.

        Raises:
            RuntimeError: the function does not say it.
        """
        raise RuntimeError("Method get_accumulator_type is not implemented")


class AggregateFunction(ImperativeAggregateFunction):
    """Gives one value for the rows of a group."""

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T:  # type: ignore[type-var]
        """Return the value of an accumulator."""


class TableAggregateFunction(ImperativeAggregateFunction):
    """Gives any number of rows for the rows of a group."""

    @abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Yield the rows of an accumulator."""
