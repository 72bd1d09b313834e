"""Tables of databases as sinks."""

from __future__ import annotations

from dataclasses import replace

from pyflink_on_spark._compat.arguments import own_handle
from pyflink_on_spark._compat.missing_names import missing_name
from pyflink_on_spark._connectors.jdbc.client import (
    JdbcConnection,
    JdbcExecution,
    JdbcSinkConfig,
)
from pyflink_on_spark._connectors.jdbc.sink import BatchedJdbcSink
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

    Each row is written at least once, so the statement should be repeatable, for example an upsert.

    Args:
        j_jdbc_sink: made by ``sink(...)``.

    Example::

        sink = JdbcSink.sink(
            "INSERT INTO words VALUES (?, ?) ON CONFLICT (word) DO UPDATE SET n = excluded.n",
            Types.ROW([Types.STRING(), Types.LONG()]),
            JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
            .with_url("jdbc:postgresql://db/shop")
            .build(),
        )
        counts.add_sink(sink)

    On Spark: the URL chooses the driver. ``jdbc:postgresql:`` uses psycopg, ``jdbc:mysql:`` and
    ``jdbc:mariadb:`` use PyMySQL (``pip install 'pyflink_on_spark[jdbc]'`` installs both), and
    ``jdbc:sqlite:`` uses the standard library. A batch is one transaction. Only transient errors
    are retried: a lost connection, a deadlock, a lock.
    """

    def __init__(self, j_jdbc_sink):
        self._config = own_handle(j_jdbc_sink, JdbcSinkConfig, "JdbcSink(j_jdbc_sink)")
        super().__init__(sink_func=j_jdbc_sink)

    @property
    def _sink(self) -> BatchedJdbcSink:
        return BatchedJdbcSink(self._config)

    @staticmethod
    def sink(
        sql: str,
        type_info: RowTypeInfo,
        jdbc_connection_options: JdbcConnectionOptions,
        jdbc_execution_options: JdbcExecutionOptions | None = None,
    ):
        """Return a sink.

        Args:
            sql: a statement that changes data, with a question mark for each field of a row.
            type_info: the type of the rows.
            jdbc_connection_options: how to connect to the database.
            jdbc_execution_options: when the statement is executed; by default
                ``JdbcExecutionOptions.defaults()``.

        Raises:
            ValueError: SQL has no type for a field.
        """
        call = "JdbcSink.sink(sql, type_info, jdbc_connection_options, jdbc_execution_options)"
        row_type = argument(type_info, RowTypeInfo, call)
        for kind in row_type.get_field_types():
            require(not isinstance(kind, _NO_SQL_TYPE), f"Unsupported type: {kind}")
        execution = jdbc_execution_options or JdbcExecutionOptions.defaults()
        return JdbcSink(
            JdbcSinkConfig(
                argument(sql, str, call),
                row_type,
                argument(jdbc_connection_options, JdbcConnectionOptions, call)._connection,
                argument(execution, JdbcExecutionOptions, call)._execution,
            )
        )


class JdbcConnectionOptions:
    """The connection to a database; made with ``JdbcConnectionOptionsBuilder()``.

    Args:
        j_jdbc_connection_options: made by the builder.
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
        """Return the name of the user."""
        return self._connection.user_name

    def get_password(self) -> str | None:
        """Return the password."""
        return self._connection.password

    class JdbcConnectionOptionsBuilder:
        """Configures a connection. The URL is required."""

        def __init__(self):
            self._connection = JdbcConnection("")

        def with_url(self, url: str) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the URL: ``jdbc:<kind of database>://<host>:<port>/<database>``."""
            return self._with(url=argument(url, str, "with_url(url)"))

        def with_driver_name(
            self, driver_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the Java class of the driver.

            On Spark: no effect; the URL chooses the Python driver.
            """
            return self._with(driver_name=argument(driver_name, str, "with_driver_name(driver)"))

        def with_user_name(
            self, user_name: str
        ) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            """Set the name of the user."""
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

        def _with(self, **changes: object) -> JdbcConnectionOptions.JdbcConnectionOptionsBuilder:
            self._connection = replace(self._connection, **changes)
            return self


class JdbcExecutionOptions:
    """The batches and retries of statements; made with ``builder()``.

    Args:
        j_jdbc_execution_options: made by the builder.
    """

    def __init__(self, j_jdbc_execution_options):
        call = "JdbcExecutionOptions(j_jdbc_execution_options)"
        self._execution = own_handle(j_jdbc_execution_options, JdbcExecution, call)

    def get_batch_interval_ms(self) -> int:
        """Return the longest time until a row is written, in ms."""
        return self._execution.batch_interval

    def get_batch_size(self) -> int:
        """Return the largest number of rows in a batch."""
        return self._execution.batch_size

    def get_max_retries(self) -> int:
        """Return the number of retries."""
        return self._execution.max_retries

    @staticmethod
    def defaults() -> JdbcExecutionOptions:
        """Return the defaults: batches of 5,000 rows, no interval, three retries."""
        return JdbcExecutionOptions(j_jdbc_execution_options=JdbcExecution())

    @staticmethod
    def builder() -> JdbcExecutionOptions.Builder:
        """Return a builder with the defaults."""
        return JdbcExecutionOptions.Builder()

    class Builder:
        """Configures when a statement is executed."""

        def __init__(self):
            self._execution = JdbcExecution()

        def with_batch_size(self, size: int) -> JdbcExecutionOptions.Builder:
            """Set the largest number of rows in a batch."""
            return self._with(batch_size=argument(size, int, "with_batch_size(size)"))

        def with_batch_interval_ms(self, interval_ms: int) -> JdbcExecutionOptions.Builder:
            """Set the longest time until a row is written, in ms; 0 for no limit."""
            interval = argument(interval_ms, int, "with_batch_interval_ms(interval_ms)")
            return self._with(batch_interval=interval)

        def with_max_retries(self, max_retries: int) -> JdbcExecutionOptions.Builder:
            """Set the number of retries."""
            retries = argument(max_retries, int, "with_max_retries(max_retries)")
            return self._with(max_retries=retries)

        def build(self) -> JdbcExecutionOptions:
            """Return the options.

            Raises:
                ValueError: the number of retries is negative.
            """
            require(self._execution.max_retries >= 0, "max retries must not be negative")
            return JdbcExecutionOptions(j_jdbc_execution_options=self._execution)

        def _with(self, **changes: object) -> JdbcExecutionOptions.Builder:
            self._execution = replace(self._execution, **changes)
            return self


__getattr__ = missing_name(__name__)
