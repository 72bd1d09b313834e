"""The formats in which a file source reads files."""

from __future__ import annotations

from pyflink_on_spark._connectors.formats.file_format import InputFileFormat, TextLines
from pyflink_on_spark.common._java_handles import own_handle


class StreamFormat:
    """A format that is read record by record.

    Args:
        j_stream_format: made by the static method of this class.
    """

    def __init__(self, j_stream_format: object) -> None:
        call = "StreamFormat(j_stream_format)"
        self._format = own_handle(j_stream_format, InputFileFormat, call)  # type: ignore[type-abstract]

    @staticmethod
    def text_line_format(charset_name: str = "UTF-8") -> StreamFormat:
        r"""Read text, a line for each record, without the line ends ``\n``, ``\r\n`` and ``\r``.

        Files with the suffix .gz, .gzip, .bz2, .xz or .deflate are decompressed.

        Args:
            charset_name: the character set of the files; malformed bytes become U+FFFD.

        Raises:
            ValueError: there is no such character set.

        On Spark: .zst is decompressed, too. An unknown character set is refused immediately.
        """
        return StreamFormat(TextLines(charset_name))


class BulkFormat:
    """A format that is read many records at a time, such as Parquet.

    Args:
        j_bulk_format: made by a format, such as ``ParquetColumnarRowInputFormat``.
    """

    def __init__(self, j_bulk_format: object) -> None:
        call = "BulkFormat(j_bulk_format)"
        self._format = own_handle(j_bulk_format, InputFileFormat, call)  # type: ignore[type-abstract]
