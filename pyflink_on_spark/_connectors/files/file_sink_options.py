"""How a file sink writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyflink_on_spark._connectors.files.bucket import BucketAssigner, DateTimeBuckets
from pyflink_on_spark._connectors.files.compaction import Compaction
from pyflink_on_spark._connectors.files.part_names import PartAffixes
from pyflink_on_spark._connectors.files.rolling import RollingPolicy

if TYPE_CHECKING:
    from pyflink_on_spark._connectors.formats.bulk_format import BulkFormat

DEFAULT_BUCKET_CHECK_INTERVAL = 60 * 1000


@dataclass(frozen=True)
class FileSinkOptions:
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
    buckets: BucketAssigner = field(default_factory=DateTimeBuckets)
    rolling: RollingPolicy = field(default_factory=RollingPolicy)
    bucket_check_interval: int = DEFAULT_BUCKET_CHECK_INTERVAL
    affixes: PartAffixes = field(default_factory=PartAffixes)
    compaction: Compaction | None = None
    named_by_subtask: bool = False
    bulk: BulkFormat | None = None
