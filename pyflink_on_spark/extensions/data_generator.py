"""A source of elements that a function makes, as Flink has it in Java."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from pyflink_on_spark._connectors.generator import (
    GeneratorSource,
    PerCheckpoint,
    PerSecond,
    RateLimit,
)
from pyflink_on_spark._runtime.user_code import UserFunction
from pyflink_on_spark.common.typeinfo import TypeInformation
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.functions import Function


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
    def map(self, value: int) -> Any:
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
        generator_function: GeneratorFunction | Callable[[int], Any],
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
