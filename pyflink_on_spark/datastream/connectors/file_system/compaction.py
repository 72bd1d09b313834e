"""How a sink makes few large files out of many small ones."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.files import compaction
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.utils import JavaObjectWrapper


class FileCompactStrategy(JavaObjectWrapper):
    """Which part files are made into one.

    Args:
        j_file_compact_strategy: the runtime's strategy; the builder makes it.
    """

    def __init__(self, j_file_compact_strategy: Any) -> None:
        call = "FileCompactStrategy(j_file_compact_strategy)"
        super().__init__(own_handle(j_file_compact_strategy, compaction.CompactionStrategy, call))

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Begin with no rule; there has to be one."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Says which part files are made into one."""

        def __init__(self) -> None:
            self._size_threshold = -1
            self._checkpoints: int | None = None
            self._threads = 1

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises:
                ValueError: there is no rule, or one has a number that is too small.
            """
            return FileCompactStrategy(
                compaction.CompactionStrategy(
                    self._size_threshold, self._checkpoints, self._threads
                )
            )

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Take together the files of some checkpoints.

            On Spark: at the end of a bounded job without checkpoints all files are taken together.
            """
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Take together as many files as reach a size in bytes."""
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Set how many files are made at a time; 1 without this.

            On Spark: these threads run in the driver.
            """
            self._threads = num_compact_threads
            return self


class FileCompactor(JavaObjectWrapper):
    """How part files are made into one.

    Args:
        j_file_compactor: the runtime's compactor; the methods below make it.
    """

    def __init__(self, j_file_compactor: Any) -> None:
        call = "FileCompactor(j_file_compactor)"
        own = own_handle(j_file_compactor, compaction.Compactor, call)  # type: ignore[type-abstract]
        super().__init__(own)

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Put the files one after the other.

        Args:
            file_delimiter: what to write behind each file, the last one too.

        Raises:
            TypeError: the delimiter is not bytes.
        """
        if file_delimiter and not isinstance(file_delimiter, (bytes, bytearray)):
            raise TypeError(f"file_delimiter must be bytes, not {file_delimiter!r}")
        return FileCompactor(compaction.Concatenation(bytes(file_delimiter or b"")))

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Copy the one file there is; the job fails if there are more."""
        return FileCompactor(compaction.IdenticalCopy())
