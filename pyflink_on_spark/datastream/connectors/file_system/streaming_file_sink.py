"""The older sink that writes files."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

from pyflink_on_spark._connectors.files import file_sink as runtime
from pyflink_on_spark.common import Encoder
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory
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
from pyflink_on_spark.datastream.functions import SinkFunction


class StreamingFileSink(SinkFunction):
    """Writes elements to part files in buckets, for ``add_sink``; deprecated, use FileSink.

    A part file is called ``<prefix>-<subtask>-<counter><suffix>``.

    Args:
        j_obj: the runtime's sink; the builder makes it.

    On Spark: part files become visible when the job ends, without checkpointing, too; and files of
    an earlier job are never overwritten: the counter goes on behind them. Anywhere but on local
    paths each checkpoint finishes the part files.
    """

    def __init__(self, j_obj: Any) -> None:
        warnings.warn("Deprecated in 1.15. Use FileSink instead.", DeprecationWarning, stacklevel=2)
        self._sink = own_handle(j_obj, runtime.FileSink, "StreamingFileSink(j_obj)")
        super().__init__(self._sink)

    class BaseBuilder:
        """Says how the sink writes.

        Args:
            j_builder: the runtime's options.
        """

        def __init__(self, j_builder: Any) -> None:
            self._options = SinkOptions(j_builder, f"{type(self).__qualname__}(j_builder)")

        def with_bucket_check_interval(self, interval: int) -> StreamingFileSink.BaseBuilder:
            """Set how often the age of part files is checked, in ms; 60,000 without this.

            On Spark: it is checked when elements are written.
            """
            self._options.set_check_interval(interval)
            return self

        def with_bucket_assigner(
            self, bucket_assigner: BucketAssigner
        ) -> StreamingFileSink.BaseBuilder:
            """Set which folder an element is written to."""
            self._options.set_buckets(bucket_assigner)
            return self

        @abstractmethod
        def with_rolling_policy(self, policy: Any) -> StreamingFileSink.BaseBuilder:
            """Set when a part file is finished."""

        def with_output_file_config(
            self, output_file_config: OutputFileConfig
        ) -> StreamingFileSink.BaseBuilder:
            """Set what stands around the names of part files."""
            self._options.set_names(output_file_config)
            return self

        def build(self) -> StreamingFileSink:
            """Return the sink.

            Raises:
                ValueError: there is no such character set.
            """
            return StreamingFileSink(runtime.FileSink(self._options.current))

    class DefaultRowFormatBuilder(BaseBuilder):
        """Says how the sink writes text.

        Args:
            j_default_row_format_builder: the runtime's options.
        """

        def __init__(self, j_default_row_format_builder: Any) -> None:
            super().__init__(j_default_row_format_builder)

        def with_rolling_policy(
            self, policy: RollingPolicy
        ) -> StreamingFileSink.DefaultRowFormatBuilder:
            """Set when a part file is finished; at 128 MB or after a minute without this."""
            self._options.set_rolling(policy)
            return self

    @staticmethod
    def for_row_format(
        base_path: str, encoder: Encoder
    ) -> StreamingFileSink.DefaultRowFormatBuilder:
        """Write text, a line for each element.

        Args:
            base_path: the folder for the buckets, as a local path or a URI.
            encoder: how an element is written.

        Raises:
            ValueError: the path is empty, or nothing can be written there.
            ModuleNotFoundError: a package for the path's file system is missing.
        """
        options = row_format_options(base_path, encoder, named_by_subtask=True)
        return StreamingFileSink.DefaultRowFormatBuilder(options)

    class DefaultBulkFormatBuilder(BaseBuilder):
        """Says how the sink writes a bulk format.

        Args:
            j_default_bulk_format_builder: the runtime's options.
        """

        def __init__(self, j_default_bulk_format_builder: Any) -> None:
            super().__init__(j_default_bulk_format_builder)

        def with_rolling_policy(
            self, policy: OnCheckpointRollingPolicy
        ) -> StreamingFileSink.DefaultBulkFormatBuilder:
            """Set when a part file is finished."""
            self._options.set_rolling(policy)
            return self

    @staticmethod
    def for_bulk_format(
        base_path: str, writer_factory: BulkWriterFactory
    ) -> StreamingFileSink.DefaultBulkFormatBuilder:
        """Write a bulk format: Parquet, Avro, ORC or CSV.

        Args:
            base_path: the folder for the buckets, as a local path or a URI.
            writer_factory: how elements are written, such as ``ParquetBulkWriters.for_row_type``.

        Raises:
            ValueError: the path is empty, or nothing can be written there.
            ModuleNotFoundError: a package for the path's file system is missing.
        """
        options = bulk_format_options(base_path, writer_factory, named_by_subtask=True)
        return StreamingFileSink.DefaultBulkFormatBuilder(options)
