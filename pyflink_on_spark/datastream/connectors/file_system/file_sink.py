"""The sink that writes files."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from pyflink_on_spark._connectors.files.config import Compaction
from pyflink_on_spark._connectors.files.sink import PartFileSink
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
from pyflink_on_spark.datastream.connectors.file_system.part_file_builder import (
    PartFileBuilder,
    bulk_format_config,
    row_format_config,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import (
    OnCheckpointRollingPolicy,
    RollingPolicy,
)


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
