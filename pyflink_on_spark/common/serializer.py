"""Serializers that a user writes, for the windows of an assigner of their own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from io import BytesIO
from typing import Generic, TypeVar

from pyflink_on_spark._compat.missing_names import missing_name

T = TypeVar("T")

__all__ = ["TypeSerializer"]


class TypeSerializer(ABC, Generic[T]):
    """Writes values of one type into a stream of bytes, and reads them again."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, self.__class__) and self.__dict__ == other.__dict__

    def __ne__(self, other: object) -> bool:
        return not self.__eq__(other)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"

    def __hash__(self) -> int:
        return hash(str(self))

    @abstractmethod
    def serialize(self, element: T, stream: BytesIO) -> None:
        """Write one element at the end of the stream."""

    @abstractmethod
    def deserialize(self, stream: BytesIO) -> T:
        """Read one element from where the stream stands."""


void = b""
"""The one namespace of state that belongs to no window."""


class VoidNamespaceSerializer(TypeSerializer[bytes]):
    """Writes nothing, and reads the void namespace."""

    def serialize(self, element: bytes, stream: BytesIO) -> None:
        """Write nothing."""

    def deserialize(self, stream: BytesIO) -> bytes:
        """Return the void namespace."""
        return void


__getattr__ = missing_name(__name__)
