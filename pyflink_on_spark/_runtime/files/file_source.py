"""The source that reads files."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._runtime.files.enumeration import (
    Enumeration,
    FileSplit,
    cut_files,
    find_files,
)
from pyflink_on_spark._runtime.files.monitoring import MonitoringReader
from pyflink_on_spark._runtime.files.paths import local_path

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.bundle import Bundle
    from pyflink_on_spark._runtime.context import OperatorContext
    from pyflink_on_spark._runtime.files.file_format import FileFormat
    from pyflink_on_spark.common.typeinfo import TypeInformation


@dataclass(frozen=True)
class FileSourceOptions:
    """What a file source reads.

    Args:
        file_format: how a file is read.
        paths: absolute paths of files and folders.
        enumeration: whether large files are cut; Flink never cuts text files.
        discovery_interval: how often to look for new files, in ms; None to read those there are.
    """

    file_format: FileFormat
    paths: tuple[str, ...]
    enumeration: Enumeration = Enumeration.WHOLE_FILES
    discovery_interval: int | None = None

    @classmethod
    def of(cls, file_format: FileFormat, paths: Sequence[str]) -> FileSourceOptions:
        """Return the options for some local paths or ``file:`` URIs.

        Raises:
            ValueError: if there are no paths, or one is not valid.
            UnsupportedFlinkFeature: if a path is on another file system.
        """
        if not paths:
            raise ValueError("paths must not be empty")
        return cls(file_format, tuple(map(local_path, paths)))


class FileSource(Source):
    """Reads all files under some paths; see FileSourceOptions."""

    def __init__(self, options: FileSourceOptions) -> None:
        self.options = options
        self.bounded = options.discovery_interval is None

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        return self.options.file_format.produced_type

    def splits(self, parallelism: int) -> list[FileSplit]:
        files = find_files(self.options.paths)
        if not self.bounded:
            return []  # subtasks find their files themselves
        if self.options.enumeration is Enumeration.WHOLE_FILES:
            return [FileSplit(file.path) for file in files]
        is_splittable = self.options.file_format.is_splittable
        splittable = frozenset(file.path for file in files if is_splittable(file.path))
        return cut_files(files, parallelism, splittable)

    def read(self, split: FileSplit, context: OperatorContext) -> Iterator[Bundle]:
        with _explaining(split):
            yield from self.options.file_format.read(split)

    def resume(
        self, split: FileSplit, position: Any, context: OperatorContext
    ) -> Iterator[tuple[Bundle | None, Any]]:
        with _explaining(split):
            found = self.options.file_format.resume(split, position)
            yield from super().resume(split, position, context) if found is None else found

    def reader(
        self, splits: Sequence[FileSplit], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        interval = self.options.discovery_interval
        if interval is None:
            return super().reader(splits, restored, context)
        return MonitoringReader(self, self.options.paths, interval, restored, context)


@contextlib.contextmanager
def _explaining(split: FileSplit) -> Iterator[None]:
    """Say of a file that is gone that it was there."""
    try:
        yield
    except FileNotFoundError as error:
        if os.path.exists(split.path):
            raise
        raise FileNotFoundError(
            f"{split.path} was there when the files to read were listed, and is gone now: put it "
            "back, or begin without a checkpoint"
        ) from error
