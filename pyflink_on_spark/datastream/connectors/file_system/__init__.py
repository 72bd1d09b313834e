"""Files as sources and sinks."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.datastream.connectors.file_system.compaction import (
    FileCompactor,
    FileCompactStrategy,
)
from pyflink_on_spark.datastream.connectors.file_system.enumeration import (
    FileEnumeratorProvider,
    FileSplitAssignerProvider,
)
from pyflink_on_spark.datastream.connectors.file_system.file_sink import FileSink
from pyflink_on_spark.datastream.connectors.file_system.file_source import (
    FileSource,
    FileSourceBuilder,
)
from pyflink_on_spark.datastream.connectors.file_system.formats import BulkFormat, StreamFormat
from pyflink_on_spark.datastream.connectors.file_system.part_files import (
    BucketAssigner,
    OutputFileConfig,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import (
    DefaultRollingPolicy as DefaultRollingPolicy,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import (
    OnCheckpointRollingPolicy as OnCheckpointRollingPolicy,
)
from pyflink_on_spark.datastream.connectors.file_system.rolling import RollingPolicy
from pyflink_on_spark.datastream.connectors.file_system.streaming_file_sink import (
    StreamingFileSink,
)

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

__getattr__ = missing_name(__name__)
