"""The sink that executes a statement for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.writer import JdbcWriter
from pyflink_on_spark._runtime.contract.connector import Sink, SinkWriter
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.contract.context import OperatorContext


class StatementSink(Sink):
    """A sink for rows, each of which gives the parameters of a statement.

    Args:
        config: the settings of the sink.

    Raises:
        ValueError: there is no driver for the URL, the number of the statement's parameters is not
            the number of the rows' fields, or the database lacks a type.
    """

    def __init__(self, config: JdbcSinkConfig) -> None:
        self._config = config
        self._database = find_database(config.connection)
        fields = len(config.row_type.get_field_types())
        self._database.translated(config.sql, fields)
        self._database.column_converters(config.row_type)

    def with_input_type(self, type_info: Any) -> Sink:
        """Check that the stream consists of rows with the sink's number of fields.

        Raises:
            TypeError: the stream has another type.
        """
        expected = self._config.row_type
        if not isinstance(type_info, RowTypeInfo):
            raise TypeError(
                "a JDBC sink writes a stream of rows: declare its type with "
                f"output_type=Types.ROW(...); it is {type_info}"
            )
        if len(type_info.get_field_types()) != len(expected.get_field_types()):
            raise TypeError(f"the stream's type is {type_info}, the sink's is {expected}")
        return self


class BatchedJdbcSink(StatementSink):
    """Writes each row at least once, in batches."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        return JdbcWriter(self._config, context.clock.now)
