"""The sink that writes files."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyflink_on_spark._connectors.files import compaction
from pyflink_on_spark._connectors.files import file_sink as runtime
from pyflink_on_spark.common import Encoder
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.datastream.connectors.base import (
    Sink,
    StreamTransformer,
    SupportsPreprocessing,
)
from pyflink_on_spark.datastream.connectors.file_system.compaction import (
    FileCompactor,
    FileCompactStrategy,
)
from pyflink_on_spark.datastream.connectors.file_system.part_files import (
    BucketAssigner,
    OutputFileConfig,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import (
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from pyflink_on_spark.datastream.connectors.file_system.sink_options import (
    SinkOptions,
    bulk_format_options,
    row_format_options,
)


class FileSink(Sink, SupportsPreprocessing):
    """Writes elements to part files in buckets; made with ``for_row_format(...)`` and ``build()``.

    A part file is called ``<prefix>-<random id>-<counter><suffix>`` and lies in the folder of its
    bucket, by default one for each hour. It is hidden until it is complete and committed.

    Args:
        j_file_sink: the runtime's sink.
        transformer: a step in front of the sink.

    On Spark: anywhere but on local paths each checkpoint finishes the part files, also those of
    text, whatever the rolling policy says.
    """

    def __init__(self, j_file_sink: Any, transformer: StreamTransformer | None = None) -> None:
        super().__init__(sink=j_file_sink)
        self._transformer = transformer

    def get_transformer(self) -> StreamTransformer | None:
        """Return the step in front of the sink, or None."""
        return self._transformer

    class BaseBuilder:
        """Says how a file sink writes.

        Args:
            j_builder: the runtime's options.
        """

        def __init__(self, j_builder: Any) -> None:
            self._options = SinkOptions(j_builder, f"{type(self).__qualname__}(j_builder)")

        def with_bucket_check_interval(self, interval: int) -> FileSink.BaseBuilder:
            """Set how often the age of part files is checked, in ms; 60,000 without this.

            On Spark: it is checked when elements are written.
            """
            self._options.set_check_interval(interval)
            return self

        def with_bucket_assigner(self, bucket_assigner: BucketAssigner) -> FileSink.BaseBuilder:
            """Set which folder an element is written to."""
            self._options.set_buckets(bucket_assigner)
            return self

        def with_output_file_config(
            self, output_file_config: OutputFileConfig
        ) -> FileSink.BaseBuilder:
            """Set what stands around the names of part files."""
            self._options.set_names(output_file_config)
            return self

        def enable_compact(
            self, strategy: FileCompactStrategy, compactor: FileCompactor
        ) -> FileSink.BaseBuilder:
            """Make few large files out of many part files before they become visible.

            On Spark: the driver does it, when it commits.
            """
            call = "enable_compact(strategy, compactor)"
            self._options.set(
                compaction=compaction.Compaction(
                    own_handle(strategy, FileCompactStrategy, call).get_java_object(),
                    own_handle(compactor, FileCompactor, call).get_java_object(),
                )
            )
            return self

        def disable_compact(self) -> FileSink.BaseBuilder:
            """Leave part files as they are; the default."""
            self._options.set(compaction=None)
            return self

        @abstractmethod
        def with_rolling_policy(self, rolling_policy: Any) -> FileSink.BaseBuilder:
            """Set when a part file is finished."""

        def build(self) -> FileSink:
            """Return the sink.

            Raises:
                ValueError: there is no such character set.
            """
            return FileSink(runtime.FileSink(self._options.current))

    class RowFormatBuilder(BaseBuilder):
        """Says how a file sink writes text.

        Args:
            j_row_format_builder: the runtime's options.
        """

        def __init__(self, j_row_format_builder: Any) -> None:
            super().__init__(j_row_format_builder)

        def with_rolling_policy(self, rolling_policy: RollingPolicy) -> FileSink.RowFormatBuilder:
            """Set when a part file is finished; at 128 MB or after a minute without this."""
            self._options.set_rolling(rolling_policy)
            return self

    class BulkFormatBuilder(BaseBuilder):
        """Says how a file sink writes a bulk format.

        Args:
            j_bulk_format_builder: the runtime's options.
        """

        def __init__(self, j_bulk_format_builder: Any) -> None:
            super().__init__(j_bulk_format_builder)

        def with_rolling_policy(
            self, rolling_policy: OnCheckpointRollingPolicy
        ) -> FileSink.BulkFormatBuilder:
            """Set when a part file is finished: at checkpoints only.

            Raises:
                ValueError: it is another policy.
            """
            if not isinstance(rolling_policy, OnCheckpointRollingPolicy):
                raise ValueError("rolling_policy must be OnCheckpointRollingPolicy for bulk format")
            self._options.set_rolling(rolling_policy)
            return self

        def build(self) -> FileSink:
            """Return the sink."""
            return super().build()

    @staticmethod
    def for_row_format(base_path: str, encoder: Encoder) -> FileSink.RowFormatBuilder:
        """Write text, a line for each element.

        Args:
            base_path: the folder for the buckets, as a local path or a URI.
            encoder: how an element is written.

        Raises:
            ValueError: the path is empty, or nothing can be written there.
            ModuleNotFoundError: a package for the path's file system is missing.
        """
        return FileSink.RowFormatBuilder(row_format_options(base_path, encoder))

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> FileSink.BulkFormatBuilder:
        """Write a bulk format: Parquet, Avro, ORC or CSV.

        Args:
            base_path: the folder for the buckets, as a local path or a URI.
            writer_factory: how elements are written, such as ``ParquetBulkWriters.for_row_type``.

        Raises:
            ValueError: the path is empty, or nothing can be written there.
            ModuleNotFoundError: a package for the path's file system is missing.
        """
        return FileSink.BulkFormatBuilder(bulk_format_options(base_path, writer_factory))
