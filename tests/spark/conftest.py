"""One Spark for all tests of this folder: starting it takes longer than most of them."""

from __future__ import annotations

import runpy
import sys

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


@pytest.fixture
def run_script(env, monkeypatch):
    """Runs a script on this Spark as the command does, which would start a Spark of its own.

    Examples of which another test runs the command need not start Spark for each of them.
    """

    def run(script, *arguments):
        import pyflink_on_spark

        pyflink_on_spark.install()
        monkeypatch.setattr(sys, "argv", [str(script), *map(str, arguments)])
        runpy.run_path(str(script), run_name="__main__")

    return run
