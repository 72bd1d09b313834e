"""Files as sources and sinks."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.files import bucket_naming as bucket
from pyflink_on_spark._connectors.files import config
from pyflink_on_spark._connectors.files import config as rolling
from pyflink_on_spark._connectors.files.config import (
    ON_CHECKPOINT,
    Compaction,
    Enumeration,
    FileSinkConfig,
    FileSourceConfig,
    PartAffixes,
    SplitAssignment,
)
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._connectors.files.source import SplitFileSource
from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, TextLines
from pyflink_on_spark._filesystem.location import absolute
from pyflink_on_spark.common import Duration, Encoder
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.common.utils import JavaObjectWrapper
from pyflink_on_spark.datastream.connectors.base import (
    Sink,
    Source,
    StreamTransformer,
    SupportsPreprocessing,
)
from pyflink_on_spark.datastream.functions import SinkFunction

__all__ = [
    "FileCompactor",
    "FileCompactStrategy",
    "OutputFileConfig",
    "FileSource",
    "FileSourceBuilder",
    "FileSink",
    "StreamingFileSink",
    "StreamFormat",
    "BulkFormat",
    "FileEnumeratorProvider",
    "FileSplitAssignerProvider",
    "RollingPolicy",
    "BucketAssigner",
]


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


class StreamFormat:
    """A format that is read record by record.

    Args:
        j_stream_format: made by the static method of this class.
    """

    def __init__(self, j_stream_format: object) -> None:
        call = "StreamFormat(j_stream_format)"
        self._format = own_handle(j_stream_format, InputFileFormat, call)  # type: ignore[type-abstract]

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        r"""Read text, a line for each record, without the line ends ``\n``, ``\r\n`` and ``\r``.

        Files with the suffix .gz, .gzip, .bz2, .xz or .deflate are decompressed.

        Args:
            charset_name: the character set of the files; malformed bytes become U+FFFD.

        Raises:
            ValueError: there is no such character set.

        On Spark: .zst is decompressed, too. An unknown character set is refused immediately.
        """
        return StreamFormat(TextLines(charset_name))


class BulkFormat:
    """A format that is read many records at a time, such as Parquet.

    Args:
        j_bulk_format: made by a format, such as ``ParquetColumnarRowInputFormat``.
    """

    def __init__(self, j_bulk_format: object) -> None:
        call = "BulkFormat(j_bulk_format)"
        self._format = own_handle(j_bulk_format, InputFileFormat, call)  # type: ignore[type-abstract]


class FileEnumeratorProvider:
    """The search for files, and their division into splits.

    Args:
        j_file_enumerator_provider: made by the static methods of this class.
    """

    def __init__(self, j_file_enumerator_provider: object) -> None:
        call = "FileEnumeratorProvider(j_file_enumerator_provider)"
        self._enumeration = own_handle(j_file_enumerator_provider, Enumeration, call)

    @staticmethod
    def default_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Read all files but hidden ones, and split large ones between subtasks.

        On Spark: text files are split, too. In PyFlink their format does not allow it.
        """
        return FileEnumeratorProvider(Enumeration.SPLIT_LARGE_FILES)

    @staticmethod
    def default_non_splittable_file_enumerator() -> FileEnumeratorProvider:
        """Read all files but hidden ones, each file in one subtask."""
        return FileEnumeratorProvider(Enumeration.WHOLE_FILES)


class FileSplitAssignerProvider:
    """The assignment of files to subtasks.

    Args:
        j_file_split_assigner: made by the static method of this class.
    """

    def __init__(self, j_file_split_assigner: object) -> None:
        call = "FileSplitAssignerProvider(j_file_split_assigner)"
        self._assignment = own_handle(j_file_split_assigner, SplitAssignment, call)

    @staticmethod
    def locality_aware_split_assigner() -> FileSplitAssignerProvider:
        """Prefer files that are stored near the subtask.

        On Spark: the subtasks get the files in turn, in order of their names, so that a job reads
        them in the same order each time.
        """
        return FileSplitAssignerProvider(SplitAssignment.LOCALITY_AWARE)


class PartFileBuilder:
    """Configures a sink that writes part files.

    Args:
        j_builder: the settings to begin with.
    """

    def __init__(self, j_builder: Any) -> None:
        call = f"{type(self).__qualname__}(j_builder)"
        self._config = own_handle(j_builder, FileSinkConfig, call)

    def with_bucket_check_interval(self, interval: int) -> Self:
        """Set how often the sink checks the age of part files, in ms; by default 60,000.

        On Spark: the sink checks the age when elements are written.
        """
        if not isinstance(interval, int):
            raise TypeError(f"interval must be an int, in ms, not {interval!r}")
        return self._with(bucket_check_interval=interval)

    def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> Self:
        """Set which bucket an element is written to; by default a bucket for each hour."""
        call = "with_bucket_assigner(bucket_assigner)"
        given = own_handle(bucket_assigner, BucketAssigner, call)
        return self._with(buckets=given.get_java_object())

    def with_output_file_config(self, output_file_config: OutputFileConfig) -> Self:
        """Set the prefix and suffix of the names of part files."""
        call = "with_output_file_config(output_file_config)"
        given = own_handle(output_file_config, OutputFileConfig, call)
        return self._with(affixes=given.get_java_object())

    def _with_rolling_policy(self, policy: RollingPolicy) -> Self:
        given = own_handle(policy, RollingPolicy, "with_rolling_policy(rolling_policy)")
        return self._with(rolling=given.get_java_object())

    def _with(self, **changes: Any) -> Self:
        self._config = replace(self._config, **changes)
        return self


def row_format_config(base_path: str, encoder: Encoder, **more: Any) -> FileSinkConfig:
    """Return the settings of a sink that writes text."""
    return FileSinkConfig(absolute(base_path), encoder._charset_name, **more)


def bulk_format_config(
    base_path: str, writer_factory: BulkWriterFactory, **more: Any
) -> FileSinkConfig:
    """Return the settings of a sink that writes a bulk format."""
    call = "for_bulk_format(base_path, writer_factory)"
    factory = own_handle(writer_factory, BulkWriterFactory, call)
    bulk: Any = factory.get_java_object()
    return FileSinkConfig(absolute(base_path), rolling=ON_CHECKPOINT, bulk=bulk, **more)


class FileSink(Sink, SupportsPreprocessing):
    """Writes elements to part files in buckets; made with ``for_row_format(...)`` and ``build()``.

    A part file is called ``<prefix>-<random id>-<counter><suffix>``, and is in the folder of its
    bucket. It is hidden until it is complete and committed.

    Args:
        j_file_sink: made by the builder.
        transformer: the transformation before the sink.

    Example::

        sink = (
            FileSink.for_row_format("/data/out", Encoder.simple_string_encoder())
            .with_bucket_assigner(BucketAssigner.base_path_bucket_assigner())
            .with_output_file_config(OutputFileConfig.builder().with_part_suffix(".txt").build())
            .build()
        )
        lines.sink_to(sink)

    On Spark: anywhere but on local paths each checkpoint finishes the part files, also those of
    text, whatever the rolling policy says.
    """

    def __init__(self, j_file_sink: object, transformer: StreamTransformer | None = None) -> None:
        super().__init__(sink=j_file_sink)
        self._transformer = transformer

    def get_transformer(self) -> StreamTransformer | None:
        """Return the transformation before the sink, or None."""
        return self._transformer

    class BaseBuilder(PartFileBuilder):
        """Configures a file sink.

        Args:
            j_builder: the settings to begin with.
        """

        def enable_compact(
            self, strategy: FileCompactStrategy, compactor: FileCompactor
        ) -> FileSink.BaseBuilder:
            """Compact part files into fewer, larger ones before they become visible.

            On Spark: the driver compacts when it commits.
            """
            call = "enable_compact(strategy, compactor)"
            return self._with(
                compaction=Compaction(
                    own_handle(strategy, FileCompactStrategy, call).get_java_object(),
                    own_handle(compactor, FileCompactor, call).get_java_object(),
                )
            )

        def disable_compact(self) -> FileSink.BaseBuilder:
            """Do not compact part files; the default."""
            return self._with(compaction=None)

        @abstractmethod
        def with_rolling_policy(self, rolling_policy: Any) -> FileSink.BaseBuilder:
            """Set when a part file is finished."""

        def build(self) -> FileSink:
            """Return the sink.

            Raises:
                ValueError: there is no such character set.
            """
            return FileSink(PartFileSink(self._config))

    class RowFormatBuilder(BaseBuilder):
        """Configures a file sink that writes text.

        Args:
            j_row_format_builder: the settings to begin with.
        """

        def __init__(self, j_row_format_builder: Any) -> None:
            super().__init__(j_row_format_builder)

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> FileSink.RowFormatBuilder:
            """Set when a part file is finished; by default at 128 MB or after a minute."""
            return self._with_rolling_policy(rolling_policy)

    class BulkFormatBuilder(BaseBuilder):
        """Configures a file sink that writes a bulk format.

        Args:
            j_bulk_format_builder: the settings to begin with.
        """

        def __init__(self, j_bulk_format_builder: Any) -> None:
            super().__init__(j_bulk_format_builder)

        def with_rolling_policy(
            self, rolling_policy: OnCheckpointRollingPolicy
        ) -> FileSink.BulkFormatBuilder:
            """Set that part files are finished at checkpoints, the only policy of bulk formats.

            Raises:
                ValueError: the policy is another one.
            """
            if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
                raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
            return self._with_rolling_policy(rolling_policy)

        def build(self) -> FileSink:
            """Return the sink."""
            return super().build()

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Write text, a line for each element.

        Args:
            base_path: the folder of the buckets, as a local path or a URI.
            encoder: how an element is written.

        Raises:
            ValueError: the path is empty, or its file system is read-only.
            ModuleNotFoundError: a package for the path's file system is missing.
        """
        return FileSink.RowFormatBuilder(row_format_config(base_path, encoder))

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> FileSink.BulkFormatBuilder:
        """Write a bulk format: Parquet, Avro, ORC or CSV.

        Args:
            base_path: the folder of the buckets, as a local path or a URI.
            writer_factory: how elements are written, such as ``ParquetBulkWriters.for_row_type``.

        Raises:
            ValueError: the path is empty, or its file system is read-only.
            ModuleNotFoundError: a package for the path's file system is missing.
        """
        return FileSink.BulkFormatBuilder(bulk_format_config(base_path, writer_factory))


class BucketAssigner(JavaObjectWrapper):
    """Assigns an element to a bucket, which is a folder under the base path.

    Args:
        j_bucket_assigner: made by the static methods of this class.
    """

    def __init__(self, j_bucket_assigner: Any) -> None:
        call = "BucketAssigner(j_bucket_assigner)"
        own = own_handle(j_bucket_assigner, bucket.BucketNaming, call)  # type: ignore[type-abstract]
        super().__init__(own)

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Write all elements to the base path."""
        return BucketAssigner(bucket.BasePathBuckets())

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH",
        timezone_id: str | None = None,
    ) -> BucketAssigner:
        """Write to a folder whose name is the current time.

        Args:
            format_str: a pattern of Java's ``DateTimeFormatter``; a slash makes sub-folders.
            timezone_id: such as ``America/New_York`` or ``GMT-08:00``; None for the machine's own.

        Raises:
            ValueError: the pattern or the time zone is not valid in Java.
            UnsupportedFlinkFeature: the pattern has one of Java's rarer letters.

        On Spark: the pattern is checked at once. Names of months and days are English.
        """
        zone_id = timezone_id if isinstance(timezone_id, str) else None
        return BucketAssigner(bucket.DateTimeBuckets(format_str, zone_id))


class OutputFileConfig(JavaObjectWrapper):
    """The prefix and suffix of the names of part files.

    Args:
        part_prefix: the prefix.
        part_suffix: the suffix, such as ``.txt``.

    Raises:
        TypeError: one of them is not a str.
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        super().__init__(PartAffixes(part_prefix, part_suffix))

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder with the prefix ``part`` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return the prefix."""
        return str(self._j_object.prefix)

    def get_part_suffix(self) -> str:
        """Return the suffix."""
        return str(self._j_object.suffix)

    class OutputFileConfigBuilder:
        """Configures the names of part files."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the prefix."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the suffix."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the configuration."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)


class RollingPolicy(JavaObjectWrapper):
    """The rule that finishes a part file and begins the next one.

    Args:
        j_rolling_policy: made by the static methods of this class.
    """

    def __init__(self, j_rolling_policy: object) -> None:
        call = f"{type(self).__name__}(j_rolling_policy)"
        super().__init__(own_handle(j_rolling_policy, rolling.RollingLimits, call))

    @staticmethod
    def default_rolling_policy(
        part_size: int = 1024 * 1024 * 128,
        rollover_interval: int = 60 * 1000,
        inactivity_interval: int = 60 * 1000,
    ) -> DefaultRollingPolicy:
        """Finish a part file by its size or age.

        Args:
            part_size: in bytes; a larger part file gets no further element.
            rollover_interval: in ms, since the creation of the part file.
            inactivity_interval: in ms, since the last write to the part file.

        Raises:
            TypeError: a limit is not an int.
            ValueError: a limit is not positive.
        """
        return DefaultRollingPolicy(
            rolling.RollingLimits(part_size, rollover_interval, inactivity_interval)
        )

    @staticmethod
    def on_checkpoint_rolling_policy() -> OnCheckpointRollingPolicy:
        """Finish a part file only at checkpoints and at the end of the job."""
        return OnCheckpointRollingPolicy(rolling.ON_CHECKPOINT)


class DefaultRollingPolicy(RollingPolicy):
    """Finishes a part file by its size or age.

    Args:
        j_rolling_policy: made by ``RollingPolicy``.
    """

    def __init__(self, j_rolling_policy: object) -> None:
        super().__init__(j_rolling_policy)


class OnCheckpointRollingPolicy(RollingPolicy):
    """Finishes a part file at checkpoints only.

    Args:
        j_rolling_policy: made by ``RollingPolicy``.
    """

    def __init__(self, j_rolling_policy: object) -> None:
        super().__init__(j_rolling_policy)


class FileCompactStrategy(JavaObjectWrapper):
    """The rule that decides when part files are compacted.

    Args:
        j_file_compact_strategy: made by the builder.
    """

    def __init__(self, j_file_compact_strategy: Any) -> None:
        call = "FileCompactStrategy(j_file_compact_strategy)"
        super().__init__(own_handle(j_file_compact_strategy, config.CompactionStrategy, call))

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Return a builder. At least one condition is required."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Configures when part files are compacted."""

        def __init__(self) -> None:
            self._size_threshold = -1
            self._checkpoints: int | None = None
            self._threads = 1

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises:
                ValueError: there is no condition, or a number is too small.
            """
            return FileCompactStrategy(
                config.CompactionStrategy(self._size_threshold, self._checkpoints, self._threads)
            )

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Compact the files of some checkpoints together.

            On Spark: at the end of a bounded job without checkpoints all files are compacted.
            """
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Compact files as soon as they have a size in bytes together."""
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Set how many threads compact; by default 1.

            On Spark: the threads run in the driver.
            """
            self._threads = num_compact_threads
            return self


class FileCompactor(JavaObjectWrapper):
    """The way in which part files are compacted.

    Args:
        j_file_compactor: made by the static methods of this class.
    """

    def __init__(self, j_file_compactor: object) -> None:
        call = "FileCompactor(j_file_compactor)"
        own = own_handle(j_file_compactor, config.Compactor, call)  # type: ignore[type-abstract]
        super().__init__(own)

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Concatenate the files.

        Args:
            file_delimiter: written after each file, also after the last one.

        Raises:
            TypeError: the delimiter is not bytes.
        """
        if file_delimiter and not isinstance(file_delimiter, (bytes, bytearray)):
            raise TypeError(f"file_delimiter must be bytes, not {file_delimiter!r}")
        return FileCompactor(config.Concatenation(bytes(file_delimiter or b"")))

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Copy a single file; the job fails if there are several."""
        return FileCompactor(config.IdenticalCopy())


class StreamingFileSink(SinkFunction):
    """Writes elements to part files in buckets, for ``add_sink``; deprecated, use FileSink.

    A part file is called ``<prefix>-<subtask>-<counter><suffix>``.

    Args:
        j_obj: made by the builder.

    On Spark: part files become visible when the job ends, without checkpointing, too. The sink
    never overwrites files of an earlier job: its counter skips their numbers. Anywhere but on local
    paths each checkpoint finishes the part files.
    """

    def __init__(self, j_obj: object) -> None:
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        self._sink = own_handle(j_obj, PartFileSink, "StreamingFileSink(j_obj)")
        super().__init__(self._sink)

    class BaseBuilder(PartFileBuilder):
        """Configures the sink.

        Args:
            j_builder: the settings to begin with.
        """

        @abstractmethod
        def with_rolling_policy(self, policy: Any) -> StreamingFileSink.BaseBuilder:
            """Set when a part file is finished."""

        def build(self) -> StreamingFileSink:
            """Return the sink.

            Raises:
                ValueError: there is no such character set.
            """
            return StreamingFileSink(PartFileSink(self._config))

    class DefaultRowFormatBuilder(BaseBuilder):
        """Configures a sink that writes text.

        Args:
            j_default_row_format_builder: the settings to begin with.
        """

        def __init__(self, j_default_row_format_builder: Any) -> None:
            super().__init__(j_default_row_format_builder)

        def with_rolling_policy(
            self, policy: RollingPolicy
        ) -> StreamingFileSink.DefaultRowFormatBuilder:
            """Set when a part file is finished; by default at 128 MB or after a minute."""
            return self._with_rolling_policy(policy)

    @staticmethod
    def for_row_format(
        base_path: str, encoder: Encoder
    ) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Write text, a line for each element; see ``FileSink.for_row_format``."""
        config = row_format_config(base_path, encoder, named_by_subtask=True)
        return StreamingFileSink.DefaultRowFormatBuilder(config)

    class DefaultBulkFormatBuilder(BaseBuilder):
        """Configures a sink that writes a bulk format.

        Args:
            j_default_bulk_format_builder: the settings to begin with.
        """

        def __init__(self, j_default_bulk_format_builder: Any) -> None:
            super().__init__(j_default_bulk_format_builder)

        def with_rolling_policy(
            self, policy: OnCheckpointRollingPolicy
        ) -> StreamingFileSink.DefaultBulkFormatBuilder:
            """Set when a part file is finished."""
            return self._with_rolling_policy(policy)

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Write Parquet, Avro, ORC or CSV; see ``FileSink.for_bulk_format``."""
        config = bulk_format_config(base_path, writer_factory, named_by_subtask=True)
        return StreamingFileSink.DefaultBulkFormatBuilder(config)


__getattr__ = missing_name(__name__)
