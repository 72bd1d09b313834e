"""The source that reads files."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._runtime.connector import Source, SourceReader
from pyflink_on_spark._connectors.files.enumeration import (
    Enumeration,
    FileSplit,
    cut_files,
    find_files,
)
from pyflink_on_spark._connectors.files.monitoring import MonitoringReader
from pyflink_on_spark._filesystem.file_system import is_pattern
from pyflink_on_spark._filesystem.location import Location, absolute, locate

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.bundle import Bundle
    from pyflink_on_spark._connectors.files.file_format import FileFormat
    from pyflink_on_spark._runtime.operators.context import OperatorContext
    from pyflink_on_spark.common.typeinfo import TypeInformation


@dataclass(frozen=True)
class FileSourceOptions:
    """What a file source reads.

    Args:
        file_format: how a file is read.
        paths: of files and folders, absolute ones or URIs.
        enumeration: whether large files are cut; Flink never cuts text files.
        discovery_interval: how often to look for new files, in ms; None to read those there are.
    """

    file_format: FileFormat
    paths: tuple[str, ...] = field(repr=False)  # a URI may have a password
    enumeration: Enumeration = Enumeration.WHOLE_FILES
    discovery_interval: int | None = None

    @classmethod
    def of(cls, file_format: FileFormat, paths: Sequence[str]) -> FileSourceOptions:
        """Return the options for some local paths or URIs.

        Raises:
            ValueError: if there are no paths, or one is not valid.
            ModuleNotFoundError: if a package for a path's file system is missing.
        """
        if not paths:
            raise ValueError("paths must not be empty")
        return cls(file_format, tuple(map(absolute, paths)))


class FileSource(Source):
    """Reads all files under some paths; see FileSourceOptions.

    Args:
        options: what to read.
        configuration: the job's; says how file systems are reached.
    """

    def __init__(
        self, options: FileSourceOptions, configuration: Mapping[str, str] | None = None
    ) -> None:
        self.options = options
        self._places = tuple(locate(path, configuration or {}) for path in options.paths)
        self.bounded = options.discovery_interval is None

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        return self.options.file_format.produced_type

    def with_configuration(self, configuration: Mapping[str, str]) -> FileSource:
        """Return this source for a job, whose configuration says how file systems are reached."""
        return FileSource(self.options, configuration)

    def splits(self, parallelism: int) -> list[FileSplit]:
        if not self.bounded:
            self._check_paths()
            return []  # subtasks find their files themselves
        files = find_files(self._places)
        if self.options.enumeration is Enumeration.WHOLE_FILES:
            return [FileSplit(file.path) for file in files]
        is_splittable = self.options.file_format.is_splittable
        splittable = frozenset(file.path for file in files if is_splittable(file.path))
        return cut_files(files, parallelism, splittable)

    def read(self, split: FileSplit, context: OperatorContext) -> Iterator[Bundle]:
        place = self._place(split.path)
        with _explaining(split, place):
            yield from self.options.file_format.read(_on(place, split))

    def resume(
        self, split: FileSplit, position: Any, context: OperatorContext
    ) -> Iterator[tuple[Bundle | None, Any]]:
        place = self._place(split.path)
        with _explaining(split, place):
            found = self.options.file_format.resume(_on(place, split), position)
            yield from super().resume(split, position, context) if found is None else found

    def reader(
        self, splits: Sequence[FileSplit], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        interval = self.options.discovery_interval
        if interval is None:
            return super().reader(splits, restored, context)
        return MonitoringReader(self, self._places, interval, restored, context)

    def _check_paths(self) -> None:
        for place in self._places:
            if not is_pattern(place.path):
                next(place.files.visible_files(place.path), None)

    def _place(self, path: str) -> Location:
        """Return where a file is; one of a checkpoint may be where nothing is read now."""
        found = next((place for place in self._places if place.has(path)), None)
        return found or locate(path)


def _on(place: Location, split: FileSplit) -> FileSplit:
    """Return what a format reads of a split."""
    path = place.files.input_path(split.path)
    return split if path is split.path else replace(split, path=path)


@contextlib.contextmanager
def _explaining(split: FileSplit, place: Location) -> Iterator[None]:
    """Say of a file that is gone that it was there."""
    try:
        yield
    except FileNotFoundError as error:
        if place.files.exists(split.path):
            raise
        raise FileNotFoundError(
            f"{split.path} was there when the files to read were listed, and is gone now: put it "
            "back, or begin without a checkpoint"
        ) from error
