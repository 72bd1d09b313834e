"""The settings that the builders of both file sinks have in common."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from pyflink_on_spark._connectors.files.config import ON_CHECKPOINT, FileSinkConfig
from pyflink_on_spark._filesystem.location import absolute
from pyflink_on_spark.common import Encoder
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.datastream.connectors.file_system.part_files import (
    BucketAssigner,
    OutputFileConfig,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import RollingPolicy


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
