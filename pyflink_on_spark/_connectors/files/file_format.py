"""What a format of input files has to be for the file source."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.bundle import Bundle
    from pyflink_on_spark._connectors.files.enumeration import FileSplit
    from pyflink_on_spark.common.typeinfo import TypeInformation


class FileFormat(ABC):
    """How the records of a file are read. Picklable."""

    @property
    @abstractmethod
    def produced_type(self) -> TypeInformation:
        """The type of the records."""

    @abstractmethod
    def is_splittable(self, path: str) -> bool:
        """Whether ranges of the file can be read independently of each other."""

    @abstractmethod
    def read(self, split: FileSplit) -> Iterator[Bundle]:
        """Yield the records that begin in a split, in order."""

    def resume(self, split: FileSplit, position: Any) -> Iterator[tuple[Bundle, Any]] | None:
        """Yield the records of a split behind a position, each bundle with the position behind it.

        Args:
            split: what to read.
            position: None for the beginning.

        Returns:
            None if it cannot be done without reading what lies before the position.
        """
        return None
