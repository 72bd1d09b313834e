"""The settings of an environment at the time when a job runs."""

from __future__ import annotations

import pytest

from pyflink_on_spark._job.job import install_engine
from pyflink_on_spark._runtime.elements.bundle import MIN_TIMESTAMP
from pyflink_on_spark.common import Configuration, WatermarkStrategy
from pyflink_on_spark.common.watermark_strategy import TimestampAssigner
from pyflink_on_spark.datastream import ProcessFunction, StreamExecutionEnvironment
from pyflink_on_spark.testing import install_local_engine


class Itself(TimestampAssigner):
    def extract_timestamp(self, value, record_timestamp):
        return value


class Watermark(ProcessFunction):
    def process_element(self, value, ctx):
        yield ctx.timer_service().current_watermark()


@pytest.fixture
def env():
    install_local_engine()
    environment = StreamExecutionEnvironment.get_execution_environment()
    environment.set_parallelism(1)
    yield environment
    install_engine(None)


def interval_of(elements):
    configuration = Configuration()
    configuration.set_string("pyflink-on-spark.watermark-interval-elements", str(elements))
    return configuration


def watermarks(env, settle):
    """The watermark at each of the elements 0, 1, 2, 3, 4; settled after the stream was built."""
    strategy = WatermarkStrategy.for_monotonous_timestamps().with_timestamp_assigner(Itself())
    stream = env.from_collection(range(5)).assign_timestamps_and_watermarks(strategy)
    stream = stream.process(Watermark())
    settle()
    return list(stream.execute_and_collect())


@pytest.mark.parametrize(
    ("every", "expected"),
    [
        (1, [MIN_TIMESTAMP, -1, 0, 1, 2]),
        (2, [MIN_TIMESTAMP, MIN_TIMESTAMP, 0, 0, 2]),
        (9, [MIN_TIMESTAMP] * 5),
    ],
)
def test_the_interval_of_watermarks_is_that_of_the_time_of_execution(env, every, expected):
    assert watermarks(env, lambda: env.configure(interval_of(every))) == expected


def test_no_automatic_watermarks(env):
    def settle():
        env.configure(interval_of(1))
        env.get_config().set_auto_watermark_interval(0)

    assert watermarks(env, settle) == [MIN_TIMESTAMP] * 5
