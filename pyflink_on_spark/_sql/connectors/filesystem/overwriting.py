"""INSERT OVERWRITE: the files of a job take the place of those that are there."""

from __future__ import annotations

from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._sql.connectors.filesystem.paths import PartitionBuckets


class OverwritingSink(PartFileSink):
    """Removes what is there when the job commits. Only for jobs that commit once.

    Of a partitioned table the partitions that the job has written are replaced, else all files.
    """

    def commit(self, committables: list[PendingFile]) -> None:
        """Remove the old files, then make the new ones visible."""
        self._remove_others(committables)
        super().commit(committables)

    def commit_again(self, committables: list[PendingFile]) -> None:
        """Remove what is left of the old files, then make the new ones visible."""
        self._remove_others(committables)
        super().commit_again(committables)

    def _remove_others(self, committables: list[PendingFile]) -> None:
        if isinstance(self._config.buckets, PartitionBuckets):
            folders = sorted({file.bucket for file in committables})
        else:
            folders = [self._place.path]
        kept = {file.path for file in committables}
        for folder in folders:
            if not self._files.exists(folder):
                continue
            for found in list(self._files.visible_files(folder)):
                if found.path not in kept:
                    self._files.remove(found.path)
