"""The sink that executes a statement for each row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pyflink_on_spark._connectors.jdbc.config import JdbcSinkConfig
from pyflink_on_spark._connectors.jdbc.find_database import find_database
from pyflink_on_spark._connectors.jdbc.writer import JdbcWriter
from pyflink_on_spark._runtime.connector import Sink, SinkWriter
from pyflink_on_spark.common.typeinfo import RowTypeInfo

if TYPE_CHECKING:
    from pyflink_on_spark._runtime.operators.context import OperatorContext


class StatementSink(Sink):
    """A sink for rows, each of which gives the parameters of a statement.

    Args:
        statement: what it was told.

    Raises:
        ValueError: the URL is of an unknown kind, the statement cannot be read or has another
            number of parameters than the rows have fields, or the database lacks a type.
    """

    def __init__(self, statement: JdbcSinkConfig) -> None:
        self._statement = statement
        self._database = find_database(statement.connection)
        fields = len(statement.row_type.get_field_types())
        self._database.translated(statement.sql, fields)
        self._database.column_converters(statement.row_type)

    def with_input_type(self, type_info: Any) -> Sink:
        """Return the sink; raise TypeError if the stream is not of rows of its fields."""
        expected = self._statement.row_type
        if not isinstance(type_info, RowTypeInfo):
            raise TypeError(
                "a JDBC sink writes a stream of rows: declare its type with "
                f"output_type=Types.ROW(...); it is {type_info}"
            )
        if len(type_info.get_field_types()) != len(expected.get_field_types()):
            raise TypeError(f"the stream's type is {type_info}, the sink's is {expected}")
        return self


class BatchedJdbcSink(StatementSink):
    """Writes each row at least once."""

    def writer(self, context: OperatorContext) -> SinkWriter:
        """Return the writer of one subtask, connected."""
        return JdbcWriter(self._statement, context.clock.now)
