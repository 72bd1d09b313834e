"""How a file sink writes."""

from __future__ import annotations

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

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.output_format import OutputFileFormat

DEFAULT_BUCKET_CHECK_INTERVAL = 60 * 1000


@dataclass(frozen=True)
class FileSinkConfig:
    """How a file sink writes.

    Args:
        base_path: the folder that holds the buckets' folders; an absolute path or a URI.
        charset_name: the character set of the files, if they are text.
        buckets: which bucket an element belongs to.
        rolling: when a part file is finished.
        bucket_check_interval: how often time is checked against the rolling policy, in ms.
        affixes: what stands around the names of part files.
        compaction: how finished part files are put together; None to leave them.
        named_by_subtask: whether part files are numbered by subtask, not by a random id.
        bulk: what the files are written as; None: the text of elements, a line each.
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


@dataclass(frozen=True)
class FileSourceConfig:
    """What a file source reads.

    Args:
        file_format: how a file is read.
        paths: of files and folders, absolute ones or URIs.
        enumeration: whether large files are cut; Flink never cuts text files.
        discovery_interval: how often to look for new files, in ms; None to read those there are.
    """

    file_format: InputFileFormat
    paths: tuple[str, ...] = field(repr=False)  # a URI may have a password
    enumeration: Enumeration = Enumeration.WHOLE_FILES
    discovery_interval: int | None = None

    @classmethod
    def of(cls, file_format: InputFileFormat, paths: Sequence[str]) -> FileSourceConfig:
        """Return the options for some local paths or URIs.

        Raises:
            ValueError: if there are no paths, or one is not valid.
            ModuleNotFoundError: if a package for a path's file system is missing.
        """
        if not paths:
            raise ValueError("paths must not be empty")
        return cls(file_format, tuple(map(absolute, paths)))
