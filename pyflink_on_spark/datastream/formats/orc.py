"""ORC files."""

from __future__ import annotations

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.formats.orc import OrcFileOutput, orc_arguments
from pyflink_on_spark._connectors.formats.parquet import refuse_option
from pyflink_on_spark.common import Configuration
from pyflink_on_spark.common.data_types import RowType
from pyflink_on_spark.common.serialization import BulkWriterFactory, RowDataBulkWriterFactory
from pyflink_on_spark.datastream.formats.parquet import checked_row_type, options_of

__all__ = ["OrcBulkWriters"]


class OrcBulkWriters:
    """Factories of writers of ORC files."""

    @staticmethod
    def for_row_type(
        row_type: RowType,
        writer_properties: Configuration | None = None,
        hadoop_config: Configuration | None = None,
    ) -> BulkWriterFactory:
        """Write rows.

        Args:
            row_type: the columns.
            writer_properties: options of ORC's writer.
            hadoop_config: options of Hadoop's file systems.
        """
        call = "for_row_type(row_type, writer_properties, hadoop_config)"
        for name in options_of(hadoop_config, call):
            refuse_option(name, "Hadoop")
        arguments = orc_arguments(options_of(writer_properties, call))
        return RowDataBulkWriterFactory(
            OrcFileOutput(checked_row_type(row_type), arguments), row_type
        )


__getattr__ = missing_name(__name__)
