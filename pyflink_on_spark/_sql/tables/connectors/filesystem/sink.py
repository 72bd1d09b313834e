"""The sink of a table of files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyflink_on_spark._connectors.files.bucket_writer import BucketWriter
from pyflink_on_spark._connectors.files.part_file import PendingFile
from pyflink_on_spark._connectors.files.sink import PartFileSink
from pyflink_on_spark._connectors.formats.line_encoder import LineEncoder
from pyflink_on_spark._sql.tables.connectors.filesystem.paths import PartitionBuckets


class TableFileSink(PartFileSink):
    """Writes rows in a bulk format, or messages as lines.

    Elements are rows or messages; of a partitioned table pairs of the folder and one of these.
    """

    def _form(self) -> tuple[Callable[[Any], Any], Any, type[BucketWriter]]:
        if self._config.bulk is not None:
            return super()._form()
        partitioned = isinstance(self._config.buckets, PartitionBuckets)
        return _second if partitioned else _same, MessageEncoder(self._charset), BucketWriter

    def _check_input(self, type_info: Any) -> None:
        """Do nothing: the table has checked the columns."""


class OverwritingSink(TableFileSink):
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


class MessageEncoder(LineEncoder):
    """Encodes messages, which are texts or bytes, as lines."""

    def encode(self, texts: Sequence[Any]) -> bytes:
        """Return the lines of messages, joined."""
        try:
            return super().encode(texts)
        except TypeError:  # bytes
            return b"".join(self.encode_each(texts))

    def encode_each(self, texts: Sequence[Any]) -> list[bytes]:
        """Return the line of each message."""
        encode = self._charset.encode
        return [(encode(text) if type(text) is str else text) + b"\n" for text in texts]


def _same(element: Any) -> Any:
    return element


def _second(pair: Any) -> Any:
    return pair[1]
