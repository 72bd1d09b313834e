"""A stream that later jobs use again."""

from __future__ import annotations

from typing import NoReturn

from pyflink_on_spark.datastream.data_stream.data_stream import DataStream
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup


class CachedDataStream(DataStream):
    """A stream that later jobs of the environment use again; made by ``cache()``.

    On Spark: each job computes the elements again, as PyFlink does where jobs share no cluster. For
    elements that are dear to compute write them to files once, and read those.
    """

    def invalidate(self) -> None:
        """Forget what is kept, so that the next job computes it again.

        On Spark: nothing is kept.
        """

    def cache(self) -> NoReturn:
        """Raise: it is cached."""
        raise Exception("Cache for CachedDataStream is not supported.")

    def set_description(self, description: str) -> NoReturn:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set description for CachedDataStream is not supported.")

    def set_parallelism(self, parallelism: int):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set parallelism for CachedDataStream is not supported.")

    def name(self, name: str):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set name for CachedDataStream is not supported.")

    def get_name(self) -> str:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Get name of CachedDataStream is not supported.")

    def uid(self, uid: str):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set uid for CachedDataStream is not supported.")

    def set_uid_hash(self, uid_hash: str):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set uid hash for CachedDataStream is not supported.")

    def set_max_parallelism(self, max_parallelism: int):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set max parallelism for CachedDataStream is not supported.")

    def force_non_parallel(self):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set force non-parallel for CachedDataStream is not supported.")

    def set_buffer_timeout(self, timeout_millis: int):
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Set buffer timeout for CachedDataStream is not supported.")

    def start_new_chain(self) -> NoReturn:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Start new chain for CachedDataStream is not supported.")

    def disable_chaining(self) -> NoReturn:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Disable chaining for CachedDataStream is not supported.")

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> NoReturn:
        """Raise: a cached stream has no operator of its own."""
        raise Exception("Setting slot sharing group for CachedDataStream is not supported.")
