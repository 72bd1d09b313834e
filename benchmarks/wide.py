"""Prints how long a job with two exchanges takes with more subtasks than there are cores.

    python -m benchmarks.wide [--parallelism 1 2 16 64 128 256] [--records 200000] [--repeat 2]
                              [--checkpoint]

The job keys numbers twice, in one Spark that stays open; the better run counts. A subtask of one
side of an exchange has a channel to each of the other side. With --checkpoint the job has one
exchange and does not end, and printed is the time from ``execute`` to its first checkpoint.
"""

from __future__ import annotations

import argparse
import pathlib
import sys
import tempfile
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


def run_to_checkpoint(parallelism):
    """Return how many seconds a job with one exchange takes until its first checkpoint."""
    from pyflink.common import Configuration, Types
    from pyflink.datastream import StreamExecutionEnvironment
    from pyflink.table import StreamTableEnvironment

    with tempfile.TemporaryDirectory() as folder:
        configuration = Configuration()
        configuration.set_string("execution.checkpointing.dir", pathlib.Path(folder).as_uri())
        env = StreamExecutionEnvironment.get_execution_environment(configuration)
        env.set_parallelism(parallelism)
        env.set_max_parallelism(max(128, parallelism))
        env.enable_checkpointing(100)
        tables = StreamTableEnvironment.create(env)
        tables.execute_sql(
            "CREATE TEMPORARY TABLE numbers (n BIGINT) "
            "WITH ('connector' = 'datagen', 'rows-per-second' = '2000')"
        )
        numbers = tables.to_data_stream(tables.from_path("numbers")).map(lambda row: row[0])
        keyed = numbers.key_by(lambda n: n % 10_000, Types.LONG())
        keyed.reduce(max).filter(lambda n: n is None).print()
        start = time.monotonic()
        client = env.execute_async("wide")
        while not any(pathlib.Path(folder).glob("*/chk-*/_metadata")):
            assert not client.get_job_status().result().is_globally_terminal_state()
            time.sleep(0.01)
        took = time.monotonic() - start
        client.cancel().result()
    return took


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.wide", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--parallelism", type=int, nargs="+", default=[1, 2, 16, 64, 128, 256])
    parser.add_argument("--records", type=int, default=200_000)
    parser.add_argument("--repeat", type=int, default=2)
    parser.add_argument("--checkpoint", action="store_true", help="time the first checkpoint")
    options = parser.parse_args()
    pyflink_on_spark.install()
    run(2, 1_000)  # starts Spark
    for parallelism in options.parallelism:
        if options.checkpoint:
            times = [run_to_checkpoint(parallelism) for _ in range(options.repeat)]
        else:
            times = [run(parallelism, options.records) for _ in range(options.repeat)]
        best, channels = min(times), (1 if options.checkpoint else 2) * parallelism**2
        print(f"parallelism {parallelism}: {best:.1f} s, {channels:,} channels", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
