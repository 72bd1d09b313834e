"""Prints how long a job with two exchanges takes with more subtasks than there are cores.

    python -m benchmarks.wide [--parallelism 1 2 16 64 128 256] [--records 200000] [--repeat 2]

The job keys numbers twice, in one Spark that stays open; the better run counts. A subtask of one
side of an exchange has a channel to each of the other side.
"""

from __future__ import annotations

import argparse
import sys
import time

import pyflink_on_spark


def run(parallelism, records):
    """Return how many seconds the job takes."""
    from pyflink.common import Types, WatermarkStrategy
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.datastream.connectors.number_seq import NumberSequenceSource

    env = StreamExecutionEnvironment.get_execution_environment()
    env.set_parallelism(parallelism)
    source = NumberSequenceSource(1, records)
    numbers = env.from_source(source, WatermarkStrategy.no_watermarks(), "numbers", Types.LONG())
    first = numbers.map(lambda n: (n % 1_000, 1)).key_by(lambda pair: pair[0])
    counts = first.reduce(lambda a, b: (b[0], a[1] + b[1]))
    second = counts.key_by(lambda pair: pair[1] % 100)
    second.reduce(max).filter(lambda pair: pair[0] < 0).print()
    start = time.monotonic()
    env.execute("wide")
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.wide", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1, 2, 16, 64, 128, 256])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    pyflink_on_spark.install()
    run(2, 1_000)  # starts Spark
    for parallelism in options.parallelism:
        best = min(run(parallelism, options.records) for _ in range(options.repeat))
        channels = 2 * parallelism**2
        print(f"parallelism {parallelism}: {best:.1f} s, {channels:,} channels", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
