"""Counts numbers without end: a job to start, look at, stop and start again.

python -m pyflink_on_spark run -d examples/operations/counter.py
"""

from __future__ import annotations

import logging

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import StreamExecutionEnvironment

from pyflink_on_spark.extensions import DataGeneratorSource, GeneratorFunction, RateLimiterStrategy

NUMBERS_PER_SECOND = 500


class Number(GeneratorFunction):
    def map(self, value):
        return value


def add(count, other):
    name, total = count[0], count[1] + other[1]
    if total % 1000 == 0:
        logging.getLogger("counter").info("%d %s numbers", total, name)
    return name, total


def main():
    env = StreamExecutionEnvironment.get_execution_environment()
    rate = RateLimiterStrategy.per_second(NUMBERS_PER_SECOND)
    source = DataGeneratorSource(Number(), 10**12, rate, Types.LONG())
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers")
    pairs = numbers.map(lambda n: ("even" if n % 2 == 0 else "odd", 1)).uid("pairs")
    counts = pairs.key_by(lambda pair: pair[0]).reduce(add).uid("counts").name("counts")
    counts.filter(lambda count: count[1] % 1000 == 0).print()
    env.execute("counter")


if __name__ == "__main__":
    main()
