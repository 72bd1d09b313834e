"""Serializers of Python objects."""

from __future__ import annotations

import pickle
from typing import Any, BinaryIO

from pyflink_on_spark._compat.missing_names import missing_name

__all__ = ["PickleSerializer"]


class PickleSerializer:
    """Python's pickle."""

    def dumps(self, obj: Any) -> bytes:
        """Return an object's bytes."""
        return pickle.dumps(obj, protocol=5)

    def loads(self, obj: bytes) -> Any:
        """Return the object of some bytes."""
        return pickle.loads(obj)

    def serialize(self, iterable: Any, stream: BinaryIO) -> None:
        """Write an object to a binary file."""
        stream.write(self.dumps(iterable))

    def deserialize(self, stream: BinaryIO) -> Any:
        """Read an object from a binary file."""
        return self.loads(stream.read())

    def __repr__(self) -> str:
        return "PickleSerializer()"


__getattr__ = missing_name(__name__)
