"""Options of this package that do not exist are refused."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration
from pyflink_on_spark.datastream import StreamExecutionEnvironment
from pyflink_on_spark.testing import local_engine


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        (
            "pyflink-on-spark.checkpoint-element",
            "Did you mean 'pyflink-on-spark.checkpoint-elements'?",
        ),
        (
            "pyflink_on_spark.checkpoint-elements",
            "Did you mean 'pyflink-on-spark.checkpoint-elements'?",
        ),
        ("pyflink-on-spark.zzz", "The options that begin with 'pyflink-on-spark.' are "),
    ],
)
def test_what_is_no_option_is_refused(key, hint):
    configuration = Configuration()
    configuration.set_string(key, "1")
    with pytest.raises(ValueError, match="There is no option") as refused:
        StreamExecutionEnvironment.get_execution_environment(configuration)
    assert hint in str(refused.value)


def test_what_is_set_past_the_environment_is_refused_when_the_job_starts():
    env = StreamExecutionEnvironment.get_execution_environment()
    env.from_collection([1]).print()
    env._configuration.set_string("pyflink-on-spark.progres", "on")
    with local_engine(), pytest.raises(ValueError, match=r"mean 'pyflink-on-spark\.progress'"):
        env.execute()
