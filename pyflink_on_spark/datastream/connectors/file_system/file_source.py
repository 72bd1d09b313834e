"""The source that reads files."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._connectors.files.config import FileSourceConfig
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark.common import Duration
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.datastream.connectors.base import Source
from pyflink_on_spark.datastream.connectors.file_system.enumeration import (
    FileEnumeratorProvider,
    FileSplitAssignerProvider,
)
from pyflink_on_spark.datastream.connectors.file_system.formats import BulkFormat, StreamFormat


class FileSourceBuilder:
    """Configures a file source; made with ``FileSource.for_record_stream_format``.

    Args:
        j_file_source_builder: the settings to begin with.
    """

    def __init__(self, j_file_source_builder: Any) -> None:
        call = "FileSourceBuilder(j_file_source_builder)"
        self._config = own_handle(j_file_source_builder, FileSourceConfig, call)

    def monitor_continuously(self, discovery_interval: Duration) -> FileSourceBuilder:
        """Look for new files for as long as the job runs.

        Args:
            discovery_interval: the time between two searches.

        Raises:
            ValueError: the interval is not positive.
        """
        interval = discovery_interval._to_millis()
        if interval <= 0:
            raise ValueError("discoveryInterval must be > 0")
        self._config = replace(self._config, discovery_interval=interval)
        return self

    def process_static_file_set(self) -> FileSourceBuilder:
        """Read the files that exist when the job starts, then end; the default."""
        self._config = replace(self._config, discovery_interval=None)
        return self

    def set_file_enumerator(self, file_enumerator: FileEnumeratorProvider) -> FileSourceBuilder:
        """Set how files are found and split.

        On Spark: by default one subtask reads each file, as PyFlink reads text files. With
        ``default_splittable_file_enumerator`` several subtasks read a large file.
        """
        self._config = replace(self._config, enumeration=file_enumerator._enumeration)
        return self

    def set_split_assigner(self, split_assigner: FileSplitAssignerProvider) -> FileSourceBuilder:
        """Set which subtask reads which file.

        On Spark: there is one assigner, so the setting has no effect.
        """
        own_handle(split_assigner, FileSplitAssignerProvider, "set_split_assigner(split_assigner)")
        return self

    def build(self) -> FileSource:
        """Return the source."""
        return FileSource(SplitFileSource(self._config))


class FileSource(Source):
    """Reads files; made with ``for_record_stream_format(...)`` and the builder's ``build()``.

    Folders are read with all sub-folders. Names that begin with ``.`` or ``_`` are skipped.

    Args:
        j_file_source: made by the builder.

    Example::

        source = FileSource.for_record_stream_format(
            StreamFormat.text_line_format(), "/data/in"
        ).build()
        lines = env.from_source(source, WatermarkStrategy.no_watermarks(), "lines")

    On Spark: files are read in order of their paths. PyFlink's order changes from run to run. A
    path that does not exist may be a pattern of ``*``, ``?``, ``[...]`` and ``**``.
    """

    def __init__(self, j_file_source: object) -> None:
        super().__init__(source=j_file_source)

    @staticmethod
    def for_record_stream_format(stream_format: StreamFormat, *paths: str) -> FileSourceBuilder:
        """Read files record by record.

        Args:
            stream_format: how a file is read.
            paths: files and folders, as local paths or URIs.

        Raises:
            ValueError: there is no path, a path is empty, or its file system is unknown.
            ModuleNotFoundError: a package for a path's file system is missing.
        """
        return FileSourceBuilder(FileSourceConfig.of(stream_format._format, paths))

    @staticmethod
    def for_bulk_file_format(bulk_format: BulkFormat, *paths: str) -> FileSourceBuilder:
        """Read files many records at a time.

        Args:
            bulk_format: how a file is read.
            paths: files and folders, as local paths or URIs.

        Raises:
            ValueError: there is no path, a path is empty, or its file system is unknown.
            ModuleNotFoundError: a package for a path's file system is missing.
        """
        return FileSourceBuilder(FileSourceConfig.of(bulk_format._format, paths))
