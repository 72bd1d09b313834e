"""The job that is observed by turns; its argument is the port of the switches."""

from __future__ import annotations

import sys

from pyflink.common import Types, WatermarkStrategy
from pyflink.datastream import MapFunction, StreamExecutionEnvironment
from pyflink.datastream.connectors.number_seq import NumberSequenceSource

from benchmarks.observed.switch import follow_in_driver, follow_in_host

KEYS = 1_000
FOREVER = 2**62


class Pair(MapFunction):
    def __init__(self, port):
        self._port = port

    def open(self, runtime_context):
        follow_in_host(self._port)

    def map(self, value):
        return value % KEYS, 1


def main():
    port = int(sys.argv[1])
    env = StreamExecutionEnvironment.get_execution_environment()
    numbers = NumberSequenceSource(1, FOREVER)
    (
        env.from_source(numbers, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
        .map(Pair(port))
        .key_by(lambda pair: pair[0], Types.LONG())
        .reduce(lambda a, b: (a[0], a[1] + b[1]))
        .filter(lambda pair: pair[1] < 0)
        .print()
    )
    follow_in_driver(port)
    env.execute("observed")


if __name__ == "__main__":
    main()
