"""The contract of a format of input files with the file source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

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

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    def is_splittable(self, path: str) -> bool:
        """Whether ranges of a file can be read independently."""
        return False

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
