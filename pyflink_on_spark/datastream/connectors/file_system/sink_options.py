"""What the builders of both file sinks do with what they are told."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._connectors.files.file_sink_options import FileSinkOptions
from pyflink_on_spark._connectors.files.rolling import ON_CHECKPOINT
from pyflink_on_spark._filesystem.location import absolute
from pyflink_on_spark.common import Encoder
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.serialization import BulkWriterFactory
from pyflink_on_spark.datastream.connectors.file_system.part_files import (
    BucketAssigner,
    OutputFileConfig,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import RollingPolicy


def bulk_format_options(
    base_path: str, writer_factory: BulkWriterFactory, **more: Any
) -> FileSinkOptions:
    """Return the options of a sink that writes a bulk format."""
    call = "for_bulk_format(base_path, writer_factory)"
    factory = own_handle(writer_factory, BulkWriterFactory, call)
    bulk: Any = factory.get_java_object()
    return FileSinkOptions(absolute(base_path), rolling=ON_CHECKPOINT, bulk=bulk, **more)


def row_format_options(base_path: str, encoder: Encoder, **more: Any) -> FileSinkOptions:
    """Return the options of a sink that writes text."""
    return FileSinkOptions(absolute(base_path), encoder._charset_name, **more)


class SinkOptions:
    """Options that are told one after the other.

    Args:
        options: the options to begin with.
        call: the builder's constructor as the user would write it.
    """

    def __init__(self, options: Any, call: str) -> None:
        self.current = own_handle(options, FileSinkOptions, call)

    def set(self, **changes: Any) -> None:
        """Change some options."""
        self.current = replace(self.current, **changes)

    def set_check_interval(self, interval: int) -> None:
        """Set how often time is checked against the rolling policy, in ms."""
        if not isinstance(interval, int):
            raise TypeError(f"interval must be an int, in ms, not {interval!r}")
        self.set(bucket_check_interval=interval)

    def set_buckets(self, assigner: BucketAssigner) -> None:
        """Set which bucket an element belongs to."""
        call = "with_bucket_assigner(bucket_assigner)"
        self.set(buckets=own_handle(assigner, BucketAssigner, call).get_java_object())

    def set_rolling(self, policy: RollingPolicy) -> None:
        """Set when a part file is finished."""
        call = "with_rolling_policy(rolling_policy)"
        self.set(rolling=own_handle(policy, RollingPolicy, call).get_java_object())

    def set_names(self, config: OutputFileConfig) -> None:
        """Set what stands around the names of part files."""
        call = "with_output_file_config(output_file_config)"
        self.set(affixes=own_handle(config, OutputFileConfig, call).get_java_object())
