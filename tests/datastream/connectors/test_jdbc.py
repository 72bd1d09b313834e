"""The arguments of the JDBC sink, accepted and refused."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream.connectors.jdbc import (
    JdbcConnectionOptions,
    JdbcExecutionOptions,
    JdbcSink,
)

ROW = Types.ROW([Types.INT(), Types.STRING()])


def connection():
    builder = JdbcConnectionOptions.JdbcConnectionOptionsBuilder()
    builder.with_url("jdbc:postgresql://host:5432/shop").with_driver_name("org.postgresql.Driver")
    return builder.with_user_name("me").with_password("secret").build()


def test_connection_is_kept():
    options = connection()
    assert options.get_db_url() == "jdbc:postgresql://host:5432/shop"
    assert options.get_driver_name() == "org.postgresql.Driver"
    assert options.get_user_name() == "me"
    assert options.get_password() == "secret"


def test_connection_needs_a_url():
    with pytest.raises(ValueError, match="jdbc url is empty"):
        JdbcConnectionOptions.JdbcConnectionOptionsBuilder().build()


def test_execution_defaults_are_flinks():
    options = JdbcExecutionOptions.defaults()
    assert options.get_batch_size() == 5000
    assert options.get_batch_interval_ms() == 0
    assert options.get_max_retries() == 3


def test_execution_is_kept():
    builder = JdbcExecutionOptions.builder().with_batch_size(2).with_batch_interval_ms(10)
    options = builder.with_max_retries(5).build()
    assert options.get_batch_size() == 2
    assert options.get_batch_interval_ms() == 10
    assert options.get_max_retries() == 5
    with pytest.raises(ValueError, match="retries"):
        builder.with_max_retries(-1).build()


def test_sink_keeps_what_it_was_told():
    sink = JdbcSink.sink("insert into t values (?, ?)", ROW, connection())
    assert sink._config.sql == "insert into t values (?, ?)"
    assert sink._config.row_type == ROW
    assert sink._config.connection.user_name == "me"
    assert sink._config.execution.batch_size == 5000


def test_no_password_is_shown():
    assert "secret" not in repr(JdbcSink.sink("delete from t", ROW, connection())._config)


def test_fields_have_sql_types():
    with pytest.raises(ValueError, match="Unsupported type"):
        JdbcSink.sink("insert", Types.ROW([Types.PICKLED_BYTE_ARRAY()]), connection())
    with pytest.raises(TypeError, match="takes RowTypeInfo"):
        JdbcSink.sink("insert", Types.STRING(), connection())
