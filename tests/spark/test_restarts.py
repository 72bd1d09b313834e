"""Jobs without checkpoints that fail and restart: what only Spark's engine can get wrong."""

from __future__ import annotations

from pyflink_on_spark.common import Configuration, Types
from pyflink_on_spark.datastream import MapFunction, StreamExecutionEnvironment


class CountsAndFailsAtFirst(MapFunction):
    def open(self, runtime_context):
        self.attempt = runtime_context.get_attempt_number()
        self.counter = runtime_context.get_metrics_group().counter("elements")

    def map(self, value):
        self.counter.inc()
        if self.attempt == 0 and value == 3:
            raise ValueError("at first")
        return value


def test_accumulators_are_those_of_the_last_attempt(spark):
    configuration = Configuration()
    configuration.set_string("restart-strategy.type", "fixed-delay")
    configuration.set_string("restart-strategy.fixed-delay.attempts", "1")
    configuration.set_string("restart-strategy.fixed-delay.delay", "0 ms")
    env = StreamExecutionEnvironment.get_execution_environment(configuration)
    env.set_parallelism(1)
    env.from_collection([1, 2, 3, 4, 5], Types.INT()).map(CountsAndFailsAtFirst())
    assert env.execute().get_all_accumulator_results() == {"elements": 5}
