"""What a format of output files has to be for the file sink."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from pyflink_on_spark.common.typeinfo import ExternalTypeInfo, RowTypeInfo


class BulkWriter(ABC):
    """Writes one file."""

    @abstractmethod
    def write(self, elements: Sequence[Any]) -> None:
        """Add some elements, converted by the format."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is left; the file itself is closed by others."""

    def abandon(self) -> None:  # noqa: B027 - most writers have nothing to give up
        """Release everything; the file is thrown away."""


class BulkFormat(ABC):
    """How elements are written to a file as a whole. Picklable."""

    @abstractmethod
    def check_input(self, type_info: Any) -> None:
        """Accept the type of the stream that is to be written.

        Raises:
            TypeError: if such a stream cannot be written.
        """

    @abstractmethod
    def converter(self) -> Callable[[Any], Any]:
        """Return what is done with each element when it comes; the element may change later."""

    @abstractmethod
    def open(self, file: BinaryIO) -> BulkWriter:
        """Begin a file."""


def check_rows(type_info: Any) -> None:
    """Accept a stream of rows.

    Raises:
        TypeError: it is one of anything else.
    """
    inner = type_info._type_info if isinstance(type_info, ExternalTypeInfo) else type_info
    if not isinstance(inner, RowTypeInfo):
        raise TypeError(
            f"this file format writes rows, and the stream is of {type_info}: declare its type "
            "where it is made, for example .map(..., output_type=Types.ROW_NAMED([...], [...]))"
        )
