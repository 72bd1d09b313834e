"""A stream without an operator of its own, and the settings that it refuses."""

from __future__ import annotations

from typing import NoReturn

from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup


class WithoutOperator:
    """Raises where other streams set or return something of their operator."""

    _class_name: str

    def set_parallelism(self, parallelism: int) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set parallelism for")

    def name(self, name: str) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set name for")

    def get_name(self) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Get name of")

    def uid(self, uid: str) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set uid for")

    def set_uid_hash(self, uid_hash: str) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set uid hash for")

    def set_max_parallelism(self, max_parallelism: int) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set max parallelism for")

    def force_non_parallel(self) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set force non-parallel for")

    def set_buffer_timeout(self, timeout_millis: int) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Set buffer timeout for")

    def start_new_chain(self) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Start new chain for")

    def disable_chaining(self) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Disable chaining for")

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> NoReturn:
        """Raise: the stream has no operator of its own."""
        self._refuse("Setting slot sharing group for")

    def cache(self) -> NoReturn:
        """Raise: there is nothing to keep, or it is kept already."""
        self._refuse("Cache for")

    def _refuse(self, what: str) -> NoReturn:
        raise Exception(f"{what} {self._class_name} is not supported.")
