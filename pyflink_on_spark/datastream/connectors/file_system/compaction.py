"""The compaction of a sink's part files into fewer, larger ones."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._connectors.files import config
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.utils import JavaObjectWrapper


class FileCompactStrategy(JavaObjectWrapper):
    """The rule that decides when part files are compacted.

    Args:
        j_file_compact_strategy: made by the builder.
    """

    def __init__(self, j_file_compact_strategy: Any) -> None:
        call = "FileCompactStrategy(j_file_compact_strategy)"
        super().__init__(own_handle(j_file_compact_strategy, config.CompactionStrategy, call))

    @staticmethod
    def builder() -> FileCompactStrategy.Builder:
        """Return a builder. At least one condition is required."""
        return FileCompactStrategy.Builder()

    class Builder:
        """Configures when part files are compacted."""

        def __init__(self) -> None:
            self._size_threshold = -1
            self._checkpoints: int | None = None
            self._threads = 1

        def build(self) -> FileCompactStrategy:
            """Return the strategy.

            Raises:
                ValueError: there is no condition, or a number is too small.
            """
            return FileCompactStrategy(
                config.CompactionStrategy(self._size_threshold, self._checkpoints, self._threads)
            )

        def enable_compaction_on_checkpoint(
            self, num_checkpoints_before_compaction: int
        ) -> FileCompactStrategy.Builder:
            """Compact the files of some checkpoints together.

            On Spark: at the end of a bounded job without checkpoints all files are compacted.
            """
            self._checkpoints = num_checkpoints_before_compaction
            return self

        def set_size_threshold(self, size_threshold: int) -> FileCompactStrategy.Builder:
            """Compact files as soon as they have a size in bytes together."""
            self._size_threshold = size_threshold
            return self

        def set_num_compact_threads(self, num_compact_threads: int) -> FileCompactStrategy.Builder:
            """Set how many threads compact; by default 1.

            On Spark: the threads run in the driver.
            """
            self._threads = num_compact_threads
            return self


class FileCompactor(JavaObjectWrapper):
    """The way in which part files are compacted.

    Args:
        j_file_compactor: made by the static methods of this class.
    """

    def __init__(self, j_file_compactor: object) -> None:
        call = "FileCompactor(j_file_compactor)"
        own = own_handle(j_file_compactor, config.Compactor, call)  # type: ignore[type-abstract]
        super().__init__(own)

    @staticmethod
    def concat_file_compactor(file_delimiter: bytes | None = None) -> FileCompactor:
        """Concatenate the files.

        Args:
            file_delimiter: written after each file, also after the last one.

        Raises:
            TypeError: the delimiter is not bytes.
        """
        if file_delimiter and not isinstance(file_delimiter, (bytes, bytearray)):
            raise TypeError(f"file_delimiter must be bytes, not {file_delimiter!r}")
        return FileCompactor(config.Concatenation(bytes(file_delimiter or b"")))

    @staticmethod
    def identical_file_compactor() -> FileCompactor:
        """Copy a single file; the job fails if there are several."""
        return FileCompactor(config.IdenticalCopy())
