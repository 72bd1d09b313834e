"""Compacts the part files of a checkpoint into files of about a size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import BinaryIO

from pyflink_on_spark._connectors.files.compaction import CompactionStrategy, Compactor
from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._connectors.formats.input_format import FileSplit, InputFileFormat
from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat
from pyflink_on_spark._filesystem.file_system import FileSystem
from pyflink_on_spark._filesystem.local_files import LOCAL

_OPEN_BINS = 10


@dataclass(frozen=True)
class Packing(CompactionStrategy):
    """Puts each file into the first group of its bucket that has space for it.

    Groups have files of one checkpoint only, and no file waits for a later checkpoint.
    ``size_threshold`` is the size that a group may have, in bytes.
    """

    def groups(
        self, files: Iterable[PendingFile]
    ) -> tuple[list[list[PendingFile]], list[list[PendingFile]]]:
        by_bucket: dict[str, list[PendingFile]] = {}
        for file in files:
            by_bucket.setdefault(file.bucket, []).append(file)
        return [group for found in by_bucket.values() for group in self._packed(found)], []

    def _packed(self, files: list[PendingFile]) -> list[list[PendingFile]]:
        groups: list[list[PendingFile]] = []
        spaces: list[int] = []
        for file in files:
            for index in range(max(len(groups) - _OPEN_BINS, 0), len(groups)):
                if file.size <= spaces[index]:
                    groups[index].append(file)
                    spaces[index] -= file.size
                    break
            else:
                groups.append([file])
                spaces.append(self.size_threshold - file.size)
        return groups


@dataclass(frozen=True)
class Rewriting(Compactor):
    """Reads the records of files, and writes them to one file of the same format.

    Args:
        records: reads them.
        form: writes them.
    """

    records: InputFileFormat
    form: OutputFileFormat

    def compact(self, paths: list[str], output: BinaryIO, files: FileSystem = LOCAL) -> None:
        writer = self.form.open(output)
        try:
            convert = self.form.converter()
            for path in paths:
                for bundle in self.records.read(FileSplit(files.input_path(path))):
                    writer.write([convert(value) for value in bundle.values])
            writer.finish()
        except BaseException:
            writer.abandon()
            raise
