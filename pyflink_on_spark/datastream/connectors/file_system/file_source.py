"""The source that reads files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._connectors.files import file_source as runtime
from pyflink_on_spark.common import Duration
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.connectors.file_system.enumeration import (
    FileEnumeratorProvider,
    FileSplitAssignerProvider,
)
from pyflink_on_spark.datastream.connectors.file_system.formats import BulkFormat, StreamFormat


class FileSourceBuilder:
    """Says how a file source reads; begin with ``FileSource.for_record_stream_format``.

    Args:
        j_file_source_builder: the runtime's options.
    """

    def __init__(self, j_file_source_builder: Any) -> None:
        call = "FileSourceBuilder(j_file_source_builder)"
        self._options = own_handle(j_file_source_builder, runtime.FileSourceOptions, call)

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Go on looking for new files for ever.

        Args:
            discovery_interval: the time between two looks.

        Raises:
            ValueError: the interval is not positive.
        """
        interval = discovery_interval._to_millis()
        if interval <= 0:
            raise ValueError("discoveryInterval must be > 0")
        self._options = replace(self._options, discovery_interval=interval)
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files there are when the job starts, then end; the default."""
        self._options = replace(self._options, discovery_interval=None)
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Choose how files are found and cut.

        On Spark: without a choice each file is read by one subtask, as PyFlink reads text files.
        Ask for ``default_splittable_file_enumerator`` to have several subtasks read a large one.
        """
        self._options = replace(self._options, enumeration=file_enumerator._enumeration)
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Choose which subtask reads which file.

        On Spark: there is one assigner, so the choice changes nothing.
        """
        own_handle(split_assigner, FileSplitAssignerProvider, "set_split_assigner(split_assigner)")
        return self

    def build(self) -> FileSource:
        """Return the source."""
        return FileSource(runtime.FileSource(self._options))


class FileSource(Source):
    """Reads files; made with ``for_record_stream_format(...)`` and the builder's ``build()``.

    Folders are read with all sub-folders, and names that begin with ``.`` or ``_`` are left out.

    Args:
        j_file_source: the runtime's source.

    On Spark: files are read in order of their paths. PyFlink's order changes from run to run. A
    path that does not exist may be a pattern of ``*``, ``?``, ``[...]`` and ``**``.
    """

    def __init__(self, j_file_source: Any) -> None:
        super().__init__(source=j_file_source)

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Read files record by record.

        Args:
            stream_format: how a file is read.
            paths: files and folders, as local paths or URIs.

        Raises:
            ValueError: there are no paths, one is empty, or there is no such file system.
            ModuleNotFoundError: a package for a path's file system is missing.
        """
        return FileSourceBuilder(runtime.FileSourceOptions.of(stream_format._format, paths))

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Read files many records at a time.

        Args:
            bulk_format: how a file is read.
            paths: files and folders, as local paths or URIs.

        Raises:
            ValueError: there are no paths, one is empty, or there is no such file system.
            ModuleNotFoundError: a package for a path's file system is missing.
        """
        return FileSourceBuilder(runtime.FileSourceOptions.of(bulk_format._format, paths))
