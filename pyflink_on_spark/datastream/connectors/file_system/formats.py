"""How a file source reads a file."""

from __future__ import annotations

from typing import Any

from pyflink_on_spark._compat.unsupported import unsupported_use
from pyflink_on_spark._connectors.files.file_format import FileFormat
from pyflink_on_spark._connectors.files.text_lines import TextLines
from pyflink_on_spark.common._java_handles import own_handle


class StreamFormat:
    """A format that is read record by record.

    Args:
        j_stream_format: the runtime's format.
    """

    _format: Any  # a FileFormat, or what stands for one until there is one

    def __init__(self, j_stream_format: Any) -> None:
        if not isinstance(getattr(type(self), "_format", None), unsupported_use):
            call = "StreamFormat(j_stream_format)"
            self._format = own_handle(j_stream_format, FileFormat, call)  # type: ignore[type-abstract]

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        r"""Read text, a record a line, without the line ends ``\n``, ``\r\n`` and ``\r``.

        Files that end in .gz, .gzip, .bz2, .xz and .deflate are decompressed.

        Args:
            charset_name: the character set of the files; malformed bytes become U+FFFD.

        Raises:
            ValueError: there is no such character set.

        On Spark: .zst is decompressed, too. An unknown character set is refused at once.
        """
        return StreamFormat(TextLines(charset_name))


class BulkFormat:
    """A format that is read many records at a time, such as Parquet.

    Args:
        j_bulk_format: the runtime's format.
    """

    _format: Any  # a FileFormat, or what stands for one until there is one

    def __init__(self, j_bulk_format: Any) -> None:
        if not isinstance(getattr(type(self), "_format", None), unsupported_use):
            call = "BulkFormat(j_bulk_format)"
            self._format = own_handle(j_bulk_format, FileFormat, call)  # type: ignore[type-abstract]
