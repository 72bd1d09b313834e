"""The log records of Spark's Python libraries in a script that logs at INFO."""

from __future__ import annotations

import logging

import pytest
from py4j.java_gateway import GatewayClient
from py4j.protocol import ERROR, Py4JNetworkError

from pyflink_on_spark._spark.session.session import quiet_libraries
from pyflink_on_spark.common import Types
from pyflink_on_spark.datastream import StreamExecutionEnvironment


@pytest.fixture
def py4j_logger():
    logger = logging.getLogger("py4j")
    before = logger.level
    yield logger
    logger.setLevel(before)


def test_what_the_script_has_set_stays(py4j_logger):
    py4j_logger.setLevel(logging.INFO)
    quiet_libraries()
    assert py4j_logger.level == logging.INFO


class Broken:
    """A connection to a JVM that has ended."""

    def send_command(self, command):
        raise Py4JNetworkError("Connection reset by peer")

    def close(self, reset):
        """Nothing is open."""


def test_a_jvm_that_has_ended_configures_no_logging(monkeypatch, capsys):
    quiet_libraries()
    monkeypatch.setattr(logging.getLogger(), "handlers", [])
    client = GatewayClient()
    monkeypatch.setattr(client, "_get_connection", Broken)
    assert client.send_command("c", retry=False) == ERROR
    assert logging.getLogger().handlers == []
    assert capsys.readouterr().err == ""


def test_a_script_that_logs_at_info_sees_no_calls_from_the_jvm(spark, py4j_logger, caplog):
    py4j_logger.setLevel(logging.NOTSET)
    with caplog.at_level(logging.INFO):
        env = StreamExecutionEnvironment.get_execution_environment()
        env.from_collection([1], Types.INT()).print()
        env.execute()
        logging.getLogger("script").info("the script's own")
    names = {record.name for record in caplog.records}
    assert "script" in names
    assert not {name for name in names if name.split(".")[0] in ("py4j", "pyspark")}
