"""A stream that later jobs use again."""

from __future__ import annotations

from typing import NoReturn

from pyflink_on_spark.datastream.data_stream.data_stream import DataStream
from pyflink_on_spark.datastream.data_stream.without_operator import WithoutOperator


class CachedDataStream(WithoutOperator, DataStream):
    """A stream that later jobs of the environment use again; made by ``cache()``.

    On Spark: each job computes the elements again, as PyFlink does where jobs share no cluster. For
    elements that are dear to compute write them to files once, and read those.
    """

    _class_name = "CachedDataStream"

    def invalidate(self) -> None:
        """Drop the cached elements, so that the next job computes them again.

        On Spark: nothing is kept.
        """

    def set_description(self, description: str) -> NoReturn:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set description for CachedDataStream is not supported.")
