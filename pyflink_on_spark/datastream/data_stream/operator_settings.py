"""The settings of an operator, and of streams that have none."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import NoReturn, Self

from pyflink_on_spark._graph.stream_graph import Chaining, Transformation
from pyflink_on_spark.common import ExecutionConfig
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


_LARGEST = 32768


def checked_parallelism(parallelism: int, parallel: bool = True) -> int | None:
    """Return an operator's parallelism; None for the environment's.

    Args:
        parallelism: from 1, or ``ExecutionConfig.PARALLELISM_DEFAULT`` for the environment's.
        parallel: whether the operator can have more than one subtask.

    Raises:
        TypeError: it is no int.
        ValueError: it is another number, or more than 1 where there can be only one subtask.
    """
    default = _int(parallelism, "parallelism") == ExecutionConfig.PARALLELISM_DEFAULT
    if parallelism < 1 and not default:
        raise ValueError(
            "The parallelism of an operator must be at least 1, or "
            f"ExecutionConfig.PARALLELISM_DEFAULT (the environment's), not {parallelism}."
        )
    if parallelism != 1 and not parallel:
        raise ValueError("The parallelism of non parallel operator must be 1.")
    return None if default else parallelism


def checked_max_parallelism(max_parallelism: int) -> int:
    """Return an operator's number of key groups.

    Raises:
        TypeError: it is no int.
        ValueError: it is not from 1 to 32768.
    """
    if not 0 < _int(max_parallelism, "maximum parallelism") <= _LARGEST:
        raise ValueError(
            f"The maximum parallelism must be from 1 to {_LARGEST}, not {max_parallelism}."
        )
    return max_parallelism


def _int(value: int, what: str) -> int:
    if type(value) is not int:
        raise TypeError(f"The {what} must be an int, not {value!r}.")
    return value


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
