"""The source that reads files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.enumeration import Enumeration, find_files, split_files
from pyflink_on_spark._connectors.files.flink_splits import positions_of_files
from pyflink_on_spark._connectors.files.reader import FileEnumerator, MonitoringReader
from pyflink_on_spark._connectors.formats.file_format import FileSplit
from pyflink_on_spark._filesystem.file_system import is_pattern
from pyflink_on_spark._filesystem.location import Location, locate
from pyflink_on_spark._runtime.contract.connector import (
    AskingReader,
    OwnPositions,
    Source,
    SourceReader,
)

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.connector import FlinkSplits
    from pyflink_on_spark._runtime.contract.context import OperatorContext
    from pyflink_on_spark._runtime.elements.bundle import Bundle
    from pyflink_on_spark.common.typeinfo import TypeInformation


class SplitFileSource(Source):
    """Reads all files under some paths.

    A split is a range of a file. A position in a split is what the file format says.

    Args:
        config: the settings of the source.
        configuration: the configuration of the job, which may say how to reach file systems.
    """

    def __init__(
        self, config: FileSourceConfig, configuration: Mapping[str, str] | None = None
    ) -> None:
        self.config = config
        self._places = tuple(locate(path, configuration or {}) for path in config.paths)
        self.bounded = config.discovery_interval is None
        self.asked = not self.bounded

    @property
    def produced_type(self) -> TypeInformation:
        """The type of the records."""
        return self.config.file_format.produced_type

    def with_configuration(self, configuration: Mapping[str, str]) -> SplitFileSource:
        return SplitFileSource(self.config, configuration)

    def splits(self, parallelism: int) -> list[FileSplit]:
        if not self.bounded:
            self._check_paths()
            return []  # readers ask the enumerator for them
        files = [file for file in find_files(self._places) if self.config.selects(file.path)]
        if self.config.enumeration is Enumeration.WHOLE_FILES:
            return [FileSplit(file.path) for file in files]
        is_splittable = self.config.file_format.is_splittable
        splittable = frozenset(file.path for file in files if is_splittable(file.path))
        return split_files(files, parallelism, splittable)

    def read(self, split: FileSplit, context: OperatorContext) -> Iterator[Bundle]:
        place = self._place(split.path)
        with _explaining_removal(split, place):
            yield from self.config.file_format.read(_with_input_path(place, split))

    def resume(
        self, split: FileSplit, position: Any, context: OperatorContext
    ) -> Iterator[tuple[Bundle | None, Any]]:
        place = self._place(split.path)
        with _explaining_removal(split, place):
            found = self.config.file_format.resume(_with_input_path(place, split), position)
            yield from super().resume(split, position, context) if found is None else found

    def reader(
        self, splits: Sequence[FileSplit], restored: Sequence[Any] | None, context: OperatorContext
    ) -> SourceReader:
        if self.asked and context.asks:
            return AskingReader(self, context)
        if self.asked:
            return MonitoringReader(self, restored, context)
        if restored is not None:
            kind = OwnPositions if isinstance(restored, OwnPositions) else list
            restored = kind(sorted(restored, key=self._place_in_order))
        return super().reader(splits, restored, context)

    def enumerator(
        self, restored: Sequence[Any] | None, owns: Callable[[str], bool] | None = None
    ) -> FileEnumerator:
        """Return the enumerator of the files.

        Args:
            restored: the snapshots of the enumerator and of all readers, or None.
            owns: tells by its path whether a file is handed out; None for all.
        """
        interval = self.config.discovery_interval
        assert interval is not None
        return FileEnumerator(self._places, interval, restored or (), self.config.selects, owns)

    def positions_of_flink(self, found: FlinkSplits) -> list[Any]:
        return positions_of_files(found, monitoring=not self.bounded)

    def _place_in_order(self, unread: tuple[FileSplit, Any, int]) -> tuple[int, str, int]:
        """Return what sorts the splits of all subtasks as they were found."""
        split, _, _ = unread
        places = range(len(self._places))
        place = next((index for index in places if self._places[index].has(split.path)), -1)
        return place, split.path, split.start

    def _check_paths(self) -> None:
        for place in self._places:
            if not is_pattern(place.path):
                next(place.files.visible_files(place.path), None)

    def _place(self, path: str) -> Location:
        """Return the location of a file. A file of a checkpoint may be under a former path."""
        found = next((place for place in self._places if place.has(path)), None)
        return found or locate(path)


def _with_input_path(place: Location, split: FileSplit) -> FileSplit:
    """Return a split with the path that a format opens."""
    path = place.files.input_path(split.path)
    return split if path is split.path else replace(split, path=path)


@contextlib.contextmanager
def _explaining_removal(split: FileSplit, place: Location) -> Iterator[None]:
    """Explain the error for a file that was removed after the files were listed."""
    try:
        yield
    except FileNotFoundError as error:
        if place.files.exists(split.path):
            raise
        raise FileNotFoundError(
            f"{split.path} was there when the files to read were listed, and is gone now: put it "
            "back, or begin without a checkpoint"
        ) from error
