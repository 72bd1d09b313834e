"""The base classes of user functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Generic, TypeVar

from pyflink_on_spark._sql.functions.python.binding import FunctionContext
from pyflink_on_spark.common.data_types import DataType

T = TypeVar("T")
ACC = TypeVar("ACC")


class UserDefinedFunction(ABC):  # noqa: B024 - methods without a body may stay so
    """A user function, as an object."""

    def open(self, function_context: FunctionContext):
        """Get ready; called once in each subtask."""

    def close(self):
        """Release everything."""

    def is_deterministic(self) -> bool:
        """True if the function always returns the same result for the same arguments."""
        return True


class ScalarFunction(UserDefinedFunction):
    """Gives one value for each row.

    Example:
        >>> class Add(ScalarFunction):
        ...     def eval(self, a, b):
        ...         return a + b
        >>> add = udf(Add(), result_type=DataTypes.BIGINT())
        >>> table = t_env.from_elements([(1, 2)], ["a", "b"])
        >>> list(table.select(add(table.a, table.b)).execute().collect())
        [<Row(3)>]
    """

    @abstractmethod
    def eval(self, *args):
        """Return the value for some arguments."""


class AsyncScalarFunction(UserDefinedFunction):
    """Gives one value for each row, while other rows are computed.

    Results come in the order of the rows. The options of ``table.exec.async-scalar`` say how many
    calls are in flight, how long one may take, and whether it is tried again.

    On Spark: A call has the arguments of its own row. In PyFlink 2.3 a call that waits may see
    those of a later row.

    Example:
        >>> class Status(AsyncScalarFunction):
        ...     async def eval(self, url):
        ...         async with aiohttp.ClientSession() as session, session.get(url) as answer:
        ...             return answer.status
        >>> status = udf(Status(), result_type=DataTypes.INT())
    """

    @abstractmethod
    async def eval(self, *args):
        """Return the value for some arguments."""


class TableFunction(UserDefinedFunction):
    """Gives any number of rows for each row.

    Example:
        >>> class Split(TableFunction):
        ...     def eval(self, text):
        ...         yield from text.split()
        >>> split = udtf(Split(), result_types=DataTypes.STRING())
        >>> table = t_env.from_elements([("to be",)], ["text"])
        >>> words = table.join_lateral(split(table.text).alias("word")).select(col("word"))
        >>> list(words.execute().collect())
        [<Row('to')>, <Row('be')>]
    """

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
    """Gives one value for the rows of a group.

    Example:
        >>> class Longest(AggregateFunction):
        ...     def create_accumulator(self):
        ...         return [""]
        ...
        ...     def accumulate(self, accumulator, text):
        ...         accumulator[0] = max(accumulator[0], text, key=len)
        ...
        ...     def get_value(self, accumulator):
        ...         return accumulator[0]
        >>> longest = udaf(
        ...     Longest(),
        ...     result_type=DataTypes.STRING(),
        ...     accumulator_type=DataTypes.ARRAY(DataTypes.STRING()),
        ... )
        >>> table = t_env.from_elements([("a",), ("bcd",)], ["text"])
        >>> list(table.select(longest(table.text)).execute().collect())[-1]
        <Row('bcd')>
    """

    @abstractmethod
    def get_value(self, accumulator: ACC) -> T:  # type: ignore[type-var]
        """Return the value of an accumulator."""


class TableAggregateFunction(ImperativeAggregateFunction):
    """Gives any number of rows for the rows of a group."""

    @abstractmethod
    def emit_value(self, accumulator: ACC) -> Iterable[T]:
        """Yield the rows of an accumulator."""
