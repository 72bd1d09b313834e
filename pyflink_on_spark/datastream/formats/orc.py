"""ORC files."""

from __future__ import annotations

from dataclasses import dataclass

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.formats._not_yet import format_gap
from pyflink_on_spark.datastream.formats.parquet import checked_row_type, options_of
from pyflink_on_spark.table.types import RowType

__all__ = ["OrcBulkWriters"]


@dataclass(frozen=True)
class OrcRows:
    """ORC files of rows.

    Attributes:
        row_type: the columns.
        writer_options: options of ORC's writer.
        hadoop_options: options of Hadoop's file systems.
    """

    row_type: RowType
    writer_options: dict[str, str]
    hadoop_options: dict[str, str]


class OrcBulkWriters:
    """Makes what writes rows to ORC files."""

    @staticmethod
    def for_row_type(
        row_type: RowType,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> BulkWriterFactory:
        """Write rows to files with these columns.

        Args:
            row_type: the columns.
            writer_properties: options of ORC's writer.
            hadoop_config: options of Hadoop's file systems.
        """
        call = "for_row_type(row_type, writer_properties, hadoop_config)"
        rows = OrcRows(
            checked_row_type(row_type),
            options_of(writer_properties, call),
            options_of(hadoop_config, call),
        )
        return _OrcWriterFactory(rows, row_type)


class _OrcWriterFactory(RowDataBulkWriterFactory):
    _writers = format_gap("ORC files")


__getattr__ = missing_name(__name__)
