"""The settings of a file source and of a file sink."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.files.bucket_naming import BucketNaming, DateTimeBuckets
from pyflink_on_spark._connectors.files.compaction import Compaction
from pyflink_on_spark._connectors.files.enumeration import Enumeration
from pyflink_on_spark._connectors.files.part_names import PartAffixes
from pyflink_on_spark._connectors.files.rolling import RollingLimits
from pyflink_on_spark._filesystem.location import absolute

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.input_format import InputFileFormat
    from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat

DEFAULT_BUCKET_CHECK_INTERVAL = 60 * 1000


@dataclass(frozen=True)
class FileSinkConfig:
    """The settings of a file sink.

    Args:
        base_path: the folder of the buckets; an absolute path or a URI.
        charset_name: the character set of text files.
        buckets: how buckets are named.
        rolling: when a part file is finished.
        bucket_check_interval: the time between two checks of the rolling policy, in ms.
        affixes: the prefix and suffix of the names of part files.
        compaction: how finished part files are compacted, or None.
        named_by_subtask: whether the names of part files contain the subtask, not a random id.
        bulk: the bulk format, or None for text with a line for each element.
        success_file: the name of an empty file in each bucket with part files that are visible;
            None for no such file.
    """

    base_path: str = field(repr=False)  # a URI may have a password
    charset_name: str = "UTF-8"
    buckets: BucketNaming = field(default_factory=DateTimeBuckets)
    rolling: RollingLimits = field(default_factory=RollingLimits)
    bucket_check_interval: int = DEFAULT_BUCKET_CHECK_INTERVAL
    affixes: PartAffixes = field(default_factory=PartAffixes)
    compaction: Compaction | None = None
    named_by_subtask: bool = False
    bulk: OutputFileFormat | None = None
    success_file: str | None = None


@dataclass(frozen=True)
class FileSourceConfig:
    """The settings of a file source.

    Args:
        file_format: the format of the files.
        paths: absolute paths or URIs of files and folders.
        enumeration: whether large files are split; Flink never splits text files.
        discovery_interval: the time between two searches for new files, in ms; None: read only the
            files that exist when the job starts.
        path_pattern: a regular expression that the whole path of a file matches; None: any path.
    """

    file_format: InputFileFormat
    paths: tuple[str, ...] = field(repr=False)  # a URI may have a password
    enumeration: Enumeration = Enumeration.WHOLE_FILES
    discovery_interval: int | None = None
    path_pattern: str | None = None

    def selects(self, path: str) -> bool:
        """Tell whether a file is read, by its path."""
        return self.path_pattern is None or re.fullmatch(self.path_pattern, path) is not None

    @classmethod
    def of(cls, file_format: InputFileFormat, paths: Sequence[str]) -> FileSourceConfig:
        """Return the settings for local paths or URIs.

        Raises:
            ValueError: there is no path, or a path is not valid.
            ModuleNotFoundError: a package for a path's file system is missing.
        """
        if not paths:
            raise ValueError("paths must not be empty")
        return cls(file_format, tuple(map(absolute, paths)))
