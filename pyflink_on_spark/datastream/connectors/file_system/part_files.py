"""The folders and the names of part files."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.files import bucket_naming as bucket
from pyflink_on_spark._connectors.files.config import PartAffixes
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.utils import JavaObjectWrapper


class BucketAssigner(JavaObjectWrapper):
    """Assigns an element to a bucket, which is a folder under the base path.

    Args:
        j_bucket_assigner: made by the static methods of this class.
    """

    def __init__(self, j_bucket_assigner: Any) -> None:
        call = "BucketAssigner(j_bucket_assigner)"
        own = own_handle(j_bucket_assigner, bucket.BucketNaming, call)  # type: ignore[type-abstract]
        super().__init__(own)

    @staticmethod
    def base_path_bucket_assigner() -> BucketAssigner:
        """Write all elements to the base path."""
        return BucketAssigner(bucket.BasePathBuckets())

    @staticmethod
    def date_time_bucket_assigner(
        format_str: str = "yyyy-MM-dd--HH",
        timezone_id: str | None = None,
    ) -> BucketAssigner:
        """Write to a folder whose name is the current time.

        Args:
            format_str: a pattern of Java's ``DateTimeFormatter``; a slash makes sub-folders.
            timezone_id: such as ``America/New_York`` or ``GMT-08:00``; None for the machine's own.

        Raises:
            ValueError: the pattern or the time zone is not valid in Java.
            UnsupportedFlinkFeature: the pattern has one of Java's rarer letters.

        On Spark: the pattern is checked at once. Names of months and days are English.
        """
        zone_id = timezone_id if isinstance(timezone_id, str) else None
        return BucketAssigner(bucket.DateTimeBuckets(format_str, zone_id))


class OutputFileConfig(JavaObjectWrapper):
    """The prefix and suffix of the names of part files.

    Args:
        part_prefix: the prefix.
        part_suffix: the suffix, such as ``.txt``.

    Raises:
        TypeError: one of them is not a str.
    """

    def __init__(self, part_prefix: str, part_suffix: str) -> None:
        super().__init__(PartAffixes(part_prefix, part_suffix))

    @staticmethod
    def builder() -> OutputFileConfig.OutputFileConfigBuilder:
        """Return a builder with the prefix ``part`` and no suffix."""
        return OutputFileConfig.OutputFileConfigBuilder()

    def get_part_prefix(self) -> str:
        """Return the prefix."""
        return str(self._j_object.prefix)

    def get_part_suffix(self) -> str:
        """Return the suffix."""
        return str(self._j_object.suffix)

    class OutputFileConfigBuilder:
        """Configures the names of part files."""

        def __init__(self) -> None:
            self.part_prefix = "part"
            self.part_suffix = ""

        def with_part_prefix(self, prefix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the prefix."""
            self.part_prefix = prefix
            return self

        def with_part_suffix(self, suffix: str) -> OutputFileConfig.OutputFileConfigBuilder:
            """Set the suffix."""
            self.part_suffix = suffix
            return self

        def build(self) -> OutputFileConfig:
            """Return the configuration."""
            return OutputFileConfig(self.part_prefix, self.part_suffix)
