"""The settings that every operator has, whether it emits a stream or is a sink."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Self

from pyflink_on_spark._graph.stream_graph import Chaining, Transformation
from pyflink_on_spark.datastream.data_stream.parallelism import checked_parallelism
from pyflink_on_spark.datastream.slot_sharing_group import SlotSharingGroup


class OperatorSettings(ABC):
    """Setters of one operator. Each changes the operator and returns the object it is called on."""

    @property
    @abstractmethod
    def _transformation(self) -> Transformation:
        """The operator."""

    def name(self, name: str) -> Self:
        """Set the operator's name, which plans and messages show."""
        self._transformation.name = name
        return self

    def uid(self, uid: str) -> Self:
        """Set the stable ID of the operator, by which a savepoint finds its state."""
        self._transformation.uid = uid
        return self

    def set_uid_hash(self, uid_hash: str) -> Self:
        """Set the hash of the operator's ID.

        Args:
            uid_hash: 32 hexadecimal digits.

        Raises:
            ValueError: the hash is something else.

        On Spark: the hash takes the place of the uid, and no two operators can have the same one.
        """
        if not re.fullmatch("[0-9A-Fa-f]{32}", uid_hash):
            raise ValueError(
                "Node hash must be a 32 character String that describes a hex code. "
                f"Found: {uid_hash}"
            )
        self._transformation.uid_hash = uid_hash
        return self

    def set_parallelism(self, parallelism: int) -> Self:
        """Set how many subtasks the operator has.

        Args:
            parallelism: at least 1, or ``ExecutionConfig.PARALLELISM_DEFAULT`` (-1) for the job's
                default.

        Raises:
            TypeError: the parallelism is not an int.
            ValueError: the parallelism is another number, or is not 1 where the operator can have
                only one subtask.
        """
        self._transformation.parallelism = checked_parallelism(
            parallelism, self._transformation.parallel
        )
        return self

    def set_description(self, description: str) -> Self:
        """Set the text that the execution plan shows for the operator."""
        self._transformation.description = description
        return self

    def disable_chaining(self) -> Self:
        """Let the operator be a task of its own.

        On Spark: only the names of tasks change; operators that need no exchange still run
        together.
        """
        self._transformation.chaining = Chaining.NEVER
        return self

    def slot_sharing_group(self, slot_sharing_group: str | SlotSharingGroup) -> Self:
        """Set the operator's slot sharing group.

        On Spark: the group only decides which operators are chained; a slot holds all groups.
        """
        group = slot_sharing_group
        name = group.get_name() if isinstance(group, SlotSharingGroup) else group
        self._transformation.slot_sharing_group = name
        return self
