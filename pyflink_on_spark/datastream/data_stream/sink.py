"""The end of a branch."""

from __future__ import annotations

import re

from pyflink_on_spark._graph.transformation import Chaining, Transformation
from pyflink_on_spark.datastream.data_stream.parallelism import checked_parallelism
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup


class DataStreamSink:
    """A sink that was added to a stream; its setters change it and return it."""

    def __init__(self, j_data_stream_sink):
        self._transformation: Transformation = j_data_stream_sink

    def name(self, name: str) -> DataStreamSink:
        """Set the name that plans and messages show."""
        self._transformation.name = name
        return self

    def uid(self, uid: str) -> DataStreamSink:
        """Set the stable name of the sink's state."""
        self._transformation.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> DataStreamSink:
        """Set the hash of the sink's state directly.

        Args:
            uid_hash: 32 hexadecimal digits.

        Raises:
            ValueError: it is something else.

        On Spark: it takes the place of the uid, and no two operators can have the same one.
        """
        self._transformation.uid_hash = checked_hash(uid_hash)
        return self

    def set_parallelism(self, parallelism: int) -> DataStreamSink:
        """Set how many subtasks write.

        Args:
            parallelism: from 1; -1 for the environment's parallelism.

        Raises:
            TypeError: it is no int.
            ValueError: it is another number.
        """
        self._transformation.parallelism = checked_parallelism(parallelism)
        return self

    def set_description(self, description: str) -> DataStreamSink:
        """Set the text that the execution plan shows."""
        self._transformation.description = description
        return self

    def disable_chaining(self) -> DataStreamSink:
        """Keep the sink out of the task before it.

        On Spark: it shows in the task's names only; what can run without an exchange still does.
        """
        self._transformation.chaining = Chaining.NEVER
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> DataStreamSink:
        """Set the slot sharing group.

        On Spark: there are no slots; it only decides which operators would be chained.
        """
        self._transformation.slot_sharing_group = group_name(slot_sharing_group)
        return self


def checked_hash(uid_hash: str) -> str:
    """Return what is the hash of an operator's state.

    Raises:
        ValueError: it is not 32 hexadecimal digits.
    """
    if not re.fullmatch("[0-9A-Fa-f]{32}", uid_hash):
        raise ValueError(
            f"Node hash must be a 32 character String that describes a hex code. Found: {uid_hash}"
        )
    return uid_hash


def group_name(group: str | SlotSharingGroup) -> str:
    """Return the name of a slot sharing group."""
    return group.get_name() if isinstance(group, SlotSharingGroup) else group
