"""The contracts of file formats: how files are read, and how they are written."""

from __future__ import annotations

import contextlib
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from pyflink_on_spark._compat.errors import PUBLIC_MODULE, PyFlinkOnSparkError
from pyflink_on_spark.common.typeinfo import ExternalTypeInfo, RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.elements.bundle import Bundle
    from pyflink_on_spark.common.typeinfo import TypeInformation


@dataclass(frozen=True, slots=True)
class FileSplit:
    """The part of a file that one subtask reads.

    Args:
        path: a local path or a URI.
        start: records that begin at this offset or after it belong to the split; in bytes.
        end: records that begin before this offset belong to the split; None: all.
    """

    path: str
    start: int = 0
    end: int | None = None


class InputFileFormat(ABC):
    """Reads the records of files. Picklable.

    A format of files with one byte for each record::

        class Bytes(InputFileFormat):
            @property
            def produced_type(self):
                return Types.INT()

            def read(self, split):
                with open(split.path, "rb") as file:
                    while values := list(file.read(BUNDLE_SIZE)):
                        yield Bundle(values)
    """

    most: int = sys.maxsize
    """How many bytes a compressed part of a file may have after decompression."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    def is_splittable(self, path: str) -> bool:
        """True if ranges of the file can be read independently."""
        return False

    def with_most(self, most: int) -> InputFileFormat:
        """The same format, where a line or what is decompressed at once may have so many bytes."""
        limited = copy(self)
        limited.most = most
        return limited

    @abstractmethod
    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the records that begin in a split, in order."""

    def resume(self, split: FileSplit, position: Any) -> Iterator[tuple[Bundle, Any]] | None:
        """Yield the records of a split from a position on.

        Args:
            split: the split.
            position: a position that this method has yielded for the split; None for the beginning.

        Returns:
            An iterator of bundles, each with the position after its last record. None if the format
            cannot skip records without reading them.
        """
        return None


class OutputFileWriter(ABC):
    """Writes one file."""

    @abstractmethod
    def write(self, elements: Sequence[Any]) -> None:
        """Add elements that the format has converted."""

    @abstractmethod
    def finish(self) -> None:
        """Write the buffered elements; the caller closes the file."""

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


_SHOWN = 200


class CorruptRecordError(PyFlinkOnSparkError, ValueError):
    """Data does not conform to its format. The message says where the data is and what is wrong."""

    __module__ = PUBLIC_MODULE


@contextmanager
def locating(place: Callable[[], str]) -> Iterator[None]:
    """Add the place of a message to errors of its deserializer.

    Args:
        place: returns the place, for example ``partition 3 of topic 'a', offset 17``. Called only
            after an error.

    Raises:
        CorruptRecordError: instead of any ValueError.
    """
    try:
        yield
    except ValueError as error:
        raise CorruptRecordError(f"cannot read {place()}: {error}") from error


def excerpt(data: bytes) -> str:
    """Return the beginning of a message, for the text of an error."""
    text = repr(data[:_SHOWN])[1:]
    return text if len(data) <= _SHOWN else f"{text}... ({len(data)} bytes)"


def null_if_corrupt(convert: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a converter whose value is None where the other one raises a ValueError."""

    def convert_or_null(value: Any) -> Any:
        try:
            return convert(value)
        except ValueError:
            return None

    return convert_or_null
