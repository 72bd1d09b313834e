"""Tables of relational databases as sinks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.jdbc.options import (
    JdbcConnection,
    JdbcExecution,
    JdbcStatement,
)
from pyflink_on_spark._connectors.jdbc.sink import JdbcSink as RuntimeSink
from pyflink_on_spark.common._java_handles import own_handle
from pyflink_on_spark.common.typeinfo import (
    ListTypeInfo,
    MapTypeInfo,
    PickledBytesTypeInfo,
    RowTypeInfo,
    TupleTypeInfo,
)
from pyflink_on_spark.datastream.connectors._arguments import argument, require
from pyflink_on_spark.datastream.functions import SinkFunction

__all__ = ["JdbcSink", "JdbcConnectionOptions", "JdbcExecutionOptions"]

_NO_SQL_TYPE = (ListTypeInfo, MapTypeInfo, PickledBytesTypeInfo, RowTypeInfo, TupleTypeInfo)


class JdbcSink(SinkFunction):
    """Executes an SQL statement for each row; made with ``sink(...)``.

    Each row is written at least once: write with a statement that may be repeated (an upsert).

    Args:
        j_jdbc_sink: what the sink was told.

    On Spark: the URL chooses the driver. ``jdbc:postgresql:`` is psycopg, ``jdbc:mysql:`` and
    ``jdbc:mariadb:`` are PyMySQL (the extra ``jdbc`` has both), ``jdbc:sqlite:`` is the standard
    library's. A batch is one transaction. Only what may pass is tried again: a lost connection, a
    deadlock, a lock.
    """

    def __init__(self, j_jdbc_sink):
        self._statement = own_handle(j_jdbc_sink, JdbcStatement, "JdbcSink(j_jdbc_sink)")
        super().__init__(sink_func=j_jdbc_sink)

    @property
    def _sink(self) -> RuntimeSink:
        return RuntimeSink(self._statement)

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ):
        """Make a sink.

        Args:
            sql: a statement that changes data, with a question mark for each field of a row.
            type_info: the rows' type.
            jdbc_connection_options: where the statement is executed.
            jdbc_execution_options: how; ``JdbcExecutionOptions.defaults()`` when left out.

        Raises:
            ValueError: SQL has no type for a field.
        """
        call = "JdbcSink.sink(sql, type_info, jdbc_connection_options, jdbc_execution_options)"
        row_type = argument(type_info, RowTypeInfo, call)
        for kind in row_type.get_field_types():
            require(not isinstance(kind, _NO_SQL_TYPE), f"Unsupported type: {kind}")
        execution = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return JdbcSink(
            JdbcStatement(
                argument(sql, str, call),
                row_type,
                argument(jdbc_connection_options, JdbcConnectionOptions, call)._connection,
                argument(execution, JdbcExecutionOptions, call)._execution,
            )
        )


class JdbcConnectionOptions:
    """How a database is reached; made with ``JdbcConnectionOptionsBuilder()``.

    Args:
        j_jdbc_connection_options: the options.
    """

    def __init__(self, j_jdbc_connection_options):
        call = "JdbcConnectionOptions(j_jdbc_connection_options)"
        self._connection = own_handle(j_jdbc_connection_options, JdbcConnection, call)

    def get_db_url(self) -> str:
        """Return the URL."""
        return self._connection.url

    def get_driver_name(self) -> str | None:
        """Return the Java class of the driver."""
        return self._connection.driver_name

    def get_user_name(self) -> str | None:
        """Return who connects."""
        return self._connection.user_name

    def get_password(self) -> str | None:
        """Return the password."""
        return self._connection.password

    class JdbcConnectionOptionsBuilder:
        """Says how a database is reached. The URL has to be set."""

        def __init__(self):
            self._connection = JdbcConnection("")

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the URL: ``jdbc:<kind of database>://<host>:<port>/<database>``."""
            return self._with(url=argument(url, str, "with_url(url)"))

        def with_driver_name(
            self, driver_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the Java class of the driver.

            On Spark: it is kept and not used; the URL says which Python driver is used.
            """
            return self._with(driver_name=argument(driver_name, str, "with_driver_name(driver)"))

        def with_user_name(
            self, user_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set who connects."""
            return self._with(user_name=argument(user_name, str, "with_user_name(user_name)"))

        def with_password(
            self, password: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the password."""
            return self._with(password=argument(password, str, "with_password(password)"))

        def build(self) -> JdbcConnectionOptions:
            """Return the options.

            Raises:
                ValueError: there is no URL.
            """
            require(self._connection.url, "jdbc url is empty")
            return JdbcConnectionOptions(j_jdbc_connection_options=self._connection)

        def _with(self, **changes: Any) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._connection = replace(self._connection, **changes)
            return self


class JdbcExecutionOptions:
    """How a statement is executed; made with ``builder()``.

    Args:
        j_jdbc_execution_options: the options.
    """

    def __init__(self, j_jdbc_execution_options):
        call = "JdbcExecutionOptions(j_jdbc_execution_options)"
        self._execution = own_handle(j_jdbc_execution_options, JdbcExecution, call)

    def get_batch_interval_ms(self) -> int:
        """Return after how many ms at the latest it is executed."""
        return self._execution.batch_interval

    def get_batch_size(self) -> int:
        """Return for how many rows at most it is executed at a time."""
        return self._execution.batch_size

    def get_max_retries(self) -> int:
        """Return how often it is tried again."""
        return self._execution.max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return 5,000 rows at a time, no interval, three retries."""
        return JdbcExecutionOptions(j_jdbc_execution_options=JdbcExecution())

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Begin with the defaults."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Says how a statement is executed."""

        def __init__(self):
            self._execution = JdbcExecution()

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set for how many rows at most it is executed at a time."""
            return self._with(batch_size=argument(size, int, "with_batch_size(size)"))

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Set after how many ms at the latest it is executed; 0: whenever a batch is full."""
            interval = argument(interval_ms, int, "with_batch_interval_ms(interval_ms)")
            return self._with(batch_interval=interval)

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set how often it is tried again."""
            retries = argument(max_retries, int, "with_max_retries(max_retries)")
            return self._with(max_retries=retries)

        def build(self) -> JdbcExecutionOptions:
            """Return the options.

            Raises:
                ValueError: the number of retries is negative.
            """
            require(self._execution.max_retries >= 0, "max retries must not be negative")
            return JdbcExecutionOptions(j_jdbc_execution_options=self._execution)

        def _with(self, **changes: Any) -> JdbcExecutionOptions.Builder:
            self._execution = replace(self._execution, **changes)
            return self


__getattr__ = missing_name(__name__)
