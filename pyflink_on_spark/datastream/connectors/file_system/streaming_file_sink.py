"""The older sink that writes files."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Any

from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark.common import Encoder
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.datastream.connectors.file_system.part_file_builder import (
    PartFileBuilder,
    bulk_format_config,
    row_format_config,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import (
    OnCheckpointRollingPolicy,
    RollingPolicy,
)
from pyflink_on_spark.datastream.functions import SinkFunction


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
