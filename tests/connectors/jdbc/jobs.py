"""Jobs that write to a database."""

from __future__ import annotations

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)

PAIR = Types.ROW_NAMED(["id", "name"], [Types.INT(), Types.STRING()])


def options(url, user=None, password=None):
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder().with_url(url)
    if user is not None:
        builder.with_user_name(user)
    if password is not None:
        builder.with_password(password)
    return builder.build()


def execution(size=5000, interval=0, retries=3):
    builder = JdbcExecutionOptions.builder().with_batch_size(size)
    return builder.with_batch_interval_ms(interval).with_max_retries(retries).build()


def write(rows, row_type, sql, connection, execution_options=None, parallelism=1):
    """Run a job that writes rows."""
    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    stream = env.from_collection(rows, row_type)
    stream.add_sink(JdbcSink.sink(sql, row_type, connection, execution_options))
    env.execute()
