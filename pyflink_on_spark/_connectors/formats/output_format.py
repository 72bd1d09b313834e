"""The contract of a format of output files with the file sink."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

from pyflink_on_spark.common.typeinfo import ExternalTypeInfo, RowTypeInfo


class OutputFileWriter(ABC):
    """Writes one file."""

    @abstractmethod
    def write(self, elements: Sequence[Any]) -> None:
        """Add elements that the format has converted."""

    @abstractmethod
    def finish(self) -> None:
        """Write what is buffered; the caller closes the file."""

    def abandon(self) -> None:  # noqa: B027 - most writers hold nothing
        """Release all resources; the caller removes the file."""


class ArrowFileWriter(OutputFileWriter):
    """Writes one file with a writer of Arrow."""

    _writer: Any

    def abandon(self) -> None:
        with contextlib.suppress(Exception):
            self._writer.close()


class OutputFileFormat(ABC):
    """Writes elements to files. Picklable."""

    @abstractmethod
    def check_input(self, type_info: Any) -> None:
        """Check the type of the stream.

        Raises:
            TypeError: the format cannot write such a stream.
        """

    @abstractmethod
    def converter(self) -> Callable[[Any], Any]:
        """Return a function that converts an element when it arrives.

        The result must not share mutable parts with the element, which may change later.
        """

    @abstractmethod
    def open(self, file: BinaryIO) -> OutputFileWriter:
        """Begin a file."""


def check_rows(type_info: Any) -> None:
    """Check that a stream consists of rows.

    Raises:
        TypeError: the stream has another type.
    """
    inner = type_info._type_info if isinstance(type_info, ExternalTypeInfo) else type_info
    if not isinstance(inner, RowTypeInfo):
        raise TypeError(
            f"this file format writes rows, and the stream is of {type_info}: declare its type "
            "where it is made, for example .map(..., output_type=Types.ROW_NAMED([...], [...]))"
        )
