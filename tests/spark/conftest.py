"""One Spark for all tests of this folder: starting it takes longer than most of them."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def spark():
    """The session that jobs get; there are task slots for two jobs of two hosts, and to spare."""
    from pyflink_on_spark._spark.session.session import obtain_session

    session = obtain_session({"spark.master": "local[6]"})
    yield session
    session.stop()


@pytest.fixture(autouse=True)
def on_spark():
    """No test of this folder runs jobs in its own process."""
    from pyflink_on_spark._job.job import install_engine, installed_engine
    from pyflink_on_spark._spark.engine import SparkEngine

    if not isinstance(installed_engine(), SparkEngine):
        install_engine(None)


@pytest.fixture
def env(spark):
    """An environment whose jobs run on Spark, one subtask at a time."""
    from pyflink_on_spark._job.job import install_engine, installed_engine
    from pyflink_on_spark._spark.engine import SparkEngine
    from pyflink_on_spark.datastream import StreamExecutionEnvironment

    if not isinstance(installed_engine(), SparkEngine):
        install_engine(SparkEngine())
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    return environment
