"""Jobs without checkpoints that fail, and begin anew."""

from __future__ import annotations

import pytest

from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment


class FailsAtFirst(MapFunction):
    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()

    def map(self, value):
        if self.attempt == 0 and value == 3:
            raise ValueError("at first")
        return self.attempt, value


@pytest.mark.parametrize("mode", ["STREAMING", "BATCH"])
def test_a_job_that_failed_is_run_again_from_the_beginning(spark, mode):
    configuration = Configuration()
    configuration.set_string("execution.runtime-mode", mode)
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "1")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    stream = env.from_collection([1, 2, 3], Types.INT()).map(FailsAtFirst())
    with stream.execute_and_collect() as results:
        assert max(results) == (1, 3)
